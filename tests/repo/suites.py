# SPDX-License-Identifier: MIT OR Apache-2.0
"""suites.py CTEST BUILD STAGES: each suite of a build has its area as a label, a time limit and an exit status for
skipped, and a stage of scripts/test selects it. STAGES is tests/stages; the folder of a build is named after its
preset."""
import dataclasses
import json
import pathlib
import re
import subprocess
import sys

# This preset contains the suites of every preset except those of the special areas.
COMPLETE_PRESET = "ci"
SPECIAL_AREAS = ("fuzz", "mac", "windows", "wine")


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


def parse_stages(text):
    for line in text.splitlines():
        if words := line.split("#")[0].split():
            name, preset, *options = words
            pairs = list(zip(options[::2], options[1::2], strict=True))
            yield Stage(name, preset, [pair for pair in pairs if pair[0] != "--repeat"])


def read_property(test, name):
    return next((entry["value"] for entry in test.get("properties", []) if entry["name"] == name), None)


def find_violations(tests, stages, preset):
    for test in tests:
        name = test["name"]
        area = name.split(".")[0]
        labels = read_property(test, "LABELS") or []
        if "." not in name or area not in labels:
            yield f"{name}: not labelled with its area"
        if read_property(test, "SKIP_RETURN_CODE") != 77:
            yield f"{name}: exit status 77 does not mean skipped"
        if not read_property(test, "TIMEOUT"):
            yield f"{name}: no time limit"
        presets = (preset,) if area in SPECIAL_AREAS else (preset, COMPLETE_PRESET)
        if not any(stage.selects(name, labels) for stage in stages if stage.preset in presets):
            yield f"{name}: no stage selects it, with the labels {', '.join(labels)}"


def make_suite(name="unit.a", **changes):
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
    stages = list(parse_stages(STAGES))
    selected_stages = [[stage.name for stage in stages if stage.selects(name, labels)] for name, labels in (
        ("unit.a", ["unit"]), ("unit.a", ["unit", "slow"]), ("cli.a", ["cli"]), ("abi.a", ["abi", "nightly"]),
        ("cli.stress", ["cli", "soak"]))]
    assert selected_stages == [
        ["release", "quick", "fuzz"], ["release", "fuzz"], ["release", "fuzz"], ["long"], ["soak"]], selected_stages
    for test in (make_suite(), make_suite(LABELS=["unit", "nightly"]),
                 make_suite(name="unit.stress", LABELS=["unit", "soak"])):
        assert list(find_violations([test], stages, "quick")) == []
    for tests, expected in (
            ([make_suite(LABELS=[])], "not labelled"), ([make_suite(name="unit")], "not labelled"),
            ([make_suite(SKIP_RETURN_CODE=1)], "status 77"), ([make_suite(TIMEOUT=None)], "time limit"),
            ([make_suite(LABELS=["unit", "soak"])], "no stage selects it, with the labels unit, soak"),
            ([make_suite(name="fuzz.a", LABELS=["fuzz", "nightly"])], "no stage selects it")):
        violations = list(find_violations(tests, stages, "fuzz"))
        assert len(violations) == 1 and expected in violations[0], (expected, violations)


def main():
    self_test()
    ctest, build, stages = sys.argv[1:]
    listing = subprocess.run([ctest, "--test-dir", build, "--show-only=json-v1"], check=True,
                             capture_output=True, text=True).stdout
    stages = list(parse_stages(pathlib.Path(stages).read_text()))
    violations = list(find_violations(json.loads(listing)["tests"], stages, pathlib.Path(build).name))
    print(*violations, sep="\n")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
