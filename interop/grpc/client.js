// npm @grpc/grpc-js as a client: ADDRESS WIRE CASE.
'use strict';

const grpc = require('@grpc/grpc-js');
const schema = require('./schema');
const { PAYLOAD_SIZES, answer, expect, fail, message, payload, run, same } = require('../shared/benchmark');

const LIMIT_MS = 20000;
const OPTIONS = { 'grpc.enable_http_proxy': 0, 'grpc.max_receive_message_length': 16 << 20 };
const deadline = (ms) => ({ deadline: Date.now() + ms });

function unary(client, method, request, { metadata = new grpc.Metadata(), within = LIMIT_MS } = {}) {
  return new Promise((resolve, reject) => {
    client[method](request, metadata, deadline(within), (error, reply) => (error ? reject(error) : resolve(reply)));
  });
}

/** The error of a call that must fail with one of these codes. */
async function fails(what, call, ...codes) {
  const error = await call.then(() => fail(`${what}: the call was answered, and must fail`), (error) => error);
  expect(`${what}: code ${error.code} (${error.details}), not ${codes.join(' or ')}`, codes.includes(error.code));
}

const connect = (service, address) => new schema[service](address, grpc.credentials.createInsecure(), OPTIONS);

async function echoes(client, name) {
  const request = message(name);
  same('reply', { ...await unary(client, 'Say', request) }, answer(request));
}

function raw(client, path, bytes) {
  const same = (value) => value;
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, same, same, bytes, new grpc.Metadata(), deadline(LIMIT_MS),
      (error, reply) => (error ? reject(error) : resolve(reply)));
  });
}

const echo = (address, _wire, name) => echoes(connect('Echo', address), name);

run({
  echo,
  distinct: echo,
  async payload(address) {
    const client = connect('Payload', address);
    for (const size of PAYLOAD_SIZES) {
      same(`${size} bytes`, (await unary(client, 'Exchange', { body: payload(size) })).body, payload(size));
    }
  },
  async concurrent(address) {
    const client = connect('Echo', address);
    const requests = Array.from({ length: 100 }, (_, i) => ({ ...message('distinct'), field3: i, field4: `call ${i}` }));
    const replies = await Promise.all(requests.map((request) => unary(client, 'Say', request)));
    replies.forEach((reply, i) => same(`call ${i}`, { ...reply }, answer(requests[i])));
  },
  async custom_metadata(address) {
    const metadata = new grpc.Metadata();
    metadata.set('x-grpc-test-echo-initial', 'test_initial_metadata_value');
    metadata.set('x-grpc-test-echo-trailing-bin', Buffer.from([0xab, 0xab, 0]));
    const request = message('echo');
    same('reply', { ...await unary(connect('Echo', address), 'Say', request, { metadata }) }, answer(request));
  },
  async unimplemented_method(address) {
    const client = connect('Echo', address);
    await fails('unknown method', raw(client, '/rpcbench.Echo/NoSuchMethod', Buffer.alloc(0)), grpc.status.UNIMPLEMENTED);
    await echoes(client, 'echo');
  },
  async unimplemented_service(address) {
    const client = connect('Echo', address);
    await fails('unknown service', raw(client, '/grpc.testing.UnimplementedService/Say', Buffer.alloc(0)), grpc.status.UNIMPLEMENTED);
    await echoes(client, 'echo');
  },
  async oversize(address) {
    const client = connect('Payload', address);
    // gRPC says RESOURCE_EXHAUSTED, tonic OUT_OF_RANGE.
    await fails('over 4 MiB', unary(client, 'Exchange', { body: Buffer.alloc(4 * 1048576 + 1) }),
      grpc.status.RESOURCE_EXHAUSTED, grpc.status.OUT_OF_RANGE);
    same('the call after it', (await unary(client, 'Exchange', { body: payload(7) })).body, payload(7));
  },
  async deadline_exceeded(address) {
    const client = connect('Echo', address);
    const began = Date.now();
    await fails('0.2 s', unary(client, 'Say', message('echo'), { within: 200 }), grpc.status.DEADLINE_EXCEEDED,
      grpc.status.CANCELLED); // Where tonic's clock is first, it says CANCELLED.
    const took = Date.now() - began;
    expect(`the deadline of 0.2 s came after ${took} ms`, took < 1500);
    await echoes(client, 'echo');
  },
});
