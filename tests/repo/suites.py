# SPDX-License-Identifier: MIT OR Apache-2.0
"""suites.py CTEST BUILD: each suite of a build has an area's label, a time limit and the exit status that
means skipped."""
import json
import subprocess
import sys


def property_of(test, name):
    return next((entry["value"] for entry in test.get("properties", []) if entry["name"] == name), None)


def violations(tests):
    for test in tests:
        name = test["name"]
        area = name.split(".")[0]
        if "." not in name or area not in (property_of(test, "LABELS") or []):
            yield f"{name}: not labelled with its area"
        if property_of(test, "SKIP_RETURN_CODE") != 77:
            yield f"{name}: exit status 77 does not mean skipped"
        if not property_of(test, "TIMEOUT"):
            yield f"{name}: no time limit"


def suite(name="unit.a", **changes):
    properties = {"LABELS": ["unit"], "SKIP_RETURN_CODE": 77, "TIMEOUT": 9.0} | changes
    return {"name": name,
            "properties": [{"name": key, "value": value} for key, value in properties.items()]}


def self_test():
    assert list(violations([suite()])) == []
    for tests, expected in (
            ([suite(LABELS=[])], "not labelled"), ([suite(name="unit")], "not labelled"),
            ([suite(SKIP_RETURN_CODE=1)], "status 77"), ([suite(TIMEOUT=None)], "time limit")):
        found = list(violations(tests))
        assert len(found) == 1 and expected in found[0], (expected, found)


def main():
    self_test()
    ctest, build = sys.argv[1:]
    listing = subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"], check=True,
                             capture_output=True, text=True).stdout
    found = list(violations(json.loads(listing)["tests"]))
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
