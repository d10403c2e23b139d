// npm jayson as a server over HTTP or WebSocket, for one WIRE. Prints `ready ADDRESS` and ends with stdin.
'use strict';

const jayson = require('jayson');
const { Server: WebSocketServer } = require('ws');
const { answer, serve } = require('../shared/benchmark');

const server = new jayson.Server({
  echo: ([request], reply) => reply(null, answer(request)),
  payload: ([request], reply) => reply(null, request),
});
if (process.argv[2].startsWith('http/')) {
  const http = server.http().listen(0, '127.0.0.1', () => serve(`127.0.0.1:${http.address().port}`));
} else {
  const wss = new WebSocketServer({ port: 0, host: '127.0.0.1' }, () => serve(`127.0.0.1:${wss.address().port}`));
  server.websocket({ wss });
}
