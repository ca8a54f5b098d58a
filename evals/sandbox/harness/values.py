import json, os, sys

MAX_DEPTH, MAX_NODES = 200, 2_000_000
SMALL = 1 << 53


class Unsupported(Exception):
    pass


def encode(v):
    nodes = 0

    def enc(v, depth):
        nonlocal nodes
        nodes += 1
        if depth > MAX_DEPTH:
            raise Unsupported("nested deeper than %d" % MAX_DEPTH)
        if nodes > MAX_NODES:
            raise Unsupported("more than %d values" % MAX_NODES)
        if v is None or v is True or v is False:
            return v
        # A subclass is sent as its base type, by the base type's own methods.
        if isinstance(v, int):
            v = int.__add__(v, 0)
            return v if -SMALL < v < SMALL else {"i": hex(v)}
        if isinstance(v, float):
            return {"f": float.hex(v)}
        if isinstance(v, str):
            return str.__getitem__(v, slice(None))
        if isinstance(v, list):
            return {"l": [enc(x, depth + 1) for x in list.__iter__(v)]}
        if isinstance(v, tuple):
            return {"t": [enc(x, depth + 1) for x in tuple.__iter__(v)]}
        if isinstance(v, dict):
            return {"d": [[enc(k, depth + 1), enc(x, depth + 1)] for k, x in dict.items(v)]}
        if isinstance(v, set):
            return {"s": [enc(x, depth + 1) for x in set.__iter__(v)]}
        if isinstance(v, frozenset):
            return {"z": [enc(x, depth + 1) for x in frozenset.__iter__(v)]}
        if isinstance(v, bytes):
            return {"b": bytes.hex(v)}
        if isinstance(v, complex):
            return {"c": [float.hex(v.real), float.hex(v.imag)]}
        raise Unsupported("result of type %s" % type(v).__name__)

    return enc(v, 0)


def decode(v):
    if not isinstance(v, dict):
        return v
    ((tag, x),) = v.items()
    if tag == "i":
        return int(x, 16)
    if tag == "f":
        return float.fromhex(x)
    if tag == "l":
        return [decode(e) for e in x]
    if tag == "t":
        return tuple(decode(e) for e in x)
    if tag == "s":
        return {decode(e) for e in x}
    if tag == "z":
        return frozenset(decode(e) for e in x)
    if tag == "d":
        return {decode(k): decode(e) for k, e in x}
    if tag == "b":
        return bytes.fromhex(x)
    if tag == "c":
        return complex(float.fromhex(x[0]), float.fromhex(x[1]))
    raise Unsupported("tag %r" % tag)


source = os.fdopen(3, "r", encoding="utf-8")
sink = os.fdopen(4, "w", encoding="ascii")


def send(message):
    sink.write(json.dumps(message) + "\n")
    sink.flush()


def receive():
    line = source.readline()
    if not line:
        os._exit(0)
    return json.loads(line)
