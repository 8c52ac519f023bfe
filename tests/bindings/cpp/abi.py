# SPDX-License-Identifier: MIT OR Apache-2.0
"""abi.py BINDINGS: hypomnesis.hpp has every field and every constant of abi.json."""
import json
import pathlib
import re
import sys

# Struct sizes are sizeof in C++.
UNNAMED_CONSTANTS = re.compile(r"HMN_\w+_SIZE_V\d+$")
HIDDEN_FIELDS = ("struct_size", "present", "reserved0")
CPP_NAMES = {  # names of input fields in C++
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


def parse_structs(text):
    """Returns struct name -> field name -> type."""
    structs = {}
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.M | re.S):
        body = re.sub(r"//[^\n]*", "", body)
        fields = re.findall(r"^\s*([\w:<>]+(?:<[\w:]+>)?)\s+(\w+)(?: = \w+|\{\})?;", body, re.M)
        structs[name] = {field: kind.strip() for kind, field in fields}
    return structs


def find_type_problem(member, field, kind):
    is_optional = kind.startswith("std::optional<")
    if bool(field["present"]) != is_optional:
        return f"{member} is {kind}"
    inner = re.sub(r"^std::optional<(.*)>$", r"\1", kind)
    expected = TYPES.get(field["type"])
    # Numbers with names are enumerations.
    if inner.startswith(("std::", "double")) and expected and inner != expected:
        return f"{member} is {kind}, and {field['type']} in C"
    if field["type"] in ("uint64_t", "int64_t", "double") and inner != expected:
        return f"{member} is {kind}, and {field['type']} in C"
    return None


def find_problems(text, abi):
    structs = parse_structs(text)
    code = re.sub(r"//[^\n]*", "", text)
    for c_name, struct in abi["structs"].items():
        if c_name == "hmn_error":
            continue
        name = c_name.removeprefix("hmn_")
        fields = structs.get(name, {})
        for field in struct["fields"]:
            cpp_name = CPP_NAMES.get(c_name, {}).get(field["name"], field["name"])
            if field["name"] in HIDDEN_FIELDS or cpp_name is None:
                continue
            if cpp_name not in fields:
                yield f"{name} has no {cpp_name}"
            elif c_name not in CPP_NAMES:
                problem = find_type_problem(f"{name}.{cpp_name}", field, fields[cpp_name])
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
        problems = list(find_problems(text.replace(old, new), abi))
        assert any(line.startswith(expected) for line in problems), (expected, problems)


def main():
    bindings = pathlib.Path(sys.argv[1])
    text = (bindings / "cpp/hypomnesis.hpp").read_text()
    abi = json.loads((bindings / "abi.json").read_text())
    self_test(text, abi)
    problems = list(find_problems(text, abi))
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
