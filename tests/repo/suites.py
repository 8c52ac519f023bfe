# SPDX-License-Identifier: MIT OR Apache-2.0
"""suites.py CTEST BUILD STAGES: each suite of a build has an area's label, a time limit and the exit status that
means skipped, and a stage of scripts/test selects it. STAGES is tests/stages; the folder of a build has the name of
its preset."""
import dataclasses
import json
import pathlib
import re
import subprocess
import sys

# What is built in any preset is built in this one, but for these areas.
EVERYTHING = "ci"
ELSEWHERE = ("fuzz", "mac", "windows", "wine")


@dataclasses.dataclass
class Stage:
    name: str
    preset: str
    selection: list[tuple[str, str]]  # option of ctest, expression

    def selects(self, name, labels):
        for option, expression in self.selection:
            texts = labels if option.startswith("-L") else [name]
            is_match = any(re.search(expression, text) for text in texts)
            if is_match == option.endswith("E"):
                return False
        return True


def stages_in(text):
    for line in text.splitlines():
        if words := line.split("#")[0].split():
            name, preset, *options = words
            pairs = list(zip(options[::2], options[1::2], strict=True))
            yield Stage(name, preset, [pair for pair in pairs if pair[0] != "--repeat"])


def property_of(test, name):
    return next((entry["value"] for entry in test.get("properties", []) if entry["name"] == name), None)


def violations(tests, stages, preset):
    for test in tests:
        name = test["name"]
        area = name.split(".")[0]
        labels = property_of(test, "LABELS") or []
        if "." not in name or area not in labels:
            yield f"{name}: not labelled with its area"
        if property_of(test, "SKIP_RETURN_CODE") != 77:
            yield f"{name}: exit status 77 does not mean skipped"
        if not property_of(test, "TIMEOUT"):
            yield f"{name}: no time limit"
        presets = (preset,) if area in ELSEWHERE else (preset, EVERYTHING)
        if not any(stage.selects(name, labels) for stage in stages if stage.preset in presets):
            yield f"{name}: no stage selects it, with the labels {', '.join(labels)}"


def suite(name="unit.a", **changes):
    properties = {"LABELS": ["unit"], "SKIP_RETURN_CODE": 77, "TIMEOUT": 9.0} | changes
    return {"name": name,
            "properties": [{"name": key, "value": value} for key, value in properties.items()]}


STAGES = r"""# stage preset options
release ci      -LE ^(nightly|soak)$
quick   quick   -L ^(unit|abi)$ -LE ^(slow|nightly|soak)$
long    ci      -L ^nightly$
soak    ci      -R \.stress(\.|$) --repeat until-fail:10
fuzz    fuzz    -LE ^(nightly|soak)$
"""


def self_test():
    stages = list(stages_in(STAGES))
    selected = [[stage.name for stage in stages if stage.selects(name, labels)] for name, labels in (
        ("unit.a", ["unit"]), ("unit.a", ["unit", "slow"]), ("cli.a", ["cli"]), ("abi.a", ["abi", "nightly"]),
        ("cli.stress", ["cli", "soak"]))]
    assert selected == [["release", "quick", "fuzz"], ["release", "fuzz"], ["release", "fuzz"], ["long"], ["soak"]], \
        selected
    for clean in (suite(), suite(LABELS=["unit", "nightly"]), suite(name="unit.stress", LABELS=["unit", "soak"])):
        assert list(violations([clean], stages, "quick")) == []
    for tests, expected in (
            ([suite(LABELS=[])], "not labelled"), ([suite(name="unit")], "not labelled"),
            ([suite(SKIP_RETURN_CODE=1)], "status 77"), ([suite(TIMEOUT=None)], "time limit"),
            ([suite(LABELS=["unit", "soak"])], "no stage selects it, with the labels unit, soak"),
            ([suite(name="fuzz.a", LABELS=["fuzz", "nightly"])], "no stage selects it")):
        found = list(violations(tests, stages, "fuzz"))
        assert len(found) == 1 and expected in found[0], (expected, found)


def main():
    self_test()
    ctest, build, stages = sys.argv[1:]
    listing = subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"], check=True,
                             capture_output=True, text=True).stdout
    found = list(violations(json.loads(listing)["tests"], list(stages_in(pathlib.Path(stages).read_text())),
                            pathlib.Path(build).name))
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
