# SPDX-License-Identifier: MIT OR Apache-2.0
"""What `hmn fit` counts for the models of table.json, beside what llama.cpp allocates for them."""
import collections
import json
import math
import os
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from gguf_file import TYPES, write_gguf  # noqa: E402

TABLE = FOLDER / "table.json"
MIB = 1 << 20
MACHINE = {"devices": [], "host": {"system": {"total": "16384GiB", "available": "16000GiB"}}}

# `low` and `high`: what llama.cpp allocates, in bytes; None: it refuses the setting.
Line = collections.namedtuple("Line", "setting item ours low high precision notes")


def read_table():
    return json.loads(TABLE.read_text())


def expand_layers(ranges):
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def list_tensors(entry):
    """(name, type, sizes) of each tensor of an entry, whose names stand for the same tensor of many layers."""
    for name, variants in entry["tensors"].items():
        for shape, layers in variants.items():
            kind, *sizes = shape.split()
            sizes = [int(size) for size in sizes]
            if layers == "":
                yield name, kind, sizes
            else:
                yield from ((name.replace("blk.", f"blk.{layer}.", 1), kind, sizes) for layer in expand_layers(layers))


def count_parameters(entry):
    return sum(math.prod(sizes) for name, _, sizes in list_tensors(entry) if not name.startswith("rope_"))


def options(setting):
    """The options of `hmn fit` for a setting. One cache for four sequences is its default."""
    tokens, slots, ubatch, kind, flash, shared = setting.split()
    result = ["--context", tokens, "--ubatch", ubatch, "--kv-type", kind]
    if flash == "0":
        result.append("--no-flash-attention")
    if shared == "0":
        result += ["--batch", slots]
    else:
        assert slots == "4", setting
    return result


def run_fit(folder, *arguments):
    machine = folder / "machine.json"
    machine.write_text(json.dumps(MACHINE))
    command = os.environ.get("HMN_COMMAND", "hmn").split("\n")
    return subprocess.run([*command, "fit", "--json", "--machine", machine, *arguments], capture_output=True, text=True)


def compare_file(entry, folder):
    """The lines of a GGUF file with an entry's keys and tensors."""
    path = folder / "model.gguf"
    prefix = entry["architecture"] + "."
    keys = {"general.architecture": entry["architecture"]}
    keys |= {name if name.startswith("tokenizer.") else prefix + name: value for name, value in entry["keys"].items()}
    write_gguf(path, keys, list(list_tensors(entry)))
    for setting, answer in entry["settings"].items():
        result = run_fit(folder, path, *options(setting))
        if result.returncode not in (0, 3, 4):
            yield Line(setting, "file", None, *((1, 1) if answer else (None, None)), "refused", [result.stderr.strip()])
            continue
        ours = json.loads(result.stdout)
        if answer is None:
            yield Line(setting, "file", ours["total_bytes"], None, None, ours["precision"], ours["assumptions"])
            continue
        weights, cache, least, most = answer
        yield Line(setting, "weights", ours["weights_bytes"], weights, weights, ours["precision"], ours["assumptions"])
        yield Line(setting, "cache", ours["kv_cache_bytes"], cache, cache, ours["precision"], ours["assumptions"])
        yield Line(setting, "working", ours["working_bytes"], least, most, ours["precision"], ours["assumptions"])
        yield Line(setting, "least", ours["least_working_bytes"], least, most, ours["precision"], ours["assumptions"])


def compare_config(entry, folder):
    """The line of a config.json: its parameters, beside the elements of the tensors."""
    path = folder / "config.json"
    path.write_text(json.dumps(entry["config"]))
    result = run_fit(folder, path)
    right = count_parameters(entry)
    if result.returncode not in (0, 3, 4):
        return Line("", "parameters", None, right, right, "refused", [result.stderr.strip()])
    ours = json.loads(result.stdout)
    return Line("", "parameters", ours["model"]["parameters"], right, right, ours["precision"], ours["assumptions"])


def compare(entry, folder):
    yield from compare_file(entry, folder)
    if "config" in entry:
        yield compare_config(entry, folder)


def find_error(line):
    """Percent above what llama.cpp allocates, or below; 0 within its range."""
    if line.ours is None or line.low is None:
        return 0.0 if line.ours is line.low else math.inf
    nearest = min(max(line.ours, line.low), line.high)
    return (line.ours / nearest - 1) * 100 if nearest else math.inf if line.ours else 0.0
