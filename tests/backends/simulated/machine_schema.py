# SPDX-License-Identifier: MIT OR Apache-2.0
"""docs/schema/machine.schema.json, the examples and the library agree on what a machine file is.

machine_schema.py ROOT CHECKER...: the command CHECKER prints for each line of its input "ok", or what the library has
against it as a machine file.
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


def expect(condition, what):
    if not condition:
        failures.append(what)


def verdicts(documents):
    """What the library reports of each document."""
    lines = [document if isinstance(document, str) else json.dumps(document) for document in documents]
    done = subprocess.run(checker, check=True, text=True, capture_output=True,
                          input="".join(line.replace("\n", " ") + "\n" for line in lines))
    reported = done.stdout.splitlines()
    assert len(reported) == len(documents), (len(reported), len(documents))
    return reported


# A file that has every object of the schema, and where in it each stands.
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
PLACES = {
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
# Values to try in each place: all that some key somewhere takes, and a few that none does.
VALUES = [
    None, True, False, 0, 1, 7, 100, 101, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**64 - 1,
    2**64, -1, -273, -300, 0.5, 10**15, 10**16, "", "GPU", "16GiB", "1.5 TiB", "16GB", "0x10de",
    "0x10000", "0000:01:00.0", "0000:01:00.8", "/tmp/x", "tmp/x", "self", "real", "absent", "own",
    "foreign", "nvidia", "voodoo", "npu", "discrete", "virtual", "coherent", "asleep", "hung", "stolen",
    "resident", "protected", "exited", "forever", "any", "open", "memory", "system", "self", "limit",
    "ok", "nvml", "errno", [], ["stale"], ["power"], ["compute"], ["used"], ["fan_rpm"], ["old"],
    [1], {}, [{}],
]


def definition(place):
    return schema if place == "" else schema["$defs"][PLACES[place]]


def at(document, place):
    for token in place.split("/")[1:]:
        document = document[int(token)] if isinstance(document, list) else document[token]
    return document


def with_member(place, key, value):
    document = copy.deepcopy(FULL)
    at(document, place)[key] = value
    return document


def show(document):
    return json.dumps(document)[:300]


def check_examples():
    paths = sorted((root / "examples/machines").glob("*.json"))
    expect(len(paths) >= 7, "examples/machines has less than seven machines")
    texts = [path.read_text() for path in paths]
    for path, text, verdict in zip(paths, texts, verdicts(texts)):
        expect(verdict == "ok", f"{path.name}: {verdict}")
        for error in validator.iter_errors(json.loads(text)):
            failures.append(f"{path.name}: {error.json_path}: {error.message}")


def check_keys():
    """The keys that the library knows in each place are those of the schema."""
    places = sorted(PLACES)
    unknown = "no_key_is_ever_called_like_this"
    reported = verdicts([with_member(place, unknown, 1) for place in places])
    for place, verdict in zip(places, reported):
        listed = re.fullmatch(rf"(.*): the key \"{unknown}\" is not known; known here: (.*)", verdict)
        expect(listed and listed[1] == place, f"{place}: {verdict}")
        if not listed:
            continue
        known, described = set(listed[2].split()), set(definition(place)["properties"]) - {"comment"}
        expect(known == described, f"{place}: library {known - described}, schema {described - known}")


def check_values():
    """Where the schema takes a value the library does, and the other way round."""
    tried = []
    for place in sorted(PLACES):
        for key in definition(place)["properties"]:
            if key != "comment":
                tried += [(place, key, value) for value in VALUES]
    documents = [with_member(*one) for one in tried]
    of_place = {place: jsonschema.Draft202012Validator({**definition(place), "$defs": schema["$defs"]})
                for place in PLACES}
    for (place, key, value), document, verdict in zip(tried, documents, verdicts(documents)):
        fits = of_place[place].is_valid(at(document, place))
        if fits == (verdict == "ok") or is_finer(verdict) or is_null_choice(key, value):
            continue
        failures.append(f"{place}/{key} = {show(value)}: schema {fits}, library: {verdict}")


def is_finer(verdict):
    """Rules between members, which a schema cannot or does not express."""
    return any(part in verdict for part in (
        "exceed \"total\"", "when, and only when", "cannot be missing", "not a size", "exactly one of", "or an instance of the metric", "is enough",
        "cannot have failed", "is given as well"))


def is_null_choice(key, value):
    """The schema wants one of several keys, the library takes null for left out."""
    return value is None and key in ("ms", "hang", "hang_until", "at_reading", "after_ms")


def check_refusals():
    """What the schema must refuse as well."""
    for document in ({"devices": [{"pools": [{}]}]}, {"devices": [{"processes": [{"used": 1}]}]},
                     {"devices": [{"delays": [{"call": "pools", "ms": 1, "hang": "forever"}]}]},
                     {"devices": [{"failures": [{"call": "any", "status": "limit", "fields": ["used"]}]}]},
                     {"changes": [{"at_reading": 1, "after_ms": 1, "devices": []}]},
                     {"changes": [{"at_reading": 1, "patch": []}]},
                     {"changes": [{"at_reading": 1, "devices": [{"state": "gone"}]}]}):
        expect(not validator.is_valid(document), f"the schema takes {show(document)}")
        expect(verdicts([document]) != ["ok"], f"the library takes {show(document)}")


expect(validator.is_valid(FULL), "the schema refuses the full file")
expect(verdicts([FULL]) == ["ok"], f"the library refuses the full file: {verdicts([FULL])}")
check_examples()
check_keys()
check_values()
check_refusals()
for failure in failures[:40]:
    print(failure)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
