# SPDX-License-Identifier: MIT OR Apache-2.0
"""docs/schema/machine.schema.json, the examples and the library agree on the format of machine files.

machine_schema.py ROOT CHECKER...: the command CHECKER prints for each line of its input "ok", or why the library
refuses it as a machine file.
"""
import copy
import json
import pathlib
import re
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: backends.machine_schema: no Python module jsonschema")
    sys.exit(77)

root, checker = pathlib.Path(sys.argv[1]), sys.argv[2:]
schema = json.loads((root / "docs/schema/machine.schema.json").read_text())
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)


def check_documents(documents):
    """Returns the library's verdict on each document."""
    lines = [document if isinstance(document, str) else json.dumps(document) for document in documents]
    result = subprocess.run(checker, check=True, text=True, capture_output=True,
                            input="".join(line.replace("\n", " ") + "\n" for line in lines))
    verdicts = result.stdout.splitlines()
    assert len(verdicts) == len(documents), (len(verdicts), len(documents))
    return verdicts


# A file with every object of the schema, and the path and definition of each object.
FULL = {
    "devices": [{
        "pools": [{"kind": "vram"}], "telemetry": {}, "instance": {}, "cuda_version": {}, "compute_capability": {},
        "metrics": [{"metric": "temperature", "missing": {"status": "backend"}}],
        "processes": [{"pid": 7, "instance": {}, "missing": {"status": "backend"}}],
        "failures": [{"call": "telemetry", "status": "limit", "native": {"domain": "nvml", "code": 1}}],
        "delays": [{"call": "pools", "ms": 1}],
        "partitions": [{"name": "p"}],
    }],
    "host": {"self": {}, "system": {}, "processes": [{"pid": 7}]},
    "failures": [{"call": "open", "status": "no_source"}],
    "delays": [{"call": "open", "hang": "forever"}],
    "recording": {"format": 1, "files": [{"path": "/a", "text": "", "status": {}, "errors": {}}],
                  "runs": [{"path": "/b"}], "answers": [{"node": "/c", "language": "xe"}]},
    "changes": [{"at_reading": 2, "version": "1"}],
}
DEFINITIONS = {
    "": schema,
    "/devices/0": "device", "/devices/0/pools/0": "pool", "/devices/0/telemetry": "telemetry",
    "/devices/0/instance": "instance",
    "/devices/0/cuda_version": "version", "/devices/0/compute_capability": "version", "/devices/0/processes/0": "row",
    "/devices/0/processes/0/instance": "instance", "/devices/0/processes/0/missing": "why",
    "/devices/0/metrics/0": "metric", "/devices/0/metrics/0/missing": "why",
    "/devices/0/failures/0": "device_failure", "/devices/0/failures/0/native": "native",
    "/devices/0/delays/0": "device_delay", "/devices/0/partitions/0": "partition",
    "/host": "host", "/host/self": "process_memory", "/host/system": "system_memory",
    "/host/processes/0": "process", "/failures/0": "driver_failure", "/delays/0": "driver_delay",
    "/changes/0": "change",
    "/recording": "recording", "/recording/files/0": "recorded_file",
    "/recording/files/0/status": "recorded_status", "/recording/files/0/errors": "recorded_errors",
    "/recording/runs/0": "recorded_run", "/recording/answers/0": "recorded_answer",
}
# Values to try for each key: every value that some key accepts, and a few that none does.
VALUES = [
    None, True, False, 0, 1, 7, 100, 101, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**64 - 1,
    2**64, -1, -273, -300, 0.5, 10**15, 10**16, "", "GPU", "16GiB", "1.5 TiB", "16GB", "0x10de",
    "0x10000", "0000:01:00.0", "0000:01:00.8", "/tmp/x", "tmp/x", "self", "real", "absent", "own",
    "foreign", "nvidia", "voodoo", "npu", "discrete", "virtual", "coherent", "asleep", "hung", "stolen",
    "resident", "protected", "exited", "forever", "any", "open", "memory", "system", "self", "limit",
    "ok", "nvml", "errno", [], ["stale"], ["power"], ["compute"], ["used"], ["fan_rpm"], ["old"],
    [1], {}, [{}],
]


def find_definition(path):
    return schema if path == "" else schema["$defs"][DEFINITIONS[path]]


def resolve_path(document, path):
    for token in path.split("/")[1:]:
        document = document[int(token)] if isinstance(document, list) else document[token]
    return document


def add_member(path, key, value):
    document = copy.deepcopy(FULL)
    resolve_path(document, path)[key] = value
    return document


def shorten(document):
    return json.dumps(document)[:300]


def check_examples():
    files = sorted((root / "examples/machines").glob("*.json"))
    expect(len(files) >= 7, "examples/machines has less than seven machines")
    texts = [path.read_text() for path in files]
    for file, text, verdict in zip(files, texts, check_documents(texts)):
        expect(verdict == "ok", f"{file.name}: {verdict}")
        for error in validator.iter_errors(json.loads(text)):
            failures.append(f"{file.name}: {error.json_path}: {error.message}")


def check_keys():
    """The library and the schema have the same keys in each object."""
    paths = sorted(DEFINITIONS)
    unknown = "no_key_is_ever_called_like_this"
    verdicts = check_documents([add_member(path, unknown, 1) for path in paths])
    for path, verdict in zip(paths, verdicts):
        match = re.fullmatch(rf"(.*): the key \"{unknown}\" is not known; known here: (.*)", verdict)
        expect(match and match[1] == path, f"{path}: {verdict}")
        if not match:
            continue
        library_keys, schema_keys = set(match[2].split()), set(find_definition(path)["properties"]) - {"comment"}
        expect(library_keys == schema_keys,
               f"{path}: library {library_keys - schema_keys}, schema {schema_keys - library_keys}")


def check_values():
    """The schema and the library accept the same values."""
    trials = []
    for path in sorted(DEFINITIONS):
        for key in find_definition(path)["properties"]:
            if key != "comment":
                trials += [(path, key, value) for value in VALUES]
    documents = [add_member(*trial) for trial in trials]
    validators = {path: jsonschema.Draft202012Validator({**find_definition(path), "$defs": schema["$defs"]})
                  for path in DEFINITIONS}
    for (path, key, value), document, verdict in zip(trials, documents, check_documents(documents)):
        is_valid = validators[path].is_valid(resolve_path(document, path))
        if is_valid == (verdict == "ok") or is_finer(verdict) or is_null_choice(key, value):
            continue
        failures.append(f"{path}/{key} = {shorten(value)}: schema {is_valid}, library: {verdict}")


def is_finer(verdict):
    """True for rules between members, which the schema does not express."""
    return any(part in verdict for part in (
        "exceed \"total\"", "when, and only when", "cannot be missing", "not a size", "exactly one of", "or an instance of the metric", "is enough",
        "cannot have failed", "is given as well"))


def is_null_choice(key, value):
    """True for null in one of several keys: the library treats it as absent, the schema does not."""
    return value is None and key in ("ms", "hang", "hang_until", "at_reading", "after_ms")


def check_refusals():
    """The schema and the library refuse these documents."""
    for document in ({"devices": [{"pools": [{}]}]}, {"devices": [{"processes": [{"used": 1}]}]},
                     {"devices": [{"delays": [{"call": "pools", "ms": 1, "hang": "forever"}]}]},
                     {"devices": [{"failures": [{"call": "any", "status": "limit", "fields": ["used"]}]}]},
                     {"changes": [{"at_reading": 1, "after_ms": 1, "devices": []}]},
                     {"changes": [{"at_reading": 1, "patch": []}]},
                     {"changes": [{"at_reading": 1, "devices": [{"state": "gone"}]}]}):
        expect(not validator.is_valid(document), f"the schema accepts {shorten(document)}")
        expect(check_documents([document]) != ["ok"], f"the library accepts {shorten(document)}")


expect(validator.is_valid(FULL), "the schema refuses the full file")
expect(check_documents([FULL]) == ["ok"], f"the library refuses the full file: {check_documents([FULL])}")
check_examples()
check_keys()
check_values()
check_refusals()
for failure in failures[:40]:
    print(failure)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
