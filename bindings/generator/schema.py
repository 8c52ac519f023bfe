# SPDX-License-Identifier: MIT OR Apache-2.0
"""../docs/schema/snapshot.schema.json   the fields of each record, and the words of enumerations
../docs/schema/machine.schema.json    the same of telemetry and metrics
../docs/metrics.md                    names of instances

What these files lack of the tables of src/model is added after its predecessor; all else is written by hand."""
import re
import textwrap

from . import ROOT

# Lists of words, by the key that has them.
LISTS = {
    "snapshot": {"collect": "SUBJECTS", "backend": "SOURCES", "notes": "NOTES", "accounting": "ACCOUNTINGS",
                 "device_class": "DEVICE_CLASSES", "form": "DEVICE_FORMS",
                 "kind": "POOL_KINDS", "memory_kind": "MEMORY_KINDS", "state": "STATES",
                 "pressure": "PRESSURES", "throttle": "THROTTLES", "kinds": "USAGE_KINDS",
                 "name_state": "NAME_STATES", "subject": "SUBJECTS", "reason": "REASONS"},
    "machine": {"accounting": "ACCOUNTINGS", "device_class": "DEVICE_CLASSES",
                "form": "DEVICE_FORMS", "kind": "POOL_KINDS", "memory_kind": "MEMORY_KINDS",
                "pressure": "PRESSURES", "throttle": "THROTTLES", "kinds": "USAGE_KINDS", "metric": "METRICS",
                "name_state": "NAME_STATES"},
}
INSTANCES = {"engine": "ENGINES", "sensor": "SENSORS", "power": "POWER_READINGS", "power limit": "POWER_LIMITS",
             "clock": "CLOCKS", "rail": "RAILS", "era": "ERAS", "remapping": "REMAPPINGS"}
WHOLE = {"std::uint32_t": 2**32 - 1, "std::uint64_t": 2**64 - 1}


def _rows(name):
    """list -> rows of a table in src/model"""
    text = (ROOT / f"src/model/{name}.def").read_text(encoding="utf-8")
    return {table: [re.findall(r'"[^"]*"|[^,\s][^,]*', row) for row in re.findall(r"^  [XT]\((.*)\)(?: \\)?$", body, re.M)]
            for table, body in re.findall(r"^#define HMN_(\w+)\(X[^)]*\) \\\n((?:  .*\n)+)", text, re.M)}


def _value(row):
    """What a field of the tables may be, as JSON Schema."""
    type_, unit = row[3], row[4]
    inner = re.sub(r"^std::optional<(.*)>$", r"\1", type_)
    if inner in WHOLE and unit in ("none", "bytes", "megahertz", "rpm", "nanoseconds", "percent"):
        kind, limits = "integer", f', "minimum": 0, "maximum": {WHOLE[inner]}'
    elif inner == "double":
        kind, limits = "number", ', "minimum": 0, "maximum": 100' if unit == "percent" else ""
    elif inner.startswith("text<"):
        return '{"type": ["string", "null"]}'
    else:
        raise SystemExit(f"generate: write {row[1]} into docs/schema/snapshot.schema.json")
    return f'{{"type": ["{kind}", "null"]{limits}}}' if inner != type_ else f'{{"type": "{kind}"{limits}}}'


def _machine_value(row):
    limits = {"celsius": ', "minimum": -273, "maximum": 10000',
              "percent": ', "minimum": 0, "maximum": 100'}.get(row[4], ', "minimum": 0, "maximum": 1000000000000000')
    return f'{{"type": ["number", "null"]{limits}}}' if "double" in row[3] else _value(row)


def _completed(body, wanted):
    """The inside of a list of strings, with what it lacks of `wanted` from its first one on."""
    there = re.findall(r'"([^"]*)"', body)
    known = [at for at, word in enumerate(wanted) if word in there]
    lacks = [word for word in wanted[known[0]:] if word not in there] if known else []
    if not lacks:
        return body
    for word in lacks:
        there.insert(there.index(wanted[wanted.index(word) - 1]) + 1, word)
    words = ", ".join([f'"{word}"' for word in there] + ["null"] * body.rstrip().endswith("null"))
    if "\n" not in body:
        return words
    indent, end = re.match(r"\s*\n( *)", body)[1], re.search(r"\n *$", body)[0]
    return "\n" + textwrap.fill(words, 100, initial_indent=indent, subsequent_indent=indent) + end


def _lists(text, tables, keys):
    def words(match):
        there = re.findall(r'"([^"]*)"', match[3])
        for table in keys[match[2]].split():
            wanted = [row[0] if table == "METRICS" else row[2].strip('"') for row in tables[table]]
            if set(there) - {"unknown"} <= set(wanted):
                return match[1] + _completed(match[3], wanted) + "]"
        raise SystemExit(f"generate: the words of {match[2]} in docs/schema are not those of src/model: {there}")
    pattern = rf'("({"|".join(keys)})": \{{[^{{}}]*?(?:"items": \{{[^{{}}]*?)?"(?:enum|examples)": \[)([^][]*)\]'
    return re.sub(pattern, words, text)


def _properties(text, record, rows, value):
    """Adds to the properties of a definition those of `rows`."""
    begin = text.index(f'\n    "{record}": {{\n')
    end = text.index("\n    }", begin)
    before, block, after = text[:begin], text[begin:end], text[end:]
    previous = None
    for row in rows:
        if f'\n        "{row[1]}": ' not in block:
            found = re.search(rf'\n        "{previous}": .*?(?=,?\n(?:        "|      \}}))', block, re.S)
            block = f'{block[:found.end()]},\n        "{row[1]}": {value(row)}{block[found.end():]}'
        previous = row[1]
    required = re.search(r'("required": \[)([^]]*)\]', block)
    if required:
        block = block.replace(required[0], f"{required[1]}{_completed(required[2], [row[1] for row in rows])}]")
    return before + block + after


def _instances(text, tables):
    """docs/metrics.md with the names of all instances."""
    for instance, table in INSTANCES.items():
        line = re.search(rf"^\| {instance} \| `.*$", text, re.M)[0]
        longer, end = line, line.index("`")
        for row in tables[table][1:]:
            found = re.search(rf"`{row[2][1:-1]}`(?: \([^)]*\))?", longer)
            if not found:
                longer = f"{longer[:end]}, `{row[2][1:-1]}`{longer[end:]}"
            end = found.end() if found else end + len(row[2]) + 2
        text = text.replace(line, longer)
    return text


def outputs(_model):
    tables, fields = {**_rows("enums"), **_rows("metrics")}, _rows("fields")
    texts = {name: (ROOT / f"docs/schema/{name}.schema.json").read_text(encoding="utf-8") for name in LISTS}
    texts = {name: _lists(text, tables, LISTS[name]) for name, text in texts.items()}
    for table, rows in fields.items():
        rows = [row for row in rows if len(row) > 4 and row[4] != "unlisted"]
        texts["snapshot"] = _properties(texts["snapshot"], table.removesuffix("_FIELDS").lower(), rows, _value)
    measured = [row for row in fields["TELEMETRY_FIELDS"] if row[2] != "0"]
    texts["machine"] = _properties(texts["machine"], "telemetry", measured, _machine_value)
    texts["machine"] = re.sub(r'(\[)([^][]*"gpu_busy_percent"[^][]*)\]',
                              lambda match: f"[{_completed(match[2], [row[1] for row in measured])}]", texts["machine"])
    for name, text in texts.items():
        yield f"../docs/schema/{name}.schema.json", text
    page = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    yield "../docs/metrics.md", _instances(page, tables)
