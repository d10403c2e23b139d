// npm @bufbuild/buf, whose `buf curl` is a gRPC client written in Go: ADDRESS WIRE CASE.
'use strict';

const path = require('node:path');
const { spawnSync } = require('node:child_process');
const { answer, expect, message, payload, run, same } = require('../shared/benchmark');

const BUF = path.join(__dirname, '../node_modules/.bin/buf');
const PROTO = path.join(__dirname, '../../proto');

function curl(address, method, request) {
  const url = `http://${address}/rpcbench.${method}`;
  const options = ['curl', '--protocol', 'grpc', '--http2-prior-knowledge', '--schema', PROTO, '--data', '@-', url];
  const end = spawnSync(BUF, options, { input: JSON.stringify(request), encoding: 'utf8', timeout: 25000, maxBuffer: 16 << 20 });
  expect(`buf curl ${method} ended with ${end.status}: ${end.stderr || end.error}`, end.status === 0);
  return JSON.parse(end.stdout);
}

/** The JSON of protobuf has 64-bit integers as texts and leaves out empty lists. */
function asJson(values) {
  const json = { ...values, field22: `${values.field22}`, field5: values.field5.map(String) };
  if (json.field5.length === 0) delete json.field5;
  return json;
}

function echo(address, _wire, name) {
  const request = message(name);
  same('reply', curl(address, 'Echo/Say', asJson(request)), asJson(answer(request)));
}

run({
  echo,
  distinct: echo,
  payload(address) {
    for (const size of [1, 581, 65536]) {
      const body = payload(size).toString('base64');
      same(`${size} bytes`, curl(address, 'Payload/Exchange', { body }), { body });
    }
  },
});
