#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""consistency.py ROOT: the header, the map, the export list, the registries, the frozen layouts and
the changelog agree, in both directions. Prints each disagreement and fails if there is one."""
import pathlib
import re
import sys

import header as headers

REGISTRIES = {"status-codes": "HMN_OK|HMN_E_", "backends": "HMN_BACKEND_", "paths": "HMN_PATH_",
              "native-domains": "HMN_NATIVE_", "texts": "HMN_TEXT_",
              "metrics": "HMN_METRIC_", "dtypes": "HMN_DTYPE_"}
# Types that a plain foreign function interface can express.
PARAMETER_TYPES = {"uint32_t", "uint64_t", "hmn_flags", "hmn_fields", "hmn_status", "const char *", "char *",
                   "uint32_t *", "uint64_t *", "int64_t *", "const uint64_t *", "hmn_error *"}
RESULT_TYPES = {"hmn_status", "void", "uint32_t", "uint64_t", "const char *"}
INPUTS = {"hmn_context_options", "hmn_snapshot_options", "hmn_sampler_options",
          "hmn_spill_options", "hmn_spill_sample", "hmn_tracker_options", "hmn_packing", "hmn_attention",
          "hmn_cache", "hmn_metric_key", "hmn_reason_key"}
# Fields that need no comment: those of every struct, and those whose names end with a unit.
UNITS = ("^struct_size$|^reserved[0-9]$|"
         "_(bytes|ns|ms|mhz|percent|celsius|watts|joules|rpm|count|index)$")
# Parameters that are described at the top of the header.
EXPLAINED = {"out", "error", "buffer", "capacity", "needed", "device_index", "position", "fields"}


def find_differences(kind, left, left_name, right, right_name):
    for name in sorted(set(left) - set(right)):
        yield f"{kind} {name} is in {left_name} and not in {right_name}"
    for name in sorted(set(right) - set(left)):
        yield f"{kind} {name} is in {right_name} and not in {left_name}"


def read_map(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    return {node: re.findall(r"(\w+);", body.split("local:")[0])
            for node, body in re.findall(r"(HMN_[\d.]+)\s*\{(.*?)\}", text, re.S)}


def read_registry(path):
    rows = [line.split(maxsplit=3) for line in path.read_text().splitlines()
            if line.strip() and not line.startswith("#")]
    return [(int(number), name, since, meaning) for number, name, since, meaning in rows]


def check_exports(header, abi):
    nodes = read_map(abi / "hypomnesis.map")
    map_names = [name for names in nodes.values() for name in names]
    yield from find_differences("function", header.functions, "the header", map_names, "hypomnesis.map")
    for name in sorted({name for name in map_names if map_names.count(name) > 1}):
        yield f"function {name} is listed twice in hypomnesis.map"
    versioned = [f"{name}@@{node}" for node, names in nodes.items() for name in names]
    exports = (abi / "exports.txt").read_text().split()
    yield from find_differences("export", versioned, "hypomnesis.map", exports, "exports.txt")
    major, minor, _ = header.version.split(".")
    if major == "0" and list(nodes) != [f"HMN_0.{minor}"]:
        yield f"the only node of {header.version} must be HMN_0.{minor}, not {', '.join(nodes)}"
    elif major != "0":
        for node in nodes:
            if not re.fullmatch(rf"HMN_{major}\.\d+", node) or int(node.split(".")[1]) > int(minor):
                yield f"the node {node} is of no version up to {header.version}: nodes are HMN_{major}.0 to HMN_{major}.{minor}"


def check_registry(header, path, pattern):
    rows = read_registry(path)
    declared = {name: value for name, value in header.constants.items()
                if re.match(pattern, name) and not re.search("_SIZE_V|_HAS_", name)}
    registered = {name: number for number, name, since, _ in rows if since != "reserved"}
    yield from find_differences("constant", declared, "the header", registered, path.name)
    for name in declared.keys() & registered.keys():
        if declared[name] != registered[name]:
            yield f"{name} is {declared[name]} in the header and {registered[name]} in {path.name}"
    for column, kind in ((0, "number"), (1, "name")):
        values = [row[column] for row in rows]
        for value in sorted({value for value in values if values.count(value) > 1}):
            yield f"{path.name} uses the {kind} {value} twice"
    for _, name, _, meaning in rows:
        if name in declared and header.meanings.get(name, meaning) != meaning:
            yield f"{name} means '{header.meanings[name]}' in the header, '{meaning}' in {path.name}"


def check_structs(header):
    for struct in header.structs.values():
        sizes = {name: value for name, value in header.constants.items()
                 if re.fullmatch(struct.name.upper() + r"_SIZE_V\d+", name)}
        if not sizes or max(sizes.values()) != struct.size:
            yield f"{struct.name} has {struct.size} bytes and no size constant of that value"
        for name, value in sizes.items():
            if value % 8 or value > 65536:
                yield f"{name} is {value}: not a multiple of 8, or above 64 KiB"
        default_fields = ["flags"] if struct.name in INPUTS else ["notes", "present"]
        special = {"hmn_error": ["status"], "hmn_metric_key": ["id"], "hmn_reason_key": ["subject"]}
        expected = ["struct_size", *special.get(struct.name, default_fields)]
        first = [field.name for field in struct.fields[:len(expected)]]
        if first != expected:
            yield f"{struct.name} begins with {first}, not with {expected}"
        end = 0
        for field in struct.fields:
            if field.offset != end:
                yield f"{struct.name} has padding before {field.name}"
            end = field.offset + field.size
    for name, value in header.constants.items():
        if not -2**31 <= value < 2**31 and name not in header.presence:
            yield f"{name} does not fit an int, as C89 requires"


def check_signatures(header):
    names = [*header.structs, *header.handles]
    pointers = {f"{const}{name} *" for name in names for const in ("", "const ")}
    pointers |= {f"{name} **" for name in header.handles}
    for function in header.functions.values():
        if function.result not in RESULT_TYPES:
            yield f"{function.name} returns {function.result}, which not every language can take"
        for parameter in function.parameters:
            if parameter.type not in PARAMETER_TYPES | pointers:
                yield f"{function.name} takes {parameter.type} {parameter.name}"
        if function.name in names:
            yield f"{function.name} is named like a type"
        last = [parameter.name for parameter in function.parameters[-1:]]
        if any(parameter.type == "hmn_error *" for parameter in function.parameters) and last != ["error"]:
            yield f"{function.name} does not take its error last"


def check_names(header):
    """Checks that names follow from parameters, and that only snapshots are const."""
    for function in header.functions.values():
        parameters = [parameter.name for parameter in function.parameters]
        if ("position" in parameters) != function.name.endswith("_at"):
            yield f"{function.name}: a function of a position, and no other, ends with _at"
        if "position" not in parameters and "device_index" in parameters and \
                function.name.startswith("hmn_snapshot_") and not re.match(r"hmn_snapshot_(find_|reason$)", function.name):
            yield f"{function.name}: a function of a snapshot and a device_index is named hmn_snapshot_find_"
        for parameter in function.parameters:
            name = parameter.type.removeprefix("const ").removesuffix(" *")
            if name in header.handles and parameter.type.startswith("const ") and name != "hmn_snapshot":
                yield f"{function.name} takes a const {name}"


def check_since(header):
    comments = {**{name: function.comment for name, function in header.functions.items()},
                **{name: struct.comment for name, struct in header.structs.items()}}
    for name, comment in comments.items():
        since = re.search(r"@since (\d+)\.(\d+)$", comment)
        if not since:
            yield f"{name} has no @since"
        elif [int(part) for part in since.groups()] > [int(p) for p in header.version.split(".")[:2]]:
            yield f"{name} is newer than the header"
    for name, function in header.functions.items():
        if function.is_deprecated != ("@deprecated" in function.comment):
            yield f"{name} needs both HMN_DEPRECATED and @deprecated, or neither"


def check_fields(header):
    for struct in header.structs.values():
        for field in struct.fields:
            if not field.comment and not re.search(UNITS, field.name):
                yield f"{struct.name}.{field.name} has neither a comment nor its unit in its name"
    for enumeration in header.enumerations:
        if not enumeration.comment and not re.search("_SIZE_V|_HAS", enumeration.members[0].name):
            yield f"the enumeration of {enumeration.members[0].name} has no comment"


def check_presence(header):
    for name, value in header.constants.items():
        bit = re.fullmatch(r"(HMN_\w+?)_HAS_(\w+)", name)
        if not bit:
            continue
        struct = header.structs.get(bit[1].lower())
        if not struct:
            yield f"{name} belongs to no struct"
            continue
        names = [field.name for field in struct.fields]
        if not 0 < value < 1 << 64:
            yield f"{name} is not one of bits 0 to 63"
        elif not header.meanings.get(name) and not any(field_name.startswith(bit[2].lower()) for field_name in names):
            yield f"{name} names no field and has no comment"


def check_parameters(header):
    types = {f"{const}{name} *" for name in [*header.structs, *header.handles] for const in ("", "const ")}
    for name, function in header.functions.items():
        pages = " ".join(header.functions[function_name].comment
                         for function_name in [name, *re.findall(r"\bas (hmn_\w+)", function.comment)]
                         if function_name in header.functions)
        for parameter in function.parameters:
            pattern = rf"\b{parameter.name}\b|\bHMN_{parameter.name.upper()}_\*"
            if parameter.name not in EXPLAINED and parameter.type not in types and not re.search(pattern, pages):
                yield f"{name} does not describe {parameter.name}"


def check_macros(text):
    for name in re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M):
        if not name.startswith("HMN_"):
            yield f"the macro {name} does not begin with HMN_"
    for name in re.findall(r"^\s*#\s*include\s+(\S+)", text, re.M):
        if name != "<stdint.h>":
            yield f"the header includes {name}"
    for attribute in re.findall(r"#\s*pragma\s+(\w+)|_Pragma|__pragma|\b_?[Aa]lignas\b|\bpacked\b|\baligned\b",
                                re.sub(r"/\*.*?\*/", "", text, flags=re.S)):
        yield (f"the header packs or aligns its structs ({attribute or 'an attribute'}): "
               f"every compiler must lay them out alike")


def check_layouts(header, layouts):
    text = "\n".join(path.read_text() for path in layouts)
    asserted = {kind: re.findall(rf"^\s*{kind}\((\w+),", text, re.M)
                for kind in ("SIZE", "NUMBER", "FUNCTION")}
    fields = {f"{struct}.{field}"
              for struct, field in re.findall(r"^\s*(?:FIELD|TEXT)\((\w+), (\w+),", text, re.M)}
    yield from find_differences("struct", header.structs, "the header", asserted["SIZE"], "the layouts")
    yield from find_differences("constant", header.constants, "the header", asserted["NUMBER"], "the layouts")
    yield from find_differences("function", header.functions, "the header", asserted["FUNCTION"], "the layouts")
    declared = {f"{struct.name}.{field.name}" for struct in header.structs.values() for field in struct.fields}
    yield from find_differences("field", declared, "the header", fields, "the layouts")


def list_names(header):
    return {*header.functions, *header.structs,
            *(name for name in header.constants if name.startswith("HMN_E_"))}


def check_changelog(header, changelog, frozen):
    text = changelog.read_text()
    changelog_names = set(re.findall(r"\b(?:hmn|HMN_E)_\w+\b(?!\*)", text))
    major_minor = ".".join(header.version.split(".")[:2])
    if not re.search(rf"^## \[?(?:{re.escape(header.version)}|Unreleased)\]?", text, re.M):
        yield f"the changelog has no heading for {header.version}"
    old_headers = [headers.parse(path) for path in frozen]
    old_names = set().union(*(list_names(old) for old in old_headers))
    for name in sorted(list_names(header) - old_names - changelog_names):
        yield f"{name} is new in {major_minor} and not in the changelog"
    newest = list_names(old_headers[-1])
    for name in sorted(newest - list_names(header)):
        if not header.version.startswith("0."):
            yield f"{name} is gone: that breaks clients of {old_headers[-1].version}"
        elif name not in changelog_names:
            yield f"{name} is gone, and the changelog does not mention it"
    for name in sorted(changelog_names - old_names - list_names(header)):
        yield f"the changelog names {name}, which no header has"


def find_problems(root):
    path, abi = root / "include/hypomnesis.h", root / "abi"
    header = headers.parse(path)
    yield from check_exports(header, abi)
    for name, pattern in REGISTRIES.items():
        yield from check_registry(header, abi / name, pattern)
    yield from check_structs(header)
    yield from check_signatures(header)
    yield from check_names(header)
    yield from check_since(header)
    yield from check_fields(header)
    yield from check_presence(header)
    yield from check_parameters(header)
    yield from check_macros(path.read_text())
    yield from check_layouts(header, sorted((root / "tests/abi").glob("layout_v*.c")))
    frozen = sorted((abi / "headers").glob("*/hypomnesis.h"),
                    key=lambda path: [int(part) for part in path.parent.name.split(".")])
    if not frozen:
        yield "abi/headers contains no released header"
    else:
        yield from check_changelog(header, root / "CHANGELOG.md", frozen)


def main():
    problems = list(find_problems(pathlib.Path(sys.argv[1])))
    for problem in problems:
        print(f"consistency: {problem}", file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
