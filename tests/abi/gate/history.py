#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""history.py ROOT: files frozen under abi/ are unchanged. Every frozen header, export list and baseline of this soname is
compared with the current one, which may only have grown. Prints one sentence for each break."""
import hashlib
import pathlib
import re
import sys
import xml.etree.ElementTree

import header as headers

def parse_version(version):
    return [int(part) for part in version.split(".")]


def frozen_versions(root):
    names = {path.name for kind in ("headers", "baselines") for path in (root / "abi" / kind).iterdir()}
    return sorted(names, key=parse_version)


def list_files(root, version):
    """Returns the files that a release freezes, relative to root."""
    suffix = version.replace(".", "_")
    names = [f"abi/headers/{version}/hypomnesis.h", f"abi/baselines/{version}/x86_64.abi",
             f"abi/baselines/{version}/exports.txt", f"tests/abi/layout_v{suffix}.c",
             f"tests/abi/clients/client_v{suffix}.c"]
    return [name for name in names if (root / name).exists()]


def digest(path):
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def read_released(root):
    lines = [line.split() for line in (root / "abi/released").read_text().splitlines()
             if line and not line.startswith("#")]
    return {name: hash_ for hash_, name in lines}


def check_released(root, versions, now):
    released = read_released(root)
    for name, recorded in released.items():
        path = root / name
        if not path.exists():
            yield f"{name} is gone: it was released and has clients"
        elif digest(path) != recorded:
            yield f"{name} was released and differs from abi/released: restore it"
    for version in versions:
        released_names = [name for name in list_files(root, version) if name in released]
        if parse_version(version) > parse_version(now):
            yield f"abi/ contains {version}, which is newer than the header, {now}"
        elif version != now and not released_names:
            yield f"{version} is older than {now} and not in abi/released"
        if released_names:
            yield from (f"{name} is not in abi/released, as the rest of {version} is"
                        for name in list_files(root, version) if name not in released)


# ---- the header ----


def format_type(field):
    return field.type + (f"[{field.count}]" if field.count else "")


def compare_struct(old, new, since):
    new_fields = {field.name: field for field in new.fields}
    for position, old_field in enumerate(old.fields):
        name = f"{old.name}.{old_field.name}"
        new_field = new_fields.get(old_field.name)
        if new_field is None:
            yield f"{name} is gone: clients of {since} read it"
        elif format_type(new_field) != format_type(old_field):
            yield (f"{name} is {format_type(new_field)} and was {format_type(old_field)} in {since}: "
                   f"a field never changes, append another")
        elif new_field.offset != old_field.offset:
            yield (f"{name} moved from offset {old_field.offset} in {since} to {new_field.offset}: "
                   f"clients of {since} read another value")
        elif new.fields[position].name != old_field.name:
            yield f"{name} is no longer field {position + 1} of its struct, as in {since}"


def find_appended_fields(old, new):
    """Returns the fields that new has after those of old."""
    return new.fields[len(old.fields):] if old else []


def check_growth(struct, fields, header, old_header):
    """Checks that a field appended to a result has a presence bit: an older library leaves it zero."""
    if not any(field.name == "present" for field in struct.fields):
        return
    bits = [name for name in header.constants
            if re.match(rf"{struct.name.upper()}_HAS_", name) and name not in old_header.constants]
    for field in fields:
        matching_bits = [bit for bit in bits
                         if field.name.startswith(re.sub(r".*_HAS_", "", bit).lower())
                         or re.search(rf"\b{field.name}\b", header.meanings.get(bit, ""))]
        if not matching_bits and not re.fullmatch(r"reserved\d", field.name):
            yield (f"{struct.name}.{field.name} is new and has no presence bit: a client would take the zero of an "
                   f"older library for a value")


def find_default(comment):
    """Returns the default in the comment of an input field."""
    match = re.search(r"\b0 = ([^.;:]+)", comment)
    return match and " ".join(match[1].split())


# Units in comments.
UNITS = re.compile(r"\b(?:bytes?|bits?|[KMG]iB|%|percent|(?:nano|micro|milli)?seconds?|Celsius|watts?|joules?|RPM|[MG]Hz|[WJ])(?!\w)|%")


def collect_facts(comment):
    """Returns the facts of a comment that a caller relies on; scripts/release shows other changes to a person."""
    return {"statuses": sorted(set(re.findall(r"HMN_E_\w+", comment))),
            "defaults": [" ".join(text.split()) for text in re.findall(r"\b0 (?:=|means) ([^.;:(]+)", comment)],
            "units": sorted({re.sub(r"(?<=\w\w)s$", "", unit) for unit in UNITS.findall(comment)}),
            "@since": re.findall(r"@since ([\d.]+)", comment)}


def compare_facts(name, old_comment, new_comment, since, kinds=("statuses", "defaults", "units", "@since")):
    before, after = collect_facts(old_comment), collect_facts(new_comment)
    for kind in kinds:
        if before[kind] != after[kind]:
            yield (f"the {kind} of {name}: {', '.join(before[kind]) or 'none'} in {since}, {', '.join(after[kind]) or 'none'} "
                   f"now: a meaning never changes")


def compare_functions(old, new, since):
    for name, old_function in old.functions.items():
        new_function = new.functions.get(name)
        if new_function is None:
            if not old_function.is_deprecated:
                yield f"{name} is gone from the header, and {since} did not deprecate it"
            continue
        if new_function.result != old_function.result:
            yield f"{name} returns {new_function.result} and returned {old_function.result} in {since}"
        yield from compare_facts(name, old_function.comment, new_function.comment, since)
        new_parameters, old_parameters = ([f"{p.type} {p.name}" for p in function.parameters]
                                          for function in (new_function, old_function))
        if new_parameters != old_parameters:
            yield (f"{name} takes ({', '.join(new_parameters)}) and took ({', '.join(old_parameters)}) in {since}: "
                   f"callers of {since} pass wrong arguments")


def compare_headers(old, new, since):
    for name, old_struct in old.structs.items():
        if name not in new.structs:
            yield f"{name} is gone: clients of {since} use it"
            continue
        yield from compare_struct(old_struct, new.structs[name], since)
        yield from check_growth(new.structs[name], find_appended_fields(old_struct, new.structs[name]), new, old)
        yield from compare_facts(name, old_struct.comment, new.structs[name].comment, since)
        for field in old_struct.fields:
            old_default = find_default(field.comment)
            new_fields = [new_field for new_field in new.structs[name].fields if new_field.name == field.name]
            if new_fields:
                yield from compare_facts(f"{name}.{field.name}", field.comment, new_fields[0].comment, since,
                                         ("units",))
            if old_default and new_fields and find_default(new_fields[0].comment) != old_default:
                yield (f"the default of {name}.{field.name} was \"{old_default}\" in {since} and is "
                       f"\"{find_default(new_fields[0].comment)}\": a meaning never changes")
    for name, old_meaning in old.meanings.items():
        if name in new.meanings:
            yield from compare_facts(name, old_meaning, new.meanings[name], since, ("units",))
    for label, before, after in (("constant", old.constants, new.constants), ("macro", old.macros, new.macros),
                                 ("typedef", old.typedefs, new.typedefs)):
        for name, value in before.items():
            if name not in after:
                yield f"the {label} {name} is gone: clients of {since} use it"
            elif after[name] != value:
                yield f"the {label} {name} is {after[name]} and was {value} in {since}: a number keeps its meaning"
    yield from (f"the handle {name} of {since} is gone" for name in old.handles if name not in new.handles)
    yield from compare_functions(old, new, since)


# ---- symbols ----


def read_exports(path):
    return dict(line.split("@@") for line in path.read_text().split())


def compare_exports(old, new, since, now):
    for name, node in old.items():
        if name not in new:
            yield f"{name} is no longer exported: a program linked with {since} does not start"
        elif new[name] != node:
            yield (f"{name} is in {new[name]} and was in {node} in {since}: a program linked with {since} finds no "
                   f"{name}@{node} and does not start")
    closed = set(old.values())
    if since != now:
        for name in sorted(new.keys() - old.keys()):
            if new[name] in closed:
                yield (f"{name} is new and in {new[name]}, which {since} closed: a program that needs it would start "
                       f"with a library of {since}, and stop at the call")


# ---- the library, as libabigail reads it ----


def read_baseline(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    types = {element.get("id"): element for element in root.iter() if element.get("id")}

    def type_name(id_):
        element = types.get(id_)
        if element is None:
            return "?"
        kind = element.tag
        if kind == "pointer-type-def":
            return f"{type_name(element.get('type-id'))} *"
        if kind == "qualified-type-def":
            return f"const {type_name(element.get('type-id'))}"
        if kind == "array-type-def":
            return f"{type_name(element.get('type-id'))}[{element.find('subrange').get('length')}]"
        return element.get("name") or kind

    structs = {element.get("name"): [(member.find("var-decl").get("name"), int(member.get("layout-offset-in-bits")) // 8,
                                      type_name(member.find("var-decl").get("type-id")))
                                     for member in element.findall("data-member")]
               for element in root.iter("class-decl")
               if (element.get("name") or "").startswith("hmn_") and element.find("data-member") is not None}
    functions = {element.get("elf-symbol-id"): [type_name(part.get("type-id")) for part in element
                                                if part.tag in ("parameter", "return")]
                 for element in root.iter("function-decl") if element.get("elf-symbol-id")}
    return structs, functions


def compare_baselines(old, new, since):
    """Compares baselines; abi.abidiff compares the newest one with the library."""
    for name, members in old[0].items():
        if new[0].get(name, [])[:len(members)] != members:
            yield f"the library's {name} does not begin like that of {since}"
    for name, types in old[1].items():
        if new[1].get(name) != types:
            yield f"the library's {name} does not take and return the same types as that of {since}"


def find_problems(root):
    header = headers.parse(root / "include/hypomnesis.h")
    now = ".".join(header.version.split(".")[:2])
    versions = frozen_versions(root)
    yield from check_released(root, versions, now)
    if now not in versions:
        yield f"abi/ contains no header of {now}: run scripts/abi-baseline"
        return
    exports = read_exports(root / "abi/exports.txt")
    newest = read_baseline(root / f"abi/baselines/{now}/x86_64.abi")
    for version in versions:
        if headers.soversion(version) != header.soversion:
            continue
        frozen = headers.parse(root / f"abi/headers/{version}/hypomnesis.h")
        if ".".join(frozen.version.split(".")[:2]) != version:
            yield f"abi/headers/{version} is the header of {frozen.version}"
        frozen_exports = read_exports(root / f"abi/baselines/{version}/exports.txt")
        yield from compare_headers(frozen, header, version)
        yield from compare_exports(frozen_exports, exports, version, now)
        if version == now:
            for label, left, right in (("functions", exports, frozen_exports),
                                       ("constants", header.constants, frozen.constants), ("structs", header.structs, frozen.structs)):
                for name in left.keys() - right.keys():
                    yield f"{name} is not in the frozen {label} of {now}: run scripts/abi-baseline"
        else:
            yield from compare_baselines(read_baseline(root / f"abi/baselines/{version}/x86_64.abi"), newest, version)


def main():
    problems = list(dict.fromkeys(find_problems(pathlib.Path(sys.argv[1]))))
    for problem in problems:
        print(f"history: {problem}", file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
