#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""coverage.py ROOT: each function of the header is called with NULL and from each table, each struct
is tried in every size, each status is expected by some suite, and each unit, name and default has a row in
the tables of meanings."""
import pathlib
import re
import sys

import header as headers
import history

# Statuses that no caller can cause.
UNREACHABLE = {"HMN_E_INTERNAL"}
# Functions without pointers, or with pointers that may be NULL.
POINTERLESS = {"hmn_version_number", "hmn_monotonic_ns", "hmn_version_string", "hmn_feature",
               "hmn_backend_available", "hmn_status_name", "hmn_backend_name", "hmn_reason_name", "hmn_metric_name", "hmn_metric_unit", "hmn_metric_instance_name",
               "hmn_format_bytes", "hmn_metric_next", "hmn_metric_kind", "hmn_dtype_bits", "hmn_dtype_name"}
INPUTS = {"hmn_context_options", "hmn_snapshot_options", "hmn_sampler_options",
          "hmn_spill_options", "hmn_spill_sample", "hmn_tracker_options", "hmn_packing", "hmn_attention",
          "hmn_cache", "hmn_metric_key", "hmn_reason_key", "hmn_error"}

# Fields whose names contain their unit, and constants that have a name.
UNITS = "_(bytes|ns|percent|celsius|watts|joules|mhz|rpm)$"
NAME_FUNCTIONS = {"HMN_E_|HMN_OK$": "status_name", "HMN_BACKEND_": "hmn_backend_name", "HMN_REASON_": "hmn_reason_name",
                  "HMN_DTYPE_": "hmn_dtype_name", "HMN_METRIC_": "", "HMN_ENGINE_": "", "HMN_SENSOR_": "", "HMN_POWER_READING_": "",
                  "HMN_POWER_LIMIT_": "", "HMN_CLOCK_": "", "HMN_RAIL_": "", "HMN_ERA_": "", "HMN_REMAPPED_": "", "HMN_THROTTLE_": ""}

# Defaults that no suite of the public interface measures, and the reasons.
GAPS = {("hmn_context_options", "rescan_percent"): "the share of a core cannot be measured precisely"}


def check_meanings(header, tests):
    semantics, defaults = tests["semantics_test.c"], tests["defaults_test.c"]
    for struct in header.structs.values():
        if struct.name in INPUTS:
            continue
        for field in struct.fields:
            row = rf"\b(UNIT|BETWEEN)\({struct.name.removeprefix('hmn_')}, {field.name},"
            if re.search(UNITS, field.name) and not re.search(row, semantics):
                yield f"semantics_test.c has no row of {struct.name}.{field.name}"
    for pattern, function in NAME_FUNCTIONS.items():
        for name in header.constants:
            row = rf"\b{name}\b" if not function else rf"{{{function}, (\(uint32_t\))?{name},"
            if re.match(pattern, name) and not re.search("_SIZE_V|_HAS_", name) and not re.search(row, semantics):
                yield f"semantics_test.c has no name of {name}"
    defaults_documented = {(struct.name, field.name): history.find_default(field.comment)
                           for struct in header.structs.values() for field in struct.fields}
    rows = {(struct, field): text
            for struct, field, text in re.findall(r'DEFAULT\((\w+), (\w+),\s*"([^"]*)"', defaults)}
    for (struct, field), text in defaults_documented.items():
        if text and (struct, field) not in GAPS and rows.get((struct, field)) != text:
            yield f"defaults_test.c tests {rows.get((struct, field))} for {struct}.{field}, the header says {text}"
    for struct, field in rows.keys() - {key for key, text in defaults_documented.items() if text}:
        yield f"defaults_test.c has a default of {struct}.{field}, the header has none"


def find_problems(root):
    header = headers.parse(root / "include/hypomnesis.h")
    tests = {path.name: path.read_text() for path in (root / "tests/abi").glob("*_test.c")}
    tables = (root / "tests/abi/support/calls.c").read_text()
    clients = "\n".join(path.read_text() for path in (root / "tests/abi/clients").glob("*.c"))
    everything = "\n".join([*tests.values(), tables])
    for name, function in header.functions.items():
        if f"{name}(" not in tests["null_test.c"] and name not in POINTERLESS:
            yield f"null_test.c does not call {name}"
        if f"{name}(" not in clients:
            yield f"no client in tests/abi/clients calls {name}"
        types = [p.type for p in function.parameters if p.type[:-2] in header.structs]
        if any(not t.startswith("const") and t[:-2] not in INPUTS for t in types):
            row = name.removeprefix("hmn_")
            if not re.search(rf"ROW\({row},", tables):
                yield f"support/calls.c has no row of {name}"
        if any(p.name == "buffer" for p in function.parameters) and f'"{name}"' not in tables:
            yield f"support/calls.c has no text row of {name}"
    yield from check_meanings(header, tests)
    for name in header.structs:
        if f"{name.upper()}_SIZE_V1" not in everything:
            yield f"no suite tries the sizes of {name}"
    for name in header.constants:
        if re.match("HMN_E_", name) and name not in UNREACHABLE:
            expected = rf"(?:assert_\w+|REFUSED|CHECK_STATUS)\([^;]*\b{name}\b|\{{[^}}]*\b{name}\b"
            if not re.search(expected, everything.replace(f"NAMED({name})", "")):
                yield f"no suite expects {name}"


def main():
    problems = list(find_problems(pathlib.Path(sys.argv[1])))
    for problem in problems:
        print(f"coverage: {problem}", file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
