// npm @grpc/grpc-js as a server. Prints `ready ADDRESS` and ends with stdin.
'use strict';

const grpc = require('@grpc/grpc-js');
const schema = require('./schema');
const { answer, fail, serve } = require('../shared/benchmark');

const server = new grpc.Server();
server.addService(schema.Echo.service, { Say: (call, reply) => reply(null, answer(call.request)) });
server.addService(schema.Payload.service, { Exchange: (call, reply) => reply(null, call.request) });
server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) fail(error.message);
  serve(`127.0.0.1:${port}`);
});
