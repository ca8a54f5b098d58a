"""Runs the client of `vllm bench serve` without installing vLLM.

Usage: bench-peers-vllm.py ROOT [arguments of vllm bench serve]

ROOT holds vllm/benchmarks, unpacked from vLLM's own wheel and not changed. That client
needs aiohttp, numpy and a tokenizer; what it imports from the rest of vLLM is either
replaced by the same thing from the standard library (the argument parser, host:port,
freezing the garbage collector's heap, the tokenizer by way of transformers), or serves
data sets and modes that this workload does not use, and is a placeholder that fails when
it is called.
"""

import argparse
import asyncio
import gc
import importlib.abc
import importlib.machinery
import logging
import os
import sys
import types

root = sys.argv[1]


class Placeholder:
    """Stands for what this workload does not use."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("this part of vLLM is not installed")


class Parser(argparse.ArgumentParser):
    """vLLM's parser takes the flags of argparse, and more forms of them."""


def freeze_gc_heap():
    gc.collect()
    gc.freeze()


def get_tokenizer(name, *args, **kwargs):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(name)


def join_host_port(host, port):
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


GIVEN = {
    "vllm.utils.argparse_utils": {"FlexibleArgumentParser": Parser},
    "vllm.utils.gc_utils": {"freeze_gc_heap": freeze_gc_heap},
    "vllm.utils.network_utils": {"join_host_port": join_host_port},
    "vllm.logger": {"init_logger": logging.getLogger},
    "vllm.tokenizers": {"get_tokenizer": get_tokenizer},
    "vllm.utils.import_utils": {
        "PlaceholderModule": lambda name: types.SimpleNamespace(
            placeholder_attr=lambda attr: Placeholder
        )
    },
}


class Rest(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds vllm.* outside of vllm.benchmarks."""

    def find_spec(self, name, path=None, target=None):
        if name != "vllm" and not name.startswith("vllm."):
            return None
        if name == "vllm.benchmarks" or name.startswith("vllm.benchmarks."):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__path__ = [os.path.join(root, *module.__name__.split("."))]
        module.__dict__.update(GIVEN.get(module.__name__, {}))
        module.__getattr__ = lambda attr: _missing(module.__name__, attr)


def _missing(module, attr):
    if attr.startswith("__"):
        raise AttributeError(attr)
    return Placeholder


sys.meta_path.insert(0, Rest())

from vllm.benchmarks import serve  # noqa: E402

parser = Parser(prog="vllm bench serve")
serve.add_cli_args(parser)
asyncio.run(serve.main_async(parser.parse_args(sys.argv[2:])))
