# SPDX-License-Identifier: MIT OR Apache-2.0
"""abi.py BINDINGS: hypomnesis.hpp has every field and every constant of abi.json."""
import json
import pathlib
import re
import sys

# Sizes are sizeof; two flags are switched on by an optional, and there is one text.
UNNAMED_CONSTANTS = re.compile(r"HMN_\w+_SIZE_V\d+$")
NEVER_FIELDS = ("struct_size", "present", "reserved0")
OTHER_NAMES = {  # of an input's field in C++
    "hmn_context_options": {"deadline_ns": "deadline", "stale_ns": "stale", "open_deadline_ns": "open_deadline",
                            "max_age_ns": "max_age", "idle_close_ns": "idle_close",
                            "rescan_ns": "rescan"},
    "hmn_snapshot_options": {"deadline_ns": "deadline", "flags": None},
    "hmn_packing": {"flags": None}, "hmn_cache": {"flags": None}, "hmn_attention": {},
    "hmn_metric_key": {"id": None, "instance": None}, "hmn_tracker_options": {"flags": None},
    "hmn_spill_options": {"flags": None}, "hmn_spill_sample": {"flags": None},
    "hmn_sampler_options": {"interval_ns": "interval", "process_interval_ns": "process_interval"}}
TYPES = {"uint64_t": "std::uint64_t", "uint32_t": "std::uint32_t", "int64_t": "std::int64_t",
         "int32_t": "std::int32_t", "double": "double", "char": "std::string"}


def structs_of(text):
    """struct name -> field name -> type"""
    found = {}
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.M | re.S):
        body = re.sub(r"//[^\n]*", "", body)
        found[name] = {field: kind.strip() for kind, field in
                       re.findall(r"^\s*([\w:<>]+(?:<[\w:]+>)?)\s+(\w+)(?: = \w+|\{\})?;", body, re.M)}
    return found


def type_problem(what, field, kind):
    is_optional = kind.startswith("std::optional<")
    if bool(field["present"]) != is_optional:
        return f"{what} is {kind}"
    inner = re.sub(r"^std::optional<(.*)>$", r"\1", kind)
    expected = TYPES.get(field["type"])
    # Numbers with names are enumerations.
    if inner.startswith(("std::", "double")) and expected and inner != expected:
        return f"{what} is {kind}, and {field['type']} in C"
    if field["type"] in ("uint64_t", "int64_t", "double") and inner != expected:
        return f"{what} is {kind}, and {field['type']} in C"
    return None


def problems(text, abi):
    structs = structs_of(text)
    code = re.sub(r"//[^\n]*", "", text)
    for c_name, struct in abi["structs"].items():
        if c_name == "hmn_error":
            continue
        name = c_name.removeprefix("hmn_")
        fields = structs.get(name, {})
        for field in struct["fields"]:
            wanted = OTHER_NAMES.get(c_name, {}).get(field["name"], field["name"])
            if field["name"] in NEVER_FIELDS or wanted is None:
                continue
            if wanted not in fields:
                yield f"{name} has no {wanted}"
            elif c_name not in OTHER_NAMES:
                problem = type_problem(f"{name}.{wanted}", field, fields[wanted])
                if problem:
                    yield problem
    for constant in abi["constants"]:
        if not UNNAMED_CONSTANTS.match(constant) and not re.search(rf"\b{constant}\b", code):
            yield f"{constant} is not used"
    for function in abi["functions"]:
        if not re.search(rf"\b{function}\b", code):
            yield f"{function} is not called"


def self_test(text, abi):
    for old, new, expected in (
            ("std::optional<std::uint64_t> free_bytes;", "", "pool has no free_bytes"),
            ("std::optional<std::uint64_t> free_bytes;", "std::uint64_t free_bytes = 0;", "pool.free_bytes is"),
            ("std::optional<std::int64_t> memory_bytes;", "std::optional<std::uint64_t> memory_bytes;",
             "delta.memory_bytes is"),
            ("asleep = HMN_E_ASLEEP,", "", "HMN_E_ASLEEP is not used"),
            ("hmn_device_scan(", "hmn_device_scanned(", "hmn_device_scan is not called")):
        assert old in text, old
        found = list(problems(text.replace(old, new), abi))
        assert any(line.startswith(expected) for line in found), (expected, found)


def main():
    bindings = pathlib.Path(sys.argv[1])
    text = (bindings / "cpp/hypomnesis.hpp").read_text()
    abi = json.loads((bindings / "abi.json").read_text())
    self_test(text, abi)
    found = list(problems(text, abi))
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
