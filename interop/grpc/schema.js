// The services as @grpc/proto-loader reads them.
'use strict';

const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');

const PROTO = path.join(__dirname, '../../proto/benchmark.proto');

module.exports = grpc.loadPackageDefinition(loader.loadSync(PROTO, { keepCase: true, longs: Number, defaults: false, arrays: true })).rpcbench;
