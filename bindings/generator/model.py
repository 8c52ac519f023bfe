# SPDX-License-Identifier: MIT OR Apache-2.0
"""Enumerations and result structs of include/hypomnesis.h, from which the files of every language are written.

The comment of a field begins with its enumeration: HMN_DEVICE_FORM_*, or the first of several members and "…".
`notes` and `backend` have theirs by name, hmn_status by type. A text that a snapshot has for each usage or metric
(HMN_TEXT_*) is also a field of that record: its comment begins with "of usage i:".
"""
import dataclasses
import re
import sys

from . import ROOT, presence

sys.path.insert(0, str(ROOT / "tests/abi/gate"))
import consistency  # noqa: E402
import header as headers  # noqa: E402

INPUTS = ("hmn_context_options", "hmn_snapshot_options", "hmn_sampler_options",
          "hmn_spill_options", "hmn_spill_sample", "hmn_tracker_options", "hmn_packing", "hmn_attention",
          "hmn_cache", "hmn_metric_key", "hmn_reason_key")
HIDDEN = ("struct_size", "present", "reserved0")
KINDS = {"uint64_t": "u64", "uint32_t": "u32", "hmn_flags": "u32", "hmn_fields": "u64", "int64_t": "i64",
         "int32_t": "i32", "hmn_status": "i32", "double": "f64", "char": "text"}
TAGS = {"HMN_E_": "status"}


@dataclasses.dataclass
class Member:
    name: str  # HMN_DEVICE_FORM_DISCRETE
    word: str  # DISCRETE
    value: str  # as the header writes it
    comment: str
    fields: list[str]  # that a presence bit guards
    label: str  # "nvidia-smi": its word in JSON and in hmn's output, else `word` in lower case


@dataclasses.dataclass
class Enumeration:
    tag: str  # "device_form" of HMN_DEVICE_FORM_*; "pool_has" of HMN_POOL_HAS_*
    prefix: str  # HMN_KIND_
    comment: str
    is_bits: bool
    members: list[Member]
    record: str | None = None  # "pool" of HMN_POOL_HAS_*
    is_presence: bool = False  # bits of `present`, which has 64


@dataclasses.dataclass
class Field:
    name: str
    type: str  # in C
    count: int | None
    kind: str  # u64, u32, i64, i32, f64, text or bool
    bit: str | None  # of `present`, where the value may be absent
    enumeration: str | None  # its tag
    comment: str  # without the name of the enumeration, and without the struct's version


@dataclasses.dataclass
class Text:
    """A text of each usage or metric of a snapshot."""
    name: str  # process_name
    constant: str  # HMN_TEXT_PROCESS_NAME
    comment: str


@dataclasses.dataclass
class Record:
    c_name: str  # hmn_pool
    name: str  # pool
    comment: str
    has_present: bool
    fields: list[Field]
    texts: list[Text]


# Enumerations whose names the library gives: it may know more numbers than a package.
NAMED_BY_LIBRARY = ("status", "backend", "reason", "metric", "dtype")


def _read_labels():
    """HMN_BACKEND_NVIDIA_SMI -> "nvidia-smi", for each enumerator with a word in src/model/enums.def."""
    return dict(re.findall(r'X\(\w+, (HMN_\w+), "([^"]*)"', (ROOT / "src/model/enums.def").read_text(encoding="utf-8")))


class Model:
    def __init__(self, path):
        self.header = headers.parse(path)
        self.labels = _read_labels()
        self.enumerations = {}
        enumerations = [enumeration for enumeration in self.header.enumerations
                        if not re.fullmatch(r"HMN_\w+_SIZE_V\d+", enumeration.members[0].name)]
        prefixes = [_common_prefix([member.name for member in enumeration.members]) for enumeration in enumerations]
        for enumeration, prefix in zip(enumerations, prefixes):
            self._add(enumeration, prefix, prefixes.count(prefix) > 1)
        self.records = {name.removeprefix("hmn_"): self._record(struct)
                        for name, struct in self.header.structs.items() if name not in INPUTS}
        self.member = {member.name: (enumeration, member) for enumeration in self.enumerations.values()
                       for member in enumeration.members}
        # Records whose missing fields a diagnostic names; for a metric it names the metric.
        self.snapshot_records = [name for name in self.records
                                 if any(parameter.type == f"hmn_{name} *" and parameter.name == "out"
                                        for function in self.header.functions.values()
                                        if function.name.startswith("hmn_snapshot_")
                                        for parameter in function.parameters)
                                 and name not in ("snapshot_info", "diagnostic", "metric")]

    def presence(self, record):
        """The enumeration of a record's presence bits, or None."""
        return self.enumerations.get(f"{record}_has")

    def presence_bits(self, c_name):
        struct = self.header.structs[c_name]
        return {} if c_name in INPUTS else presence.bits(self.header.constants, struct)

    def _add(self, enumeration, prefix, is_shared):
        is_bits = all("<<" in member.value for member in enumeration.members)
        tag = TAGS.get(prefix, prefix.removeprefix("HMN_").strip("_").lower())
        if is_shared and is_bits:  # HMN_SAMPLER_* are flags and states
            tag += "_flags"
        if tag in self.enumerations:
            raise SystemExit(f"generate: two enumerations in hypomnesis.h begin with {prefix}: another prefix for one")
        record = tag.removesuffix("_has") if tag.endswith("_has") else None
        fields = {}
        if record and f"hmn_{record}" not in INPUTS:
            for field, bit in presence.bits(self.header.constants, self.header.structs[f"hmn_{record}"]).items():
                fields.setdefault(bit, []).append(field)
        self.enumerations[tag] = Enumeration(
            tag, prefix, enumeration.comment, is_bits,
            [self._make_member(member, prefix, fields.get(member.name, [])) for member in enumeration.members], record,
            enumeration.members[0].name in self.header.presence)

    def _make_member(self, member, prefix, fields):
        word = member.name.removeprefix("HMN_" if member.name == "HMN_OK" else prefix)
        label = self.labels.get(member.name, "unknown")
        if label in ("", "unknown"):  # HMN_POOL_MAIN, and the instance of a whole device
            label = word.lower()
        return Member(member.name, word, member.value, member.comment, fields, label)

    def _record(self, struct):
        bits = self.presence_bits(struct.name)
        comment = re.sub(r" ?(?:(?:Out|In|Result|Input)\b[^.]*\.)?(?: @since [\d.]+)?$", "", struct.comment)
        name = struct.name.removeprefix("hmn_")
        return Record(struct.name, name, comment,
                      any(field.name == "present" for field in struct.fields),
                      [self._field(struct, field, bits.get(field.name)) for field in struct.fields
                       if field.name not in HIDDEN],
                      list(self._texts(name)))

    def _field(self, struct, field, bit):
        tag, comment = self._find_enumeration(field)
        if field.type == "hmn_flags" and not tag:
            raise SystemExit(f"generate: {struct.name}.{field.name} is a set of bits: begin its comment in "
                             "hypomnesis.h with whose they are, for instance HMN_NOTE_*")
        kind = "bool" if field.name.startswith("is_") else KINDS[field.type]
        comment = re.sub(r"[.,;]? ?V\d+$", "", comment)
        if kind == "bool":
            comment = comment.removeprefix("1: ")
        return Field(field.name, field.type, field.count, kind, bit, tag, comment)

    def _find_enumeration(self, field):
        """(its tag, the rest of the comment)"""
        tag = "status" if field.type == "hmn_status" else {"notes": "note", "backend": "backend"}.get(field.name)
        match = re.match(r"(the )?(HMN_\w+_)\*(?: bit)?|(HMN_\w+) ?…", field.comment)
        if match and match[1]:
            rest = field.comment
        else:
            rest = re.sub(r"^[ :,]+", "", field.comment[match.end():] if match else field.comment)
        if tag:
            return tag, rest
        if not match:
            return None, field.comment
        enumerations = [enumeration for enumeration in self.enumerations.values() if enumeration.prefix == match[2]
                        or any(member.name == match[3] for member in enumeration.members)]
        if len(enumerations) > 1:  # flags and states
            is_bits = field.type in ("hmn_flags", "hmn_fields")
            enumerations = [enumeration for enumeration in enumerations if enumeration.is_bits == is_bits]
        if not enumerations:
            raise SystemExit(f"generate: the comment of {field.name} names {match[0]}, and hypomnesis.h has no such "
                             "enumeration")
        return enumerations[0].tag, rest

    def _texts(self, record):
        for member in self.enumerations["text"].members:
            match = re.match(r"of (\w+) i: ", member.comment)
            if not match:
                raise SystemExit(f"generate: begin the comment of {member.name} in hypomnesis.h with the list that "
                                 'i counts in, for instance "of usage i: "')
            if match[1] == record:
                yield Text(member.word.lower().removeprefix(f"{record}_"), member.name,
                           member.comment[match.end():])


def _common_prefix(names):
    """HMN_DEVICE_FORM_ for HMN_DEVICE_FORM_UNKNOWN, HMN_DEVICE_FORM_DISCRETE; HMN_E_ for statuses."""
    if names[0] == "HMN_OK":
        return "HMN_E_"
    match = re.match(r"HMN_\w+?_HAS_", names[0])
    if match:
        return match[0]
    words = [name.split("_") for name in names]
    common = 0
    while all(len(word) > common + 1 and word[common] == words[0][common] for word in words):
        common += 1
    return "_".join(words[0][:2 if len(names) == 1 else common]) + "_"
