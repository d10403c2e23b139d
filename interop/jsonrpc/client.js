// npm jayson as a client, over HTTP and WebSocket: ADDRESS WIRE CASE.
'use strict';

const jayson = require('jayson');
const { PAYLOAD_SIZES, answer, expect, fail, message, payload, run, same } = require('../shared/benchmark');

async function connect(address, wire) {
  if (wire.startsWith('http/')) {
    const [host, port] = address.split(':');
    return jayson.client.http({ host, port });
  }
  const client = jayson.client.websocket({ url: `ws://${address}`, timeout: 20000 });
  await new Promise((resolve, reject) => client.ws.addEventListener('open', resolve) ?? client.ws.addEventListener('error', reject));
  return client;
}

const response = (client, ...request) => new Promise((resolve, reject) => {
  client.request(...request, (error, reply) => (error ? reject(error) : resolve(reply)));
});

async function call(client, method, params) {
  const reply = await response(client, method, params);
  if (reply.error) fail(`${method}: ${JSON.stringify(reply.error)}`);
  same('jsonrpc', reply.jsonrpc, '2.0');
  return reply.result;
}

async function echo(address, wire, name) {
  const request = message(name);
  const client = await connect(address, wire);
  same('by position', await call(client, 'echo', [request]), answer(request));
  same('by name', await call(client, 'echo', { message: request }), answer(request));
}

run({
  echo,
  distinct: echo,
  async payload(address, wire) {
    const client = await connect(address, wire);
    for (const size of PAYLOAD_SIZES) {
      const body = payload(size).toString('base64');
      same(`${size} bytes`, await call(client, 'payload', [{ body }]), { body });
    }
  },
  async concurrent(address, wire) {
    const client = await connect(address, wire);
    const requests = Array.from({ length: 100 }, (_, i) => ({ ...message('distinct'), field3: i, field4: `call ${i}` }));
    const replies = await Promise.all(requests.map((request) => call(client, 'echo', [request])));
    replies.forEach((reply, i) => same(`call ${i}`, reply, answer(requests[i])));
  },
  async batch(address, wire) {
    const client = await connect(address, wire);
    const requests = Array.from({ length: 10 }, (_, i) => ({ ...message('distinct'), field3: i }));
    const batch = requests.map((request) => client.request('echo', [request], undefined, false));
    batch.push(client.request('no_such_method', [], undefined, false));
    const replies = await response(client, batch);
    expect(`${replies.length} replies to a batch of 11`, replies.length === 11);
    requests.forEach((request, i) => {
      same(`request ${i}`, replies.find((reply) => reply.id === batch[i].id)?.result, answer(request));
    });
    same('unknown method', replies.find((reply) => reply.id === batch[10].id)?.error.code, -32601);
  },
  async errors(address, wire) {
    const client = await connect(address, wire);
    for (const [method, params, code] of [
      ['no_such_method', [], -32601],
      ['echo', [], -32602],
      ['echo', [{ field1: 1 }], -32602],
      ['echo', { nothing: 1 }, -32602],
      ['payload', [{ body: 'no base64!' }], -32602],
    ]) {
      const reply = await response(client, method, params);
      same(`${method} ${JSON.stringify(params)}`, reply.error?.code, code);
    }
    same('the call after it', await call(client, 'echo', [message('echo')]), answer(message('echo')));
  },
});
