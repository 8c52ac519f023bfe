# SPDX-License-Identifier: MIT OR Apache-2.0
"""cpp/hypomnesis.hpp, the parts between `// begin generated:` and `// end generated`: enumerations, records
and copies from the C structs. The rest is written by hand."""
import re

from . import BINDINGS
from .model import NAMED_BY_LIBRARY
from .text import Words, add_comment, lower_first, wrap_comment

PATH = "cpp/hypomnesis.hpp"
WIDTH = 100

# Enumerations whose name is not the header's word and _id; None: a class replaces the enumeration.
ENUMERATIONS = {
    "status": "status_code", "note": "note", "delta_scope": "scope_kind", "account": "accounting_kind",
    "native": "domain", "context": "context_flag", "path": "path_kind", "run_state": "run_state",
    "device_class": "device_class", "device_form": "device_form", "memory_kind": "device_memory", "pool": "pool_kind", "throttle": "throttle_reason",
    "usage_kind": "usage_kind", "name_state": "name_status", "pressure": "pressure_level", "collect": "part",
    "sampler": "sampler_flag", "sampler_state": "sampler_state", "cache": "cache_kind", "attention": "attention_flag",
    "spill_state": "spill_state", "spill_by": "spill_rule", "format": "device_format", "line": "line_flag",
    "power_reading": "power_id", "snapshot": None, "text": None, "tracker": None}
# Enumerators whose names C++ or a system header uses already, or that need a better one here.
MEMBERS = {
    "HMN_NATIVE_ERRNO": "errno_code", "HMN_NATIVE_EXIT": "exit_code", "HMN_DEVICE_FORM_VIRTUAL": "virtual_device",
    "HMN_POWER_LIMIT_DEFAULT": "usual", "HMN_POWER_LIMIT_MIN": "lowest", "HMN_POWER_LIMIT_MAX": "highest",
    "HMN_NAME_STATE_PROTECTED": "protected_process", "HMN_DTYPE_BOOL": "boolean",
    "HMN_PROCESS_MEMORY_HAS_VIRTUAL": "virtual_size", "HMN_PROCESS_MEMORY_HAS_PRIVATE": "private_set"}
KEYWORDS = set("""alignas alignof and asm auto bitand bitor bool break case catch char class compl concept const
    continue decltype default delete do double else enum explicit export extern false float for friend goto if
    inline int long mutable namespace new noexcept not nullptr operator or private protected public register
    requires return short signed sizeof static struct switch template this throw true try typedef typeid typename
    union unsigned using virtual void volatile while xor errno""".split())
# Enumerators that the header lacks.
ADDED = {"sampler_state": ["unknown = 0"]}
# Records that are classes here instead of structs.
CLASSES = ("error",)

TYPES = {"u64": "std::uint64_t", "u32": "std::uint32_t", "i64": "std::int64_t", "i32": "std::int32_t",
         "f64": "double", "text": "std::string", "bool": "bool"}
ZERO = {"f64": " = 0", "text": "", "bool": " = false"}


def _has_field_selection(model, record):
    """Whether a function that reads the record has a parameter `fields`."""
    return any(function.name.startswith(f"hmn_{record}_read")
               and any(parameter.name == "fields" for parameter in function.parameters)
               for function in model.header.functions.values())


def _enumeration_name(model, enumeration):
    if enumeration.record:
        return f"{enumeration.record}_field" if _has_field_selection(model, enumeration.record) else None
    return ENUMERATIONS.get(enumeration.tag, f"{enumeration.tag}_id")


def _member_name(member):
    name = MEMBERS.get(member.name, member.word.lower())
    if name in KEYWORDS:
        raise SystemExit(f"generate: {member.name} would be called {name}, a keyword of C++: give it another name in "
                         "MEMBERS of bindings/generator/cpp.py")
    return name


class _Writer:
    def __init__(self, model):
        self.model = model
        names = {enumeration.tag: _enumeration_name(model, enumeration)
                 for enumeration in model.enumerations.values()}
        self.enumerations = {tag: name for tag, name in names.items() if name}
        self.words = Words(
            model, lambda enumeration: self.enumerations.get(enumeration.tag),
            lambda enumeration, member: enumeration.tag in self.enumerations
            and f"{self.enumerations[enumeration.tag]}::{_member_name(member)}",
            lambda record: record.name if record.name not in CLASSES else None, lambda record, name: name)

    def constants(self):
        for tag, name in self.enumerations.items():
            enumeration = self.model.enumerations[tag]
            yield from wrap_comment(f"Fields of {enumeration.record}." if enumeration.record
                                    else self.words.describe_enumeration(enumeration), "// ", width=WIDTH)
            base = "hmn_fields" if enumeration.is_presence else "hmn_flags" if enumeration.is_bits else "std::int32_t" if tag == "status" else "std::uint32_t"
            yield f"enum class {name} : {base} {{"
            rows = [(text, "") for text in ADDED.get(tag, [])]
            record = self.model.records.get(enumeration.record)
            rows += [(f"{_member_name(member)} = {member.name}", self.words(member.comment, record))
                     for member in enumeration.members]
            for position, (text, comment) in enumerate(rows, 1):
                yield from add_comment(f"  {text}{',' if position < len(rows) else ''}", comment, "//", WIDTH)
            yield "};"
            yield ""
        yield "template <class T>"
        yield "inline constexpr bool is_set_of_bits = false;"
        for tag, name in self.enumerations.items():
            if self.model.enumerations[tag].is_bits:
                yield "template <>"
                yield f"inline constexpr bool is_set_of_bits<{name}> = true;"

    def names(self):
        for tag, name in self.enumerations.items():
            enumeration = self.model.enumerations[tag]
            if tag in NAMED_BY_LIBRARY:
                continue
            yield f"inline std::string{'' if enumeration.is_bits else '_view'} name({name} value) {{"
            if enumeration.is_bits:
                yield "  std::string text;"
                for member in enumeration.members:
                    yield f'  detail::append_name(text, has(value, {name}::{_member_name(member)}), "{member.label}");'
                yield "  return text;"
            else:
                yield "  switch (value) {"
                for member in enumeration.members:
                    yield f'    case {name}::{_member_name(member)}: return "{member.label}";'
                yield '    default: return "unknown";'
                yield "  }"
            yield "}"

    def _type(self, field):
        return self.enumerations[field.enumeration] if field.enumeration else TYPES[field.kind]

    def _member(self, field):
        if field.bit:
            return f"std::optional<{self._type(field)}> {field.name};"
        zero = "{}" if field.enumeration else ZERO.get(field.kind, " = 0")
        # Unqualified, a member called like its type would change what that name means in the struct.
        type_ = f"hypomnesis::{field.name}" if self._type(field) == field.name else self._type(field)
        return f"{type_} {field.name}{zero};"

    def records(self):
        for record in self.model.records.values():
            if record.name in CLASSES:
                continue
            yield from wrap_comment(f"{record.c_name}: {lower_first(self.words(record.comment, record))}", "// ",
                                    width=WIDTH)
            yield f"struct {record.name} {{"
            for field in record.fields:
                yield from add_comment(f"  {self._member(field)}", self.words.describe_field(record, field), "//",
                                       WIDTH)
            for text in record.texts:
                yield from add_comment(f"  std::optional<std::string> {text.name};",
                                       f"in a snapshot: {self.words(text.comment, record)}", "//", WIDTH)
            yield "};"
            yield ""

    def _copy(self, record, field):
        source = f"&{record.c_name}::{field.name}"
        if field.bit and field.enumeration:
            return f"f.named<{self._type(field)}>({field.bit}, {source})"
        if field.bit:
            return f"f.get({field.bit}, {source})"
        if field.enumeration:
            return f"static_cast<{self._type(field)}>(r.{field.name})"
        return f"r.{field.name} != 0" if field.kind == "bool" else f"r.{field.name}"

    def copies(self):
        for record in self.model.records.values():
            if record.name in CLASSES:
                continue
            yield f"inline {record.name} value(const {record.c_name}& r) {{"
            if any(field.bit for field in record.fields):
                yield f"  const fields<{record.c_name}> f(r);"
            yield f"  {record.name} v;"
            for field in record.fields:
                yield f"  v.{field.name} = {self._copy(record, field)};"
            yield "  return v;"
            yield "}"
            yield ""
        for record in self.model.records.values():
            if record.texts:
                yield f"// text(which) gives a text of a {record.name} in a snapshot."
                yield "template <class Text>"
                yield f"void add_texts({record.name}& v, Text text) {{"
                for member in record.texts:
                    yield f"  v.{member.name} = text({member.constant});"
                yield "}"
                yield ""


def outputs(model):
    text = (BINDINGS / PATH).read_text(encoding="utf-8")
    writer = _Writer(model)
    for name in ("constants", "names", "records", "copies"):
        body = "\n".join(getattr(writer, name)()).strip("\n")
        text, count = re.subn(rf"(?<=^// begin generated: {name}\n).*?(?=^// end generated: {name}$)",
                              lambda _: f"{body}\n", text, flags=re.M | re.S)
        if count != 1:
            raise SystemExit(f"generate: bindings/{PATH} wants a line '// begin generated: {name}' and behind it one "
                             f"'// end generated: {name}'")
    yield PATH, text
