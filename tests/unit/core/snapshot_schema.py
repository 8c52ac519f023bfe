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


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(keys) != len(set(keys)):
        failures.append(f"a key stands twice: {keys}")
    return dict(pairs)


def resolve(rule):
    """The rule behind references and alternatives with null."""
    while True:
        if "$ref" in rule:
            rule = schema["$defs"][rule["$ref"].rsplit("/", 1)[1]]
        elif "anyOf" in rule:
            rule = rule["anyOf"][0]
        else:
            return rule


def compare(value, rule, place):
    """Every key and word of a snapshot is in the schema, every key of the schema in the snapshot."""
    rule = resolve(rule)
    if isinstance(value, dict):
        if list(value) != list(rule["properties"]):
            failures.append(f"{place}: keys {list(value)}, schema {list(rule['properties'])}")
            return
        if rule["required"] != list(rule["properties"]):
            failures.append(f"{place}: not every key is required")
        for key, inner in value.items():
            compare(inner, rule["properties"][key], f"{place}/{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            compare(inner, rule["items"], f"{place}/{number}")
    elif isinstance(value, str) and "examples" in rule and value not in rule["examples"]:
        failures.append(f"{place}: \"{value}\" is not among the examples")


def leaves(value, path=()):
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path


def changed(value, path, new):
    value = copy.deepcopy(value)
    at = value
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return value


def check_teeth(full):
    """The schema refuses a value of another type in every single place."""
    for path in leaves(full):
        if validator.is_valid(changed(full, path, {"not": "this"})):
            failures.append(f"the schema takes anything at {path}")
    for path, new in ((("memory", "resident_bytes"), -1), (("memory", "resident_bytes"), 2**64),
                      (("memory", "resident_bytes"), 1.5), (("schema",), 2), (("pools",), None),
                      (("devices", 0, "index"), None), (("diagnostics", 0, "status"), "timeout"),
                      (("usages", 0, "busy_percent"), 101)):
        if validator.is_valid(changed(full, path, new)):
            failures.append(f"the schema takes {new} at {path}")


# Below Wine this machine's paths begin on a drive.
drive = "Z:" if len(printer) > 1 and printer[-1].endswith(".exe") else ""
done = subprocess.run([*printer, *(drive + str(machine) for machine in machines)], check=True, text=True,
                      capture_output=True)
lines = done.stdout.splitlines()
if len(lines) != 2 + 2 * len(machines) or not machines:
    failures.append(f"{len(lines)} lines for {len(machines)} machines")
snapshots = [json.loads(line, object_pairs_hook=no_duplicates) for line in lines]
for number, snapshot in enumerate(snapshots):
    for error in validator.iter_errors(snapshot):
        failures.append(f"line {number + 1}: {error.json_path}: {error.message}")
    compare(snapshot, schema, f"line {number + 1}")
check_teeth(snapshots[1])
for failure in failures[:40]:
    print(failure)
print(f"{len(snapshots)} snapshots, {len(failures)} failures")
sys.exit(1 if failures else 0)
