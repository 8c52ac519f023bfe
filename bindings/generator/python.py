# SPDX-License-Identifier: MIT OR Apache-2.0
"""python/hypomnesis/_constants.py  enumerations
python/hypomnesis/_records.py    records as frozen dataclasses, with functions that make them from raw values
"""
from .text import HEXADECIMAL, Words, add_comment, camel, drop_unit, make_sentence, notice, wrap_comment

# Enumerations whose class is not named as in the header; None: an argument or a field replaces the enumeration.
ENUMERATIONS = {
    "account": "Accounting", "delta_scope": "Scope", "run_state": "State", "power_reading": "Power", "line": "LineFlag",
    "native": "NativeDomain", "context": "ContextFlag", "path": "Place",
    "pool": "PoolKind", "metric": "MetricId", "usage_kind": "UsageKind", "name_state": "NameState",
    "snapshot": "SnapshotFlag", "sampler": "SamplerFlag", "sampler_state": "SamplerState", "cache": "CacheKind",
    "spill_state": "SpillState", "spill_by": "SpillRule", "attention": None, "text": None, "tracker": None}
# What a snapshot adds to a record; a hand-written function fills it.
ADDED = {"device": """\
    # in a snapshot, as far as it collected them
    pools: tuple[Pool, ...] = ()  # the main pool first
    telemetry: Telemetry | None = None
    own_usage: Usage | None = None  # what this process uses on it
    usages: tuple[Usage, ...] = ()  # what every process uses on it, by pid
    metrics: tuple[Metric, ...] = ()  # each single number that the sources report

    @property
    def main_pool(self) -> Pool | None:
        \"\"\"The pool that allocations come from; None when no pool of the device is known.\"\"\"
        return next((pool for pool in self.pools if pool.is_main), None)"""}
# Records that become exceptions.
NO_RECORDS = ("error",)

TYPES = {"f64": "float", "text": "str", "bool": "bool"}


class _Writer:
    def __init__(self, model):
        self.model = model
        self.classes = {}
        for enumeration in model.enumerations.values():
            name = ENUMERATIONS.get(enumeration.tag, camel(enumeration.tag))
            if enumeration.record:
                name = f"{camel(enumeration.record)}Field" if enumeration.record in model.snapshot_records else None
            if name:
                self.classes[enumeration.tag] = name
        self.words = Words(model, lambda enumeration: self.classes.get(enumeration.tag),
                           lambda enumeration, member: enumeration.tag in self.classes
                           and f"{self.classes[enumeration.tag]}.{member.word}",
                           lambda record: camel(record.name), lambda record, name: drop_unit(name))

    def constants(self):
        enumerations = {tag: self.model.enumerations[tag] for tag in self.classes}
        yield '"""Enumerations."""'
        yield from ("from ._native import raw", "from ._number import Flags, Number", "", "__all__ = [")
        yield from (f'    "{name}",' for name in sorted(self.classes.values()))
        yield "]"
        for tag, enumeration in enumerations.items():
            yield from ("", "")
            yield f"class {self.classes[tag]}({'Flags' if enumeration.is_bits else 'Number'}):"
            comment = self.words.describe_enumeration(enumeration)
            if enumeration.record:
                comment = f"Fields of a {camel(enumeration.record)}, as a Diagnostic names them."
            yield from wrap_comment(f'{comment}"""', '    """', "    ")
            yield ""
            record = self.model.records.get(enumeration.record)
            for member in enumeration.members:
                yield from add_comment(f"    {member.word} = raw.{member.name.removeprefix('HMN_')}",
                                       self.words(member.comment, record), "#")

    def _type(self, field):
        if field.name in HEXADECIMAL:
            kind = "PciNumber"
        elif field.name.endswith("_ns"):
            kind = "float"
        else:
            kind = self.classes.get(field.enumeration) or TYPES.get(field.kind, "int")
        return f"{kind} | None" if field.bit else kind

    def _record(self, record):
        yield from ("", "", "@dataclass(frozen=True, slots=True)")
        yield f"class {camel(record.name)}:"
        absent = " None: not known." if any(field.bit for field in record.fields) else ""
        yield from wrap_comment(f'{make_sentence(self.words(record.comment, record))}{absent}"""', '    """', "    ")
        yield ""
        for field in record.fields:
            yield from add_comment(f"    {drop_unit(field.name)}: {self._type(field)}",
                                   self.words.describe_field(record, field), "#")
        if record.name in ADDED:
            yield ADDED[record.name]
        for text in record.texts:
            yield from add_comment(f"    {text.name}: str | None = None",
                                   f"in a snapshot: {self.words(text.comment, record)}", "#")

    def _maker(self, record):
        name, cls = record.name, camel(record.name)
        yield from ("", "")
        if not record.texts:
            yield f"make_{name} = maker({cls})"
            return
        texts = ", ".join(f"raw.{text.constant.removeprefix('HMN_')}" for text in record.texts)
        yield f"{name.upper()}_TEXTS = ({texts}{',' if len(record.texts) == 1 else ''})"
        yield f"_make_{name} = maker({cls})"
        yield from ("", "")
        yield f"def make_{name}(values: tuple[Any, ...], texts: tuple[str | None, ...] = {(None,) * len(record.texts)}"\
              f") -> {cls}:"
        yield f"    return _make_{name}((*values, *texts))"

    def records(self):
        records = [record for record in self.model.records.values() if record.name not in NO_RECORDS]
        names = {self.classes.get(field.enumeration) for record in records for field in record.fields} - {None}
        yield '"""Records: what the library fills, copied. Times are seconds."""'
        yield from ("from __future__ import annotations", "", "from dataclasses import dataclass",
                    "from typing import Any", "",
                    *wrap_comment(f"{', '.join(sorted(names))})", "from ._constants import (", " " * 24),
                    "from ._native import raw", "from ._number import PciNumber", "from ._record import maker")
        for record in records:
            yield from self._record(record)
            if record.name not in ADDED:
                yield from self._maker(record)


def outputs(model):
    writer = _Writer(model)
    for name, lines in (("constants", writer.constants), ("records", writer.records)):
        yield f"python/hypomnesis/_{name}.py", "\n".join([*notice("#"), *lines()]) + "\n"
