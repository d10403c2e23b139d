// The examples of section 7 of the JSON-RPC 2.0 specification, sent raw over HTTP or WebSocket: ADDRESS WIRE CASE.
//
// The service has `echo`, not the specification's `subtract`, `sum` and `get_data`: it stands in their place. Where the answer is not the
// specification's, it must be the one that crates/jsonrpc-server/README.md lists.
'use strict';

const WebSocket = require('ws');
const { answer, message, run, same } = require('../shared/benchmark');

const LIMIT_MS = 20000;
const TEXT = message('echo');
const ANSWER = answer(TEXT);
const NOTHING = 'no answer';

const error = (code, id = null) => ({ jsonrpc: '2.0', error: code, id });
const result = (value, id) => ({ jsonrpc: '2.0', result: value, id });
const request = (method, params, id) => ({ jsonrpc: '2.0', method, params, id });

/** `send`: a text, or what JSON makes one of. `http`, `ws`: the library's answer, where that is not the specification's `answers`. */
const EXAMPLES = {
  by_position: [
    { send: request('echo', [TEXT], 1), answers: result(ANSWER, 1) },
    { send: request('echo', [TEXT], 'two'), answers: result(ANSWER, 'two') },
  ],
  by_name: [{ send: request('echo', { message: TEXT }, 3), answers: result(ANSWER, 3) }],
  notification: [
    { send: request('echo', [TEXT]), answers: NOTHING, http: null },
    { send: { jsonrpc: '2.0', method: 'foobar' }, answers: NOTHING, http: null },
  ],
  unknown_method: [{ send: { jsonrpc: '2.0', method: 'foobar', id: '1' }, answers: error(-32601, '1') }],
  invalid_json: [{ send: '{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]', answers: error(-32700) }],
  invalid_request: [
    { send: { jsonrpc: '2.0', method: 1, params: 'bar' }, answers: error(-32600), http: error(-32700), ws: error(-32700) },
  ],
  batch_invalid_json: [
    {
      send: '[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method"]',
      answers: error(-32700),
    },
  ],
  empty_batch: [{ send: '[]', answers: error(-32600) }],
  invalid_batch_of_one: [{ send: '[1]', answers: [error(-32600)] }],
  invalid_batch: [{ send: '[1,2,3]', answers: [error(-32600), error(-32600), error(-32600)] }],
  mixed_batch: [
    {
      send: [
        request('echo', [TEXT], '1'),
        { jsonrpc: '2.0', method: 'notify_hello', params: [7] },
        request('echo', { message: TEXT }, '2'),
        { foo: 'boo' },
        request('foo.get', { name: 'myself' }, '5'),
        request('echo', [TEXT], '9'),
      ],
      answers: [result(ANSWER, '1'), result(ANSWER, '2'), error(-32600), error(-32601, '5'), result(ANSWER, '9')],
    },
  ],
  batch_of_notifications: [
    {
      send: [
        { jsonrpc: '2.0', method: 'notify_sum', params: [1, 2, 4] },
        { jsonrpc: '2.0', method: 'notify_hello', params: [7] },
      ],
      answers: NOTHING,
      http: null,
    },
  ],
};

async function overHttp(address, text) {
  const response = await fetch(`http://${address}/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: text,
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  same('HTTP status', response.status, 200);
  const body = await response.text();
  return body === '' ? NOTHING : JSON.parse(body);
}

function overWebSocket(address, text) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://${address}`);
    setTimeout(() => reject(new Error('no answer in time')), LIMIT_MS).unref();
    socket.on('error', reject);
    socket.on('close', (code) => reject(new Error(`closed with ${code}`)));
    socket.on('open', () => {
      socket.send(text);
      // What has no answer shows when the next one comes first.
      socket.send(JSON.stringify(request('foobar', [], 'after it')));
    });
    socket.on('message', (data) => {
      const reply = JSON.parse(data);
      resolve(reply.id === 'after it' ? NOTHING : reply);
    });
  });
}

/** Replies without what is the server's to say (the words of an error), those of a batch in the order of their ids. */
function plain(reply) {
  if (Array.isArray(reply)) return reply.map(plain).sort((a, b) => (`${a.id}` < `${b.id}` ? -1 : 1));
  if (reply === null || reply === NOTHING || !reply.error) return reply;
  same('message of the error', typeof reply.error.message, 'string');
  return { ...reply, error: reply.error.code };
}

function checked(what, got, want) {
  if (Array.isArray(want)) {
    const sorted = [...want].sort((a, b) => (`${a.id}` < `${b.id}` ? -1 : 1));
    same(`${what}: replies`, Array.isArray(got) ? got.length : got, sorted.length);
    sorted.forEach((reply, i) => same(`${what}: reply ${i}`, got[i], reply));
  } else {
    same(what, got, want);
  }
}

async function example(address, wire, name) {
  const transport = wire.split('/')[0];
  const ask = transport === 'http' ? overHttp : overWebSocket;
  for (const { send, answers, ...library } of EXAMPLES[name]) {
    const text = typeof send === 'string' ? send : JSON.stringify(send);
    checked(name, plain(await ask(address, text)), transport in library ? library[transport] : answers);
  }
}

run(Object.fromEntries(Object.keys(EXAMPLES).map((name) => [name, example])));
