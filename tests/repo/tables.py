# SPDX-License-Identifier: MIT OR Apache-2.0
"""The tables of src/model list each enumerator, metric and presence bit of the header once, and no others."""
import re

import tree

# Enumerations of calls, options and other results, which measurements do not use.
EXCLUDED_PREFIXES = ("HMN_ATTENTION", "HMN_CACHE", "HMN_CONTEXT", "HMN_DELTA", "HMN_DIAGNOSTIC", "HMN_DTYPE",
                     "HMN_EPISODE", "HMN_FEATURE", "HMN_FORMAT", "HMN_LINE", "HMN_PATH", "HMN_PEAK",
                     "HMN_SAMPLER", "HMN_SNAPSHOT",
                     "HMN_SPILL", "HMN_TEXT", "HMN_TRACKER", "HMN_BACKEND_INFO")
RECORDS = ("PROCESS_MEMORY", "SYSTEM_MEMORY", "DEVICE", "POOL", "TELEMETRY", "METRIC", "USAGE")
PRESENCE = re.compile(r"HMN_(%s)_HAS_\w+$" % "|".join(RECORDS))


def parse_enumerators(root):
    """Returns the header's enumerators without sizes of structs."""
    code = tree.code(root, "include/hypomnesis.h")
    names = re.findall(r"\b(HMN_[A-Z0-9_]+)\s*=|^#define (HMN_\w+_HAS_\w+) HMN_PRESENCE", code, re.M)
    names = [enumerator or bit for enumerator, bit in names]
    return [name for name in names if "_SIZE_V" not in name and not name.startswith(EXCLUDED_PREFIXES)]


def list_rows(root):
    """Yields the header's names in the rows of the tables, with their files."""
    for name in re.findall(r"^ *X\(\w+, (HMN_\w+),", tree.text(root, "src/model/enums.def"), re.M):
        yield name, "src/model/enums.def"
    for name in re.findall(r"^ *X\(\w+, (\w+),", tree.text(root, "src/model/metrics.def"), re.M):
        yield f"HMN_METRIC_{name}", "src/model/metrics.def"
    fields = tree.text(root, "src/model/fields.def")
    for name in dict.fromkeys(re.findall(r"^ *X\(\w+, \w+, (HMN_\w+),", fields, re.M)):
        yield name, "src/model/fields.def"


def find_violations(root):
    header = parse_enumerators(root)
    rows = list(list_rows(root))
    names = [name for name, _ in rows]
    for name in header:
        if name not in names and name != "HMN_METRIC_UNKNOWN":
            kind = "fields" if PRESENCE.match(name) else "metrics" if name.startswith("HMN_METRIC_") else "enums"
            yield f"{name} of the header has no row in src/model/{kind}.def"
    for name, path in rows:
        if name not in header:
            yield f"{path}: {name} is not in the header"
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"src/model: {name} has two rows"


CLEAN = {
    "include/hypomnesis.h": "enum { HMN_RUN_STATE_UNKNOWN = 0, HMN_RUN_STATE_READY = 1 };\nenum { HMN_POOL_SIZE_V1 = 96 };\n"
                            "enum { HMN_METRIC_UNKNOWN = 0, HMN_METRIC_VOLTAGE = 28 };\n"
                            "#define HMN_POOL_HAS_FREE HMN_PRESENCE(1)\nenum { HMN_PATH_PROC = 1 };\n",
    "src/model/enums.def": '#define HMN_STATES(X) \\\n  X(unknown, HMN_RUN_STATE_UNKNOWN, "") \\\n  X(ready, HMN_RUN_STATE_READY, "")\n',
    "src/model/metrics.def": '#define HMN_METRICS(X) \\\n  X(voltage, VOLTAGE, "V", rails)\n',
    "src/model/fields.def": "#define HMN_POOL_FIELDS(X) \\\n  X(kind, kind, 0, pool_kind) \\\n"
                            "  X(free, free_bytes, HMN_POOL_HAS_FREE, std::optional<std::uint64_t>)\n",
}
PLANTED = [
    ({"src/model/enums.def": 'X(unknown, HMN_RUN_STATE_UNKNOWN, "")\n'}, "HMN_RUN_STATE_READY of the header has no row in src/model/enums"),
    ({"src/model/enums.def": 'X(a, HMN_RUN_STATE_UNKNOWN, "")\nX(b, HMN_RUN_STATE_READY, "")\nX(c, HMN_STATE_GONE, "")\n'},
     "HMN_STATE_GONE is not in the header"),
    ({"src/model/enums.def": 'X(a, HMN_RUN_STATE_UNKNOWN, "")\nX(b, HMN_RUN_STATE_READY, "")\nX(c, HMN_RUN_STATE_READY, "")\n'},
     "HMN_RUN_STATE_READY has two rows"),
    ({"src/model/metrics.def": ""}, "HMN_METRIC_VOLTAGE of the header has no row in src/model/metrics"),
    ({"src/model/fields.def": ""}, "HMN_POOL_HAS_FREE of the header has no row in src/model/fields"),
]
