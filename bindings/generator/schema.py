# SPDX-License-Identifier: MIT OR Apache-2.0
"""../docs/schema/snapshot.schema.json   the fields of each record, and the words of enumerations
../docs/schema/machine.schema.json    the same of telemetry and metrics
../docs/metrics.md                    names of instances

Rows of the tables of src/model that these files lack are added after their predecessors; everything else is written by
hand."""
import re
import textwrap

from . import ROOT

# The tables whose words a list contains, by the list's key.
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
INTEGER_MAX = {"std::uint32_t": 2**32 - 1, "std::uint64_t": 2**64 - 1}


def _rows(name):
    """list -> its rows, of a .def file in src/model"""
    text = (ROOT / f"src/model/{name}.def").read_text(encoding="utf-8")
    return {table: [re.findall(r'"[^"]*"|[^,\s][^,]*', row) for row in re.findall(r"^  [XT]\((.*)\)(?: \\)?$", body, re.M)]
            for table, body in re.findall(r"^#define HMN_(\w+)\(X[^)]*\) \\\n((?:  .*\n)+)", text, re.M)}


def _field_schema(row):
    """The JSON Schema of a field's value."""
    type_, unit = row[3], row[4]
    inner = re.sub(r"^std::optional<(.*)>$", r"\1", type_)
    if inner in INTEGER_MAX and unit in ("none", "bytes", "megahertz", "rpm", "nanoseconds", "percent"):
        kind, limits = "integer", f', "minimum": 0, "maximum": {INTEGER_MAX[inner]}'
    elif inner == "double":
        kind, limits = "number", ', "minimum": 0, "maximum": 100' if unit == "percent" else ""
    elif inner.startswith("text<"):
        return '{"type": ["string", "null"]}'
    else:
        raise SystemExit(f"generate: write {row[1]} into docs/schema/snapshot.schema.json")
    return f'{{"type": ["{kind}", "null"]{limits}}}' if inner != type_ else f'{{"type": "{kind}"{limits}}}'


def _machine_field_schema(row):
    limits = {"celsius": ', "minimum": -273, "maximum": 10000',
              "percent": ', "minimum": 0, "maximum": 100'}.get(row[4], ', "minimum": 0, "maximum": 1000000000000000')
    return f'{{"type": ["number", "null"]{limits}}}' if "double" in row[3] else _field_schema(row)


def _complete_list(body, expected):
    """The inside of a list of strings; words of `expected` that it lacks are added, from its first one on."""
    words = re.findall(r'"([^"]*)"', body)
    positions = [index for index, word in enumerate(expected) if word in words]
    missing = [word for word in expected[positions[0]:] if word not in words] if positions else []
    if not missing:
        return body
    for word in missing:
        words.insert(words.index(expected[expected.index(word) - 1]) + 1, word)
    text = ", ".join([f'"{word}"' for word in words] + ["null"] * body.rstrip().endswith("null"))
    if "\n" not in body:
        return text
    indent, end = re.match(r"\s*\n( *)", body)[1], re.search(r"\n *$", body)[0]
    return "\n" + textwrap.fill(text, 100, initial_indent=indent, subsequent_indent=indent) + end


def _complete_lists(text, tables, keys):
    def complete(match):
        words = re.findall(r'"([^"]*)"', match[3])
        for table in keys[match[2]].split():
            expected = [row[0] if table == "METRICS" else row[2].strip('"') for row in tables[table]]
            if set(words) - {"unknown"} <= set(expected):
                return match[1] + _complete_list(match[3], expected) + "]"
        raise SystemExit(f"generate: the words of {match[2]} in docs/schema are not those of src/model: {words}")
    pattern = rf'("({"|".join(keys)})": \{{[^{{}}]*?(?:"items": \{{[^{{}}]*?)?"(?:enum|examples)": \[)([^][]*)\]'
    return re.sub(pattern, complete, text)


def _add_properties(text, record, rows, make_schema):
    """The text with the properties of `rows` in the definition of a record."""
    begin = text.index(f'\n    "{record}": {{\n')
    end = text.index("\n    }", begin)
    before, block, after = text[:begin], text[begin:end], text[end:]
    previous = None
    for row in rows:
        if f'\n        "{row[1]}": ' not in block:
            match = re.search(rf'\n        "{previous}": .*?(?=,?\n(?:        "|      \}}))', block, re.S)
            block = f'{block[:match.end()]},\n        "{row[1]}": {make_schema(row)}{block[match.end():]}'
        previous = row[1]
    required = re.search(r'("required": \[)([^]]*)\]', block)
    if required:
        block = block.replace(required[0], f"{required[1]}{_complete_list(required[2], [row[1] for row in rows])}]")
    return before + block + after


def _add_instances(text, tables):
    """The text of docs/metrics.md with the names of all instances."""
    for instance, table in INSTANCES.items():
        line = re.search(rf"^\| {instance} \| `.*$", text, re.M)[0]
        completed, end = line, line.index("`")
        for row in tables[table][1:]:
            match = re.search(rf"`{row[2][1:-1]}`(?: \([^)]*\))?", completed)
            if not match:
                completed = f"{completed[:end]}, `{row[2][1:-1]}`{completed[end:]}"
            end = match.end() if match else end + len(row[2]) + 2
        text = text.replace(line, completed)
    return text


def outputs(_model):
    tables, fields = {**_rows("enums"), **_rows("metrics")}, _rows("fields")
    texts = {name: (ROOT / f"docs/schema/{name}.schema.json").read_text(encoding="utf-8") for name in LISTS}
    texts = {name: _complete_lists(text, tables, LISTS[name]) for name, text in texts.items()}
    for table, rows in fields.items():
        rows = [row for row in rows if len(row) > 4 and row[4] != "unlisted"]
        record = table.removesuffix("_FIELDS").lower()
        texts["snapshot"] = _add_properties(texts["snapshot"], record, rows, _field_schema)
    measurements = [row for row in fields["TELEMETRY_FIELDS"] if row[2] != "0"]
    texts["machine"] = _add_properties(texts["machine"], "telemetry", measurements, _machine_field_schema)
    names = [row[1] for row in measurements]
    texts["machine"] = re.sub(r'(\[)([^][]*"gpu_busy_percent"[^][]*)\]',
                              lambda match: f"[{_complete_list(match[2], names)}]", texts["machine"])
    for name, text in texts.items():
        yield f"../docs/schema/{name}.schema.json", text
    page = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    yield "../docs/metrics.md", _add_instances(page, tables)
