# SPDX-License-Identifier: MIT OR Apache-2.0
"""nightly.py SCRIPT: scripts/nightly runs what has not passed at this commit, reads what a stage came to,
and its receipt is honest."""
import importlib.machinery
import importlib.util
import sys

PASSED = {"result": "passed", "counts": [3, 0, 1], "seconds": 600, "began": "2026-01-02 03:04 UTC", "notes": []}
FAILED = {**PASSED, "result": "failed", "counts": [2, 1, 0], "notes": ["failed: unit.bad (long)"]}


def load(script):
    loader = importlib.machinery.SourceFileLoader("nightly", script)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("nightly", loader))
    loader.exec_module(module)
    return module


def receipt(is_clean=True, **shards):
    return {"commit": "abc", "is_clean": is_clean, "shards": shards}


def check_what_runs(nightly):
    names = ["long", "plain"]
    half = receipt(long=PASSED, plain=FAILED)
    for before, commit, is_clean, fresh, expected in (
            ({}, "abc", True, False, names), (half, "abc", True, False, ["plain"]),
            (half, "abc", True, True, names), (half, "def", True, False, names),
            (half, "abc", False, False, names), (receipt(False, long=PASSED), "abc", True, False, names)):
        found, kept = nightly.to_run(before, commit, is_clean, names, fresh)
        assert found == expected, (before, commit, found)
        assert (kept["commit"], kept["is_clean"]) == (commit, is_clean), kept
    found, kept = nightly.to_run(half, "abc", True, ["plain"], True)
    assert found == ["plain"] and kept["shards"] == {"long": PASSED}, kept
    assert nightly.seconds_left(half) == nightly.MINUTES * 60 - 1200


def check_outcomes(nightly):
    for status, output, result, counts in (
            (0, "skipped: a: b (x)\n4 passed, 0 failed, 1 skipped\n", "passed", [4, 0, 1]),
            (1, "failed: a (x)\n3 passed, 1 failed, 0 skipped\n", "failed", [3, 1, 0]),
            (0, "0 passed, 0 failed, 1 skipped\n", "failed", [0, 0, 1]),
            (0, "", "failed", [0, 0, 0]), (124, "4 passed, 0 failed, 0 skipped\n", "failed", [4, 0, 0])):
        found = nightly.outcome(status, output)
        assert (found["result"], found["counts"]) == (result, counts), (output, found)
    assert nightly.outcome(1, "noise\nfailed: a (x)\n")["notes"] == ["failed: a (x)"]


def check_status(nightly):
    everything = receipt(**{name: PASSED for name in nightly.SHARDS})
    text = "\n".join(nightly.describe(everything, "abc", True))
    assert text.endswith(f"complete, {10 * len(nightly.SHARDS)} min") and "not complete" not in text, text
    for of, head, is_clean, expected in (
            ({}, "abc", True, "no nightly run yet"), (receipt(long=FAILED), "abc", True, "failed: unit.bad (long)"),
            (receipt(long=PASSED), "abc", True, "not complete"), (everything, "def", True, "not the commit"),
            (everything, "abc", False, "uncommitted changes since"),
            (receipt(False), "abc", False, "with uncommitted changes")):
        text = "\n".join(nightly.describe(of, head, is_clean))
        assert expected in text, (expected, text)


def main():
    sys.dont_write_bytecode = True
    nightly = load(sys.argv[1])
    check_what_runs(nightly)
    check_outcomes(nightly)
    check_status(nightly)


if __name__ == "__main__":
    main()
