# SPDX-License-Identifier: MIT OR Apache-2.0
"""suites.py CTEST BUILD REQUIRED...: each suite of a build has an area's label, a time limit and the exit
status that means skipped, and each required suite of the release build exists."""
import json
import pathlib
import shutil
import subprocess
import sys

STAGES = ("release", "long", "soak")  # of the release build


def property_of(test, name):
    return next((entry["value"] for entry in test.get("properties", []) if entry["name"] == name), None)


def violations(tests, required):
    for test in tests:
        name = test["name"]
        area = name.split(".")[0]
        if "." not in name or area not in (property_of(test, "LABELS") or []):
            yield f"{name}: not labelled with its area"
        if property_of(test, "SKIP_RETURN_CODE") != 77:
            yield f"{name}: exit status 77 does not mean skipped"
        if not property_of(test, "TIMEOUT"):
            yield f"{name}: no time limit"
    names = {test["name"] for test in tests}
    for line in required.splitlines():
        words = line.split("#")[0].split()
        is_wanted = words[:1] and words[0] in STAGES and all(shutil.which(program) for program in words[2:])
        if is_wanted and words[1] not in names:
            yield f"{words[1]} is required and does not exist"


def suite(name="unit.a", **changes):
    properties = {"LABELS": ["unit"], "SKIP_RETURN_CODE": 77, "TIMEOUT": 9.0} | changes
    return {"name": name,
            "properties": [{"name": key, "value": value} for key, value in properties.items()]}


def self_test():
    assert list(violations([suite()], "release unit.a # x\nfuzz other\n")) == []
    for tests, required, expected in (
            ([suite(LABELS=[])], "", "not labelled"), ([suite(name="unit")], "", "not labelled"),
            ([suite(SKIP_RETURN_CODE=1)], "", "status 77"), ([suite(TIMEOUT=None)], "", "time limit"),
            ([suite()], "release unit.b\n", "unit.b is required"),
            ([suite()], "soak unit.c\n", "unit.c is required")):
        found = list(violations(tests, required))
        assert len(found) == 1 and expected in found[0], (expected, found)


def main():
    self_test()
    ctest, build, *required = sys.argv[1:]
    listing = subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"], check=True,
                             capture_output=True, text=True).stdout
    found = list(violations(json.loads(listing)["tests"], "".join(pathlib.Path(each).read_text() for each in required)))
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
