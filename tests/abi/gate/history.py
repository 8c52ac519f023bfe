#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""history.py ROOT: what was frozen under abi/ holds still. Every frozen header, export list and baseline of this soname
is compared with what there is now: it may only have grown. Prints one sentence for each break."""
import hashlib
import pathlib
import re
import sys
import xml.etree.ElementTree

import header as headers

def number(version):
    return [int(part) for part in version.split(".")]


def frozen_versions(root):
    names = {path.name for kind in ("headers", "baselines") for path in (root / "abi" / kind).iterdir()}
    return sorted(names, key=number)


def files_of(root, version):
    """What a release freezes, relative to root."""
    word = version.replace(".", "_")
    wanted = [f"abi/headers/{version}/hypomnesis.h", f"abi/baselines/{version}/x86_64.abi",
              f"abi/baselines/{version}/exports.txt", f"tests/abi/layout_v{word}.c",
              f"tests/abi/clients/client_v{word}.c"]
    return [name for name in wanted if (root / name).exists()]


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
            yield f"{name} is gone: it was released, and clients of it are out there"
        elif digest(path) != recorded:
            yield f"{name} was released and is not what abi/released records: restore it"
    for version in versions:
        kept = [name for name in files_of(root, version) if name in released]
        if number(version) > number(now):
            yield f"abi/ holds {version}, which is newer than the header, {now}"
        elif version != now and not kept:
            yield f"{version} is older than {now} and not in abi/released"
        if kept:
            yield from (f"{name} is not in abi/released, as the rest of {version} is"
                        for name in files_of(root, version) if name not in released)


# ---- the header ----


def type_of(field):
    return field.type + (f"[{field.count}]" if field.count else "")


def compare_struct(old, new, since):
    places = {field.name: field for field in new.fields}
    for position, was in enumerate(old.fields):
        name = f"{old.name}.{was.name}"
        now = places.get(was.name)
        if now is None:
            yield f"{name} is gone: clients of {since} read it"
        elif type_of(now) != type_of(was):
            yield f"{name} is {type_of(now)} and was {type_of(was)} in {since}: a field never changes, append another"
        elif now.offset != was.offset:
            yield f"{name} moved from offset {was.offset} in {since} to {now.offset}: clients of {since} read another value"
        elif new.fields[position].name != was.name:
            yield f"{name} is no longer field {position + 1} of its struct, as in {since}"


def grown(old, new):
    """The fields that new has behind those of old."""
    return new.fields[len(old.fields):] if old else []


def check_growth(struct, fields, header, known):
    """A field that is appended to a result has a presence bit, or an older library's zero would be a value."""
    if not any(field.name == "present" for field in struct.fields):
        return
    bits = [name for name in header.constants
            if re.match(rf"{struct.name.upper()}_HAS_", name) and name not in known.constants]
    for field in fields:
        named = [bit for bit in bits
                 if field.name.startswith(re.sub(r".*_HAS_", "", bit).lower())
                 or re.search(rf"\b{field.name}\b", header.meanings.get(bit, ""))]
        if not named and not re.fullmatch(r"reserved\d", field.name):
            yield (f"{struct.name}.{field.name} is new and has no presence bit: where an older library leaves it zero, "
                   f"a client takes the zero for a value")


def default_of(comment):
    """The default that the comment of an input field documents."""
    found = re.search(r"\b0 = ([^.;:]+)", comment)
    return found and " ".join(found[1].split())


# Words by which a comment says in what a number is counted.
UNITS = re.compile(r"\b(?:bytes?|bits?|[KMG]iB|%|percent|(?:nano|micro|milli)?seconds?|Celsius|watts?|joules?|RPM|[MG]Hz|[WJ])(?!\w)|%")


def facts(comment):
    """What a caller relies on in a comment; the rest is wording, which scripts/release shows to a person."""
    return {"statuses": sorted(set(re.findall(r"HMN_E_\w+", comment))),
            "defaults": [" ".join(text.split()) for text in re.findall(r"\b0 (?:=|means) ([^.;:(]+)", comment)],
            "units": sorted({re.sub(r"(?<=\w\w)s$", "", unit) for unit in UNITS.findall(comment)}),
            "@since": re.findall(r"@since ([\d.]+)", comment)}


def compare_facts(name, was, now, since, kinds=("statuses", "defaults", "units", "@since")):
    before, after = facts(was), facts(now)
    for kind in kinds:
        if before[kind] != after[kind]:
            yield (f"the {kind} of {name}: {', '.join(before[kind]) or 'none'} in {since}, {', '.join(after[kind]) or 'none'} "
                   f"now: a meaning never changes")


def compare_functions(old, new, since):
    for name, was in old.functions.items():
        now = new.functions.get(name)
        if now is None:
            if not was.is_deprecated:
                yield f"{name} is gone from the header, and {since} did not deprecate it"
            continue
        if now.result != was.result:
            yield f"{name} returns {now.result} and returned {was.result} in {since}"
        yield from compare_facts(name, was.comment, now.comment, since)
        takes, took = ([f"{p.type} {p.name}" for p in function.parameters] for function in (now, was))
        if takes != took:
            yield (f"{name} takes ({', '.join(takes)}) and took ({', '.join(took)}) in {since}: callers of {since} pass "
                   f"one in the other's place")


def compare_headers(old, new, since):
    for name, was in old.structs.items():
        if name not in new.structs:
            yield f"{name} is gone: clients of {since} have it"
            continue
        yield from compare_struct(was, new.structs[name], since)
        yield from check_growth(new.structs[name], grown(was, new.structs[name]), new, old)
        yield from compare_facts(name, was.comment, new.structs[name].comment, since)
        for field in was.fields:
            documented = default_of(field.comment)
            now = [each for each in new.structs[name].fields if each.name == field.name]
            if now:
                yield from compare_facts(f"{name}.{field.name}", field.comment, now[0].comment, since, ("units",))
            if documented and now and default_of(now[0].comment) != documented:
                yield (f"the default of {name}.{field.name} was \"{documented}\" in {since} and is "
                       f"\"{default_of(now[0].comment)}\": a meaning never changes")
    for name, was in old.meanings.items():
        if name in new.meanings:
            yield from compare_facts(name, was, new.meanings[name], since, ("units",))
    for what, before, after in (("constant", old.constants, new.constants), ("macro", old.macros, new.macros),
                                ("typedef", old.typedefs, new.typedefs)):
        for name, value in before.items():
            if name not in after:
                yield f"the {what} {name} is gone: clients of {since} use it"
            elif after[name] != value:
                yield f"the {what} {name} is {after[name]} and was {value} in {since}: a number keeps its meaning"
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


# ---- what libabigail read from the library ----


def read_baseline(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    types = {element.get("id"): element for element in root.iter() if element.get("id")}

    def word(id_):
        element = types.get(id_)
        if element is None:
            return "?"
        kind = element.tag
        if kind == "pointer-type-def":
            return f"{word(element.get('type-id'))} *"
        if kind == "qualified-type-def":
            return f"const {word(element.get('type-id'))}"
        if kind == "array-type-def":
            return f"{word(element.get('type-id'))}[{element.find('subrange').get('length')}]"
        return element.get("name") or kind

    structs = {element.get("name"): [(member.find("var-decl").get("name"), int(member.get("layout-offset-in-bits")) // 8,
                                      word(member.find("var-decl").get("type-id")))
                                     for member in element.findall("data-member")]
               for element in root.iter("class-decl")
               if (element.get("name") or "").startswith("hmn_") and element.find("data-member") is not None}
    functions = {element.get("elf-symbol-id"): [word(part.get("type-id")) for part in element
                                                if part.tag in ("parameter", "return")]
                 for element in root.iter("function-decl") if element.get("elf-symbol-id")}
    return structs, functions


def compare_baselines(old, new, since):
    """The newest baseline is that of the library: abi.abidiff compares them."""
    for name, members in old[0].items():
        if new[0].get(name, [])[:len(members)] != members:
            yield f"the library's {name} does not begin as the one of {since}"
    for name, types in old[1].items():
        if new[1].get(name) != types:
            yield f"the library's {name} does not take and return what that of {since} does"


def check(root):
    header = headers.parse(root / "include/hypomnesis.h")
    now = ".".join(header.version.split(".")[:2])
    versions = frozen_versions(root)
    yield from check_released(root, versions, now)
    if now not in versions:
        yield f"abi/ holds no header of {now}: run scripts/abi-baseline"
        return
    exports = read_exports(root / "abi/exports.txt")
    newest = read_baseline(root / f"abi/baselines/{now}/x86_64.abi")
    for version in versions:
        if headers.soversion(version) != header.soversion:
            continue
        frozen = headers.parse(root / f"abi/headers/{version}/hypomnesis.h")
        if ".".join(frozen.version.split(".")[:2]) != version:
            yield f"abi/headers/{version} is the header of {frozen.version}"
        listed = read_exports(root / f"abi/baselines/{version}/exports.txt")
        yield from compare_headers(frozen, header, version)
        yield from compare_exports(listed, exports, version, now)
        if version == now:
            for what, left, right in (("functions", exports, listed), ("constants", header.constants, frozen.constants),
                                      ("structs", header.structs, frozen.structs)):
                for name in left.keys() - right.keys():
                    yield f"{name} is not among the {what} that are frozen for {now}: run scripts/abi-baseline"
        else:
            yield from compare_baselines(read_baseline(root / f"abi/baselines/{version}/x86_64.abi"), newest, version)


def main():
    complaints = list(dict.fromkeys(check(pathlib.Path(sys.argv[1]))))
    for complaint in complaints:
        print(f"history: {complaint}", file=sys.stderr)
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
