// npm thrift as a client, with what Apache's compiler would generate made at run time: ADDRESS WIRE CASE.
'use strict';

const thrift = require('thrift');
const { FIELDS, PAYLOAD_SIZES, answer, fail, message, payload, run, same } = require('../shared/benchmark');

const { Type, MessageType, TApplicationException } = thrift.Thrift;
const KINDS = {
  s: [Type.STRING, 'writeString', 'readString'],
  b: [Type.BOOL, 'writeBool', 'readBool'],
  i: [Type.I32, 'writeI32', 'readI32'],
  l: [Type.I64, 'writeI64', 'readI64'],
};
const number = (value) => (typeof value === 'object' && value !== null && value.toNumber ? value.toNumber() : value);

const BenchmarkMessage = {
  type: Type.STRUCT,
  write(output, values) {
    output.writeStructBegin('BenchmarkMessage');
    for (const [id, kind] of FIELDS) {
      const value = values[`field${id}`];
      if (kind === 'r') {
        // An empty list is absent.
        if (value.length === 0) continue;
        output.writeFieldBegin(`field${id}`, Type.LIST, id);
        output.writeListBegin(Type.I64, value.length);
        value.forEach((item) => output.writeI64(item));
        output.writeListEnd();
      } else {
        output.writeFieldBegin(`field${id}`, KINDS[kind][0], id);
        output[KINDS[kind][1]](value);
      }
      output.writeFieldEnd();
    }
    output.writeFieldStop();
    output.writeStructEnd();
  },
  read(input) {
    const kinds = new Map(FIELDS);
    const values = { field5: [] };
    input.readStructBegin();
    for (;;) {
      const { ftype, fid } = input.readFieldBegin();
      if (ftype === Type.STOP) break;
      const kind = kinds.get(fid);
      if (kind === 'r') {
        const { size } = input.readListBegin();
        values.field5 = Array.from({ length: size }, () => number(input.readI64()));
        input.readListEnd();
      } else if (kind) {
        same(`type of field${fid}`, ftype, KINDS[kind][0]);
        values[`field${fid}`] = number(input[KINDS[kind][2]]());
      } else {
        fail(`the reply has field ${fid}`);
      }
      input.readFieldEnd();
    }
    input.readStructEnd();
    return values;
  },
};
const Bytes = { type: Type.STRING, write: (output, value) => output.writeBinary(value), read: (input) => input.readBinary() };
const METHODS = { say: BenchmarkMessage, exchange: Bytes, no_such_method: Bytes };

/** As the generated client of a service: npm thrift hands its replies to `recv_METHOD`. */
class Client {
  constructor(output, Protocol) {
    Object.assign(this, { output, Protocol, _seqid: 0, _reqs: {} });
    for (const [method, kind] of Object.entries(METHODS)) {
      this[`recv_${method}`] = (input, messageType, seqid) => this.receive(kind, input, messageType, seqid);
    }
  }

  call(method, value) {
    const seqid = ++this._seqid;
    return new Promise((resolve, reject) => {
      this._reqs[seqid] = (error, reply) => (error ? reject(error) : resolve(reply));
      const output = new this.Protocol(this.output);
      output.writeMessageBegin(method, MessageType.CALL, seqid);
      output.writeStructBegin('args');
      output.writeFieldBegin('request', METHODS[method].type, 1);
      METHODS[method].write(output, value);
      output.writeFieldEnd();
      output.writeFieldStop();
      output.writeStructEnd();
      output.writeMessageEnd();
      this.output.flush();
    });
  }

  receive(kind, input, messageType, seqid) {
    const callback = this._reqs[seqid];
    delete this._reqs[seqid];
    if (messageType === MessageType.EXCEPTION) {
      const exception = new TApplicationException();
      exception.read(input);
      input.readMessageEnd();
      return callback(exception);
    }
    let reply;
    input.readStructBegin();
    for (;;) {
      const { ftype, fid } = input.readFieldBegin();
      if (ftype === Type.STOP) break;
      same('id of the result', fid, 0);
      reply = kind.read(input);
      input.readFieldEnd();
    }
    input.readStructEnd();
    input.readMessageEnd();
    return callback(null, reply);
  }
}

function connect(address, wire) {
  const [host, port] = address.split(':');
  const connection = thrift.createConnection(host, Number(port), {
    transport: wire.includes('+framed/') ? thrift.TFramedTransport : thrift.TBufferedTransport,
    protocol: wire.endsWith('/binary') ? thrift.TBinaryProtocol : thrift.TCompactProtocol,
  });
  connection.on('error', (error) => fail(`the connection failed: ${error.message}`));
  return thrift.createClient({ Client }, connection);
}

async function echo(address, wire, name) {
  const request = message(name);
  const client = connect(address, wire);
  for (let i = 0; i < 3; i++) same('reply', await client.call('say', request), answer(request));
}

run({
  echo,
  distinct: echo,
  async payload(address, wire) {
    const client = connect(address, wire);
    for (const size of PAYLOAD_SIZES) same(`${size} bytes`, await client.call('exchange', payload(size)), payload(size));
  },
  async errors(address, wire) {
    const error = await connect(address, wire).call('no_such_method', Buffer.alloc(0)).then(() => fail('answered'), (error) => error);
    same('unknown method: type', error.type, 1);
  },
});
