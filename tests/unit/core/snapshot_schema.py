# SPDX-License-Identifier: MIT OR Apache-2.0
"""docs/schema/snapshot.schema.json and the JSON of snapshots agree, in both directions.

snapshot_schema.py ROOT PRINTER...: the command PRINTER prints an empty snapshot, one with every field, and two of each
machine file named on its command line.
"""
import copy
import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: unit.snapshot_schema: no Python module jsonschema")
    sys.exit(77)

root, printer = pathlib.Path(sys.argv[1]), sys.argv[2:]
schema = json.loads((root / "docs/schema/snapshot.schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
machines = sorted(str(path.resolve()) for path in (root / "examples/machines").glob("*.json"))
failures = []


def reject_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        failures.append(f"a key occurs twice: {keys}")
    return dict(pairs)


def resolve(rule):
    """Resolves references and alternatives with null."""
    while True:
        if "$ref" in rule:
            rule = schema["$defs"][rule["$ref"].rsplit("/", 1)[1]]
        elif "anyOf" in rule:
            rule = rule["anyOf"][0]
        else:
            return rule


def compare(value, rule, path):
    """Checks that a snapshot and the schema have the same keys, and that the schema has every word."""
    rule = resolve(rule)
    if isinstance(value, dict):
        if list(value) != list(rule["properties"]):
            failures.append(f"{path}: keys {list(value)}, schema {list(rule['properties'])}")
            return
        if rule["required"] != list(rule["properties"]):
            failures.append(f"{path}: not every key is required")
        for key, member in value.items():
            compare(member, rule["properties"][key], f"{path}/{key}")
    elif isinstance(value, list):
        for number, member in enumerate(value):
            compare(member, rule["items"], f"{path}/{number}")
    elif isinstance(value, str) and "examples" in rule and value not in rule["examples"]:
        failures.append(f"{path}: \"{value}\" is not among the examples")


def find_leaves(value, path=()):
    if isinstance(value, (dict, list)):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from find_leaves(member, (*path, key))
    else:
        yield path


def replace_value(value, path, new):
    value = copy.deepcopy(value)
    target = value
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = new
    return value


def check_strictness(full):
    """Checks that the schema refuses a value of another type everywhere."""
    for path in find_leaves(full):
        if validator.is_valid(replace_value(full, path, {"not": "this"})):
            failures.append(f"the schema accepts anything at {path}")
    for path, new in ((("memory", "resident_bytes"), -1), (("memory", "resident_bytes"), 2**64),
                      (("memory", "resident_bytes"), 1.5), (("schema",), 2), (("pools",), None),
                      (("devices", 0, "index"), None), (("diagnostics", 0, "status"), "timeout"),
                      (("usages", 0, "busy_percent"), 101)):
        if validator.is_valid(replace_value(full, path, new)):
            failures.append(f"the schema accepts {new} at {path}")


# Under Wine this machine's paths are on a drive.
drive = "Z:" if len(printer) > 1 and printer[-1].endswith(".exe") else ""
result = subprocess.run([*printer, *(drive + str(machine) for machine in machines)], check=True, text=True,
                        capture_output=True)
lines = result.stdout.splitlines()
if len(lines) != 2 + 2 * len(machines) or not machines:
    failures.append(f"{len(lines)} lines for {len(machines)} machines")
snapshots = [json.loads(line, object_pairs_hook=reject_duplicates) for line in lines]
for number, snapshot in enumerate(snapshots):
    for error in validator.iter_errors(snapshot):
        failures.append(f"line {number + 1}: {error.json_path}: {error.message}")
    compare(snapshot, schema, f"line {number + 1}")
check_strictness(snapshots[1])
for failure in failures[:40]:
    print(failure)
print(f"{len(snapshots)} snapshots, {len(failures)} failures")
sys.exit(1 if failures else 0)
