// The benchmark's message, written down once more: nothing here comes from the suite's code.
'use strict';

const TEXT = '许多往事在眼前一幕一幕，变的那麼模糊';

// Number and kind of each field, in the schema's order: string, bool, int32, int64, repeated fixed64.
const FIELDS = `
  1:s 9:s 18:s 80:b 81:b 2:i 3:i 280:i 6:i 22:l 4:s 5:r 59:b 7:s 16:i 130:i 12:b 17:b 13:b 14:b 104:i 100:i 101:i 102:s 103:s 29:i
  30:b 60:i 271:i 272:i 150:i 23:i 24:b 25:i 78:b 67:i 68:i 128:i 129:s 131:i`
  .trim().split(/\s+/).map((field) => field.split(':')).map(([number, kind]) => [Number(number), kind]);
if (FIELDS.length !== 40) throw new Error(`${FIELDS.length} fields`);

const ALIKE = { s: () => TEXT, b: () => true, i: () => 100000, l: () => 100000, r: () => [] };
// No two fields with the same value, bools aside: what lands in a neighbour's place is found out.
const DISTINCT = {
  s: (n) => `${TEXT} ${n}`,
  b: (n) => n % 2 === 1,
  i: (n) => -1000000 + 7 * n,
  l: (n) => -(2 ** 40) - n,
  r: (n) => [0, 1, 2 ** 40 + n],
};
const MESSAGES = { echo: ALIKE, distinct: DISTINCT };

const PAYLOAD_SIZES = [0, 1, 581, 65536, 1048576];

/** The request as field name -> value. */
function message(name) {
  return Object.fromEntries(FIELDS.map(([number, kind]) => [`field${number}`, MESSAGES[name][kind](number)]));
}

/** What the service makes of a request. */
function answer(request) {
  return { ...request, field1: 'OK', field2: 100 };
}

function payload(size) {
  return Buffer.from(Uint8Array.from({ length: size }, (_, i) => (i * 7 + size) % 253));
}

function fail(text) {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

/** Ends the program with one line unless the two are equal, types included. */
function same(what, got, want) {
  const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value) && !Buffer.isBuffer(value);
  if (isObject(got) && isObject(want)) {
    for (const name of new Set([...Object.keys(want), ...Object.keys(got)])) same(`${what}: ${name}`, got[name], want[name]);
  } else if (Buffer.isBuffer(want) ? !(Buffer.isBuffer(got) && got.equals(want)) : JSON.stringify(got) !== JSON.stringify(want)) {
    fail(`${what}: ${short(got)} instead of ${short(want)}`);
  }
}

function expect(what, isTrue) {
  if (!isTrue) fail(what);
}

function short(value) {
  const text = Buffer.isBuffer(value) ? `${value.length} bytes` : `${JSON.stringify(value)}`;
  return text.length <= 120 ? text : `${text.slice(0, 100)}… (${text.length} characters)`;
}

/** Says where a server listens, and ends the program when stdin ends. */
function serve(address) {
  console.log(`ready ${address}`);
  process.stdin.on('end', () => process.exit(0)).resume();
}

/** Runs the case that the command line names: ADDRESS WIRE CASE. */
async function run(cases) {
  const [address, wire, name] = process.argv.slice(2);
  if (!cases[name]) fail(`no case '${name}', only ${Object.keys(cases).join(', ')}`);
  try {
    await cases[name](address, wire, name);
  } catch (error) {
    fail(`${name}: ${error.message ?? JSON.stringify(error)}`);
  }
  process.exit(0);
}

module.exports = { TEXT, FIELDS, PAYLOAD_SIZES, message, answer, payload, fail, same, expect, short, serve, run };
