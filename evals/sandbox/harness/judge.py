import builtins, random


class CandidateError(Exception):
    pass


raised = []


def write_back(old, new):
    if isinstance(old, list):
        old[:] = new
    elif isinstance(old, dict):
        old.clear()
        old.update(new)
    elif isinstance(old, set):
        old.clear()
        old.update(new)


def stub(*args, **named):
    before = encode(args)
    send({"t": "call", "a": before, "k": encode(named)})
    reply = receive()
    if reply["t"] == "ret":
        if reply["a"] != before:
            for old, new in zip(args, decode(reply["a"])):
                write_back(old, new)
        return decode(reply["v"])
    kind = getattr(builtins, str(reply.get("n")), None)
    error = None
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            error = kind(reply.get("m"))
        except Exception:
            pass
    if error is None:
        error = CandidateError("%s: %s" % (reply.get("n"), reply.get("m")))
    raised.append(error)
    raise error


def verdict(nonce, result, detail="", name=""):
    send({"t": "verdict", "x": nonce, "r": result, "m": detail[:300], "n": name})


def main():
    start = receive()
    nonce = start["nonce"]
    space = {"__name__": "judge", "__builtins__": builtins}
    try:
        exec(compile(start["prelude"], "<prompt>", "exec"), space)
        random.seed(0)
        space["candidate"] = space[start["entry"]] = stub
        exec(compile(start["test"], "<test>", "exec"), space)
        space["candidate"] = space[start["entry"]] = stub
        if "check" in space:
            space["check"](stub)
    except BaseException as e:
        if any(e is r for r in raised):
            verdict(nonce, "exception", str(e), type(e).__name__)
        elif isinstance(e, AssertionError) or raised or calls_made():
            verdict(nonce, "wrong", "%s %s" % (type(e).__name__, e))
        else:
            verdict(nonce, "broken", "%s: %s" % (type(e).__name__, e))
        return
    verdict(nonce, "pass" if calls_made() else "broken", "" if calls_made() else "the test never called the function")


made = 0


def calls_made():
    return made


def counted(f):
    def call(*args, **named):
        global made
        made += 1
        return f(*args, **named)
    return call


stub = counted(stub)
main()
