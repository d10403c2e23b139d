"""The benchmark's message, written down once more: nothing here comes from the suite's code."""

import json
import sys

TEXT = "许多往事在眼前一幕一幕，变的那麼模糊"

# Number and kind of each field, in the schema's order: string, bool, int32, int64, repeated fixed64.
FIELDS = [
    (int(number), kind)
    for number, kind in (
        field.split(":")
        for field in """
        1:s 9:s 18:s 80:b 81:b 2:i 3:i 280:i 6:i 22:l 4:s 5:r 59:b 7:s 16:i 130:i 12:b 17:b 13:b 14:b 104:i 100:i 101:i 102:s 103:s 29:i
        30:b 60:i 271:i 272:i 150:i 23:i 24:b 25:i 78:b 67:i 68:i 128:i 129:s 131:i
        """.split()
    )
]
assert len(FIELDS) == 40

ALIKE = {"s": lambda n: TEXT, "b": lambda n: True, "i": lambda n: 100_000, "l": lambda n: 100_000, "r": lambda n: []}
# No two fields with the same value, bools aside: what lands in a neighbour's place is found out.
DISTINCT = {
    "s": lambda n: f"{TEXT} {n}",
    "b": lambda n: n % 2 == 1,
    "i": lambda n: -1_000_000 + 7 * n,
    "l": lambda n: -(2**40) - n,
    "r": lambda n: [0, 1, 2**40 + n],
}
MESSAGES = {"echo": ALIKE, "distinct": DISTINCT}

PAYLOAD_SIZES = [0, 1, 581, 65_536, 1_048_576]
REQUEST_BYTES, REPLY_BYTES = 581, 527


def message(case):
    """The request as field name -> value."""
    return {f"field{number}": MESSAGES[case][kind](number) for number, kind in FIELDS}


def answer(request):
    """What the service makes of a request."""
    return {**request, "field1": "OK", "field2": 100}


def payload(size):
    return bytes((i * 7 + size) % 253 for i in range(253)) * (size // 253) + bytes(i * 3 % 256 for i in range(size % 253))


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(1)


def same(what, got, want):
    """Ends the program with one line unless the two are equal, types included (True is no 1)."""
    if isinstance(want, dict) and isinstance(got, dict):
        for name in sorted(want.keys() | got.keys()):
            same(f"{what}: {name}", got.get(name, "absent"), want.get(name, "absent"))
    elif type(got) is not type(want) or got != want:
        fail(f"{what}: {short(got)} instead of {short(want)}")


def expect(what, true):
    if not true:
        fail(what)


def short(value):
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:100]}… ({len(text)} characters)"


def from_json(what, text):
    try:
        return json.loads(text)
    except ValueError as error:
        fail(f"{what}: no JSON ({error}): {short(text)}")


def fill(target, values):
    """Puts the values into a protobuf message."""
    for name, value in values.items():
        if isinstance(value, list):
            getattr(target, name).extend(value)
        else:
            setattr(target, name, value)
    return target


def values(source):
    """The 40 values of a protobuf message; what is absent is None, not the schema's default."""
    found = {}
    for number, kind in FIELDS:
        name = f"field{number}"
        if kind == "r":
            found[name] = list(getattr(source, name))
        else:
            found[name] = getattr(source, name) if source.HasField(name) else None
    return found


def serve(address):
    """Says where a server listens, and returns when stdin ends."""
    print(f"ready {address}", flush=True)
    sys.stdin.read()


def run(cases):
    """Runs the case that the command line names: ADDRESS WIRE CASE."""
    address, wire, case = sys.argv[1:4]
    if case not in cases:
        fail(f"no case '{case}', only {', '.join(cases)}")
    cases[case](address, wire, case)
