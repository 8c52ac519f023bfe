# SPDX-License-Identifier: MIT OR Apache-2.0
"""csharp/Hypomnesis/Generated/Constants.cs     enumerations
csharp/Hypomnesis/Generated/Records.cs       records, with the copy of each from its raw record
csharp/Hypomnesis/Interop/Generated/Records.cs  structs laid out as in C
csharp/native/generated/constant_values.i    values of constants, for SWIG
"""
from .text import TIMES, Words, camel, drop_unit, make_sentence, wrap_comment

# REUSE-IgnoreStart
LICENCE = "// SPDX-License-Identifier: MIT OR Apache-2.0"
# REUSE-IgnoreEnd
NOTICE = "// Written by bindings/generate from include/hypomnesis.h."
MANAGED = "csharp/Hypomnesis"

# Enumerations whose type is not named as in the header; None: methods replace the enumeration.
ENUMERATIONS = {
    "note": "Notes", "account": "Accounting", "delta_scope": "Scope", "run_state": "State", "native": "NativeDomain",
    "context": "ContextFlags", "path": "SourcePath", "pool": "PoolKind",
    "throttle": "ThrottleReasons", "metric": "MetricId", "power_reading": "PowerReading", "remapped": "Remapping",
    "usage_kind": "UsageKinds", "name_state": "NameState", "snapshot": "SnapshotFlags", "format": "DeviceFormat",
    "line": "LineFlags", "sampler": "SamplerFlags", "sampler_state": "SamplerState", "attention": "AttentionFlags",
    "cache": "CacheKind", "spill_state": "SpillStates", "spill_by": "SpillRules", "text": None, "tracker": None}
MEMBERS = {"HMN_NATIVE_HRESULT": "HResult", "HMN_NATIVE_NTSTATUS": "NtStatus"}
# Name and summary of 0 in an enumeration without such a member; other sets of bits get None.
ZEROS = {"collect": ("Default", "Memory, devices, pools, self."),
         "process_memory_has": ("Cheap", "Those that are cheap: resident and virtual."),
         "telemetry_has": ("Cheap", "All that are cheap."), "sampler_state": ("Unknown", "Not known.")}
# All bits of an enumeration as one more member.
EVERYTHING = {"collect": "Everything"}
# Records with a hand-written part.
PARTIAL = ("device",)
# Records that become exceptions.
NO_RECORDS = ("error",)

UNITS = {"_bytes": "bytes", "_mhz": "MHz", "_celsius": "degrees Celsius", "_watts": "watts", "_joules": "joules",
         "_percent": "percent", "_ns": "", "_rpm": "RPM"}
RAW_TYPES = {"uint64_t": "ulong", "uint32_t": "uint", "hmn_flags": "uint", "hmn_fields": "ulong", "int64_t": "long",
             "int32_t": "int", "hmn_status": "int", "double": "double", "char": "byte"}
TYPES = {"u64": "ulong", "u32": "uint", "i64": "long", "i32": "int", "f64": "double", "text": "string",
         "bool": "bool"}


def _describe_name(name):
    """The description of a field without a comment: "core clock, MHz" for core_clock_mhz."""
    for suffix, unit in UNITS.items():
        if name.endswith(suffix):
            words = name.removesuffix(suffix).replace("_", " ")
            return f"{words}, {unit}" if unit else words
    return name.replace("_", " ").replace("pid", "process id")


def _field_name(name):
    return camel(drop_unit(name))


def _make_link(name):
    return f'<see\0cref="{name}"/>'


def _format_summary(words, indent):
    text = wrap_comment(f"<summary>{words}</summary>", f"{indent}/// ")
    return [line.replace("\0", " ") for line in text]


class _XmlWords(Words):
    def __call__(self, comment, record=None):
        return super().__call__(comment.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"), record)


class _Writer:
    def __init__(self, model):
        self.model = model
        self.types = {}
        for enumeration in model.enumerations.values():
            name = ENUMERATIONS.get(enumeration.tag, camel(enumeration.tag))
            if enumeration.record:
                name = f"{camel(enumeration.record)}Fields" if enumeration.record in model.snapshot_records else None
            if name:
                self.types[enumeration.tag] = name
        self.words = _XmlWords(
            model,
            lambda enumeration: enumeration.tag in self.types and _make_link(self.types[enumeration.tag]),
            lambda enumeration, member: enumeration.tag in self.types
            and _make_link(f"{self.types[enumeration.tag]}.{self._member_name(member)}"),
            lambda record: None if record.name in NO_RECORDS else _make_link(camel(record.name)),
            lambda record, name: _make_link(_field_name(name)) if record else f"<c>{_field_name(name)}</c>")

    def _member_name(self, member):
        return MEMBERS.get(member.name, camel(member.word.lower()))

    def _comment(self, comment, record=None):
        return make_sentence(self.words(comment, record))

    def _describe_member(self, enumeration, member):
        """The summary of a member; that of a presence bit names its properties."""
        if enumeration.record:
            properties = [_make_link(f"{camel(enumeration.record)}.{_field_name(name)}") for name in member.fields]
            return f"{' and '.join(properties)}."
        return self._comment(member.comment) or f"{self._member_name(member)}."

    def constants(self):
        yield from ("#nullable enable", "using System;", "using Hypomnesis.Interop;", "", "namespace Hypomnesis;")
        for tag, name in self.types.items():
            enumeration = self.model.enumerations[tag]
            yield ""
            yield from _format_summary(f"The values of a {_make_link(camel(enumeration.record))}; a "
                                       f"{_make_link('Diagnostic.Field')} counts in them." if enumeration.record
                                       else make_sentence(self.words.describe_enumeration(enumeration)), "")
            if enumeration.is_bits:
                yield "[Flags]"
            base = " : ulong" if enumeration.is_presence else " : uint" if tag != "status" else ""
            yield f"public enum {name}{base}"
            yield "{"
            zero = ZEROS.get(tag, ("None", "None.") if enumeration.is_bits else None)
            if zero:
                yield from (*_format_summary(zero[1], "    "), f"    {zero[0]} = 0,")
            for member in enumeration.members:
                yield from _format_summary(self._describe_member(enumeration, member), "    ")
                yield f"    {self._member_name(member)} = Raw.{member.name.removeprefix('HMN_')},"
            if tag in EVERYTHING:
                yield from _format_summary("All of these.", "    ")
                yield f"    {EVERYTHING[tag]} = {' | '.join(map(self._member_name, enumeration.members))},"
            yield "}"

    def _property(self, record, field):
        enumeration = self.model.enumerations.get(field.enumeration)
        comment = self.words.describe_field(record, field)
        if not comment:
            comment = self.words.describe_enumeration(enumeration).split(". ")[0] if enumeration \
                else _describe_name(field.name)
        yield from _format_summary(make_sentence(comment), "    ")
        kind = self.types[field.enumeration] if enumeration else TYPES[field.kind]
        if field.name.endswith("_ns"):
            kind = "DateTimeOffset" if field.name in TIMES else "TimeSpan"
        empty = ' = "";' if field.kind == "text" and not field.bit else ""
        yield f"    public {kind}{'?' if field.bit else ''} {_field_name(field.name)} {{ get; init; }}{empty}"

    def _copy(self, field):
        value = f"from->{camel(field.name)}"
        if field.name.endswith("_ns"):
            return f"global::Hypomnesis.Duration.{'Time' if field.name in TIMES else 'Span'}({value})"
        if field.enumeration:
            return f"({self.types[field.enumeration]}{'?' if field.bit else ''}){value}"
        return f"{value} != 0" if field.kind == "bool" else value

    def records(self):
        yield from ("#nullable enable", "using System;", "using Hypomnesis.Interop;", "", "namespace Hypomnesis;")
        for record in self.model.records.values():
            if record.name in NO_RECORDS:
                continue
            name = camel(record.name)
            absent = " Null: not known." if any(field.bit for field in record.fields) else ""
            yield ""
            yield from _format_summary(self._comment(record.comment, record) + absent, "")
            yield f"public sealed {'partial ' if record.name in PARTIAL else ''}record {name}"
            yield "{"
            for field in record.fields:
                yield from self._property(record, field)
            for text in record.texts:
                yield from _format_summary(self._comment(f"in a snapshot: {text.comment}", record), "    ")
                yield f"    public string? {camel(text.name)} {{ get; init; }}"
            yield ""
            if record.texts:
                yield f"    internal static {name} From(IntPtr record) => From(record, static _ => null);"
                yield ""
                yield f"    internal static unsafe {name} From(IntPtr record, Func<uint, string?> text)"
            else:
                yield f"    internal static unsafe {name} From(IntPtr record)"
            yield from ("    {", f"        var from = ({name}Record*)record;",
                        f"        return new {name}", "        {")
            for field in record.fields:
                yield f"            {_field_name(field.name)} = {self._copy(field)},"
            for text in record.texts:
                yield f"            {camel(text.name)} = text(Raw.{text.constant.removeprefix('HMN_')}),"
            yield from ("        };", "    }", "}")

    def _accessor(self, field):
        """A property with the field's value, a number or a text; null where its presence bit is clear."""
        name, kind, value = camel(field.name), RAW_TYPES[field.type], f"this.{field.name}"
        if field.count:
            kind, value = "string", f"Utf8.Text(ref this.{field.name}[0], {field.count})"
        if not field.bit:
            return f"    internal {kind} {name} => {value};"
        bit = self.model.header.constants[field.bit]
        return f"    internal {kind}? {name} => (present & {bit}ul) != 0 ? {value} : null;"

    def raw_records(self):
        yield from ("#nullable enable", "#pragma warning disable CS0649",
                    "using System.Runtime.InteropServices;", "", "namespace Hypomnesis.Interop;")
        for record in self.model.records.values():
            struct = self.model.header.structs[record.c_name]
            yield from ("", f"/// <summary>{record.c_name}</summary>", "[StructLayout(LayoutKind.Sequential)]",
                        f"internal unsafe struct {camel(record.name)}Record", "{",
                        f"    internal const int Size = {struct.size};")
            for field in struct.fields:
                fixed, count = ("fixed ", f"[{field.count}]") if field.count else ("", "")
                yield f"    internal {fixed}{RAW_TYPES[field.type]} {field.name}{count};"
            yield ""
            yield from map(self._accessor, record.fields)
            yield "}"
        yield from ("", "/// <summary>The structs by name, with the sizes that this assembly reads.</summary>",
                    "internal static class RecordSizes", "{",
                    "    internal static readonly (string Name, uint Size)[] All =", "    [")
        for record in self.model.records.values():
            yield f'        ("{record.c_name}", {camel(record.name)}Record.Size),'
        yield from ("    ];", "}")

    def constant_values(self):
        for name, value in self.model.header.constants.items():
            yield f'%csconstvalue("{value}{"ul" if name in self.model.header.presence else ""}") {name.removeprefix("HMN_")};'


def outputs(model):
    writer = _Writer(model)
    header = ("// <auto-generated />", LICENCE, NOTICE)
    for path, notice, lines in (
            (f"{MANAGED}/Generated/Constants.cs", header, writer.constants),
            (f"{MANAGED}/Generated/Records.cs", header, writer.records),
            (f"{MANAGED}/Interop/Generated/Records.cs", header, writer.raw_records),
            ("csharp/native/generated/constant_values.i", header[1:], writer.constant_values)):
        yield path, "\n".join([*notice, *lines()]) + "\n"
