// npm twirp-ts as a client, its NodeHttpRPC under messages of protobufjs: ADDRESS WIRE CASE. HTTP/1.1.
'use strict';

const path = require('node:path');
const protobuf = require('protobufjs');
const { NodeHttpRPC, TwirpError } = require('twirp-ts');
const { PAYLOAD_SIZES, answer, expect, fail, message, payload, run, same } = require('../shared/benchmark');

const schema = protobuf.loadSync(path.join(__dirname, '../../proto/benchmark.proto'));
const BenchmarkMessage = schema.lookupType('rpcbench.BenchmarkMessage');
const PayloadMessage = schema.lookupType('rpcbench.PayloadMessage');

const connect = (address) => NodeHttpRPC({ baseUrl: `http://${address}/twirp` });

async function call(client, wire, service, method, type, values) {
  if (wire.endsWith('/json')) {
    // The JSON of protobuf: 64-bit numbers as texts, bytes in base64.
    const json = type.toObject(type.fromObject(values), { longs: String, bytes: String, json: true });
    return type.fromObject(await client.request(service, method, 'application/json', json));
  }
  const reply = await client.request(service, method, 'application/protobuf', type.encode(type.fromObject(values)).finish());
  return type.decode(reply);
}

async function echo(address, wire, name) {
  const request = message(name);
  const reply = await call(connect(address), wire, 'rpcbench.Echo', 'Say', BenchmarkMessage, request);
  same('reply', BenchmarkMessage.toObject(reply, { longs: Number, arrays: true }), answer(request));
}

run({
  echo,
  distinct: echo,
  async payload(address, wire) {
    const client = connect(address);
    for (const size of PAYLOAD_SIZES) {
      const reply = await call(client, wire, 'rpcbench.Payload', 'Exchange', PayloadMessage, { body: payload(size) });
      same(`${size} bytes`, Buffer.from(reply.body), payload(size));
    }
  },
  async errors(address) {
    const client = connect(address);
    const good = BenchmarkMessage.encode(BenchmarkMessage.fromObject(message('echo'))).finish();
    for (const [service, method, type, body, code] of [
      ['rpcbench.Echo', 'NoSuchMethod', 'application/protobuf', good, 'bad_route'],
      ['rpcbench.NoSuchService', 'Say', 'application/protobuf', good, 'bad_route'],
      ['rpcbench.Echo', 'Say', 'application/protobuf', good.subarray(0, 300), 'malformed'],
      ['rpcbench.Echo', 'Say', 'application/json', [1], 'malformed'],
    ]) {
      const error = await client.request(service, method, type, body).then(() => fail(`${service}/${method}: answered`), (error) => error);
      expect(`${service}/${method}: no Twirp error: ${error.message}`, error instanceof TwirpError);
      same(`${service}/${method}`, error.code, code);
    }
  },
});
