# SPDX-License-Identifier: MIT OR Apache-2.0
"""lua/hypomnesis/generated/

constants.lua  every constant
names.lua      names of enumerators
cdef.lua       declarations of the header as LuaJIT reads them
records.lua    for LuaJIT: records of its FFI as tables, and texts of a snapshot
types.lua      the fields of the tables of records, for language servers
"""
import textwrap

from .text import Words, camel, drop_unit, make_sentence, notice, wrap_comment


def _constants(model):
    yield "return {"
    for name, value in model.header.constants.items():
        yield f"  {name.removeprefix('HMN_')} = {value if value < 1 << 31 else hex(value)},"
    yield "}"


# Enumerations that the library names, or that no table has.
UNNAMED = ("status", "text", "tracker", "snapshot", "line", "sampler", "context", "path", "format")


def _names(model):
    """Lists of {number, name}, by the beginning of the constants; `is_set`: of bits."""
    yield "return {"
    for enumeration in model.enumerations.values():
        if enumeration.tag in UNNAMED or enumeration.record:
            continue
        is_set = "is_set = true, " if enumeration.is_bits else ""
        members = ", ".join(f'{{{model.header.constants[member.name]},\0"{member.label}"}}' for member in enumeration.members)
        name = enumeration.prefix.removeprefix("HMN_").strip("_").lower()
        lines = textwrap.wrap(f"{name} = {{{is_set}{members}}},", 118, initial_indent="  ", subsequent_indent="    ",
                              break_long_words=False)
        yield from (line.replace("\0", " ") for line in lines)
    yield "}"


def _cdef(model):
    header = model.header
    yield "return {"
    yield f'  version = "{header.version}",'
    yield "  declarations = [["
    yield "typedef int32_t hmn_status;"
    yield "typedef uint32_t hmn_flags;"
    yield "typedef uint64_t hmn_fields;"
    for handle in header.handles:
        yield f"typedef struct {handle} {handle};"
    for struct in header.structs.values():
        yield f"typedef struct {struct.name} {{"
        for field in struct.fields:
            count = f"[{field.count}]" if field.count else ""
            yield f"  {field.type} {field.name}{count};"
        yield f"}} {struct.name};"
    for function in header.functions.values():
        parameters = ", ".join(f"{parameter.type} {parameter.name}" for parameter in function.parameters) or "void"
        yield f"{function.result} {function.name}({parameters});"
    yield "]],"
    yield "}"


VALUES = {"text": "text(record.{})", "u64": "unsigned(record.{})", "i64": "signed(record.{})"}


def _value(field, constants):
    value = ("seconds(record.{})" if field.name.endswith("_ns") else VALUES.get(field.kind, "record.{}")).format(field.name)
    return f"band(present, {constants[field.bit]}ULL) ~= 0 and {value} or nil" if field.bit else value


def _records(model):
    yield "-- `text` makes a string of a char array, `unsigned` and `signed` what a number of 64 bits becomes, `seconds` a number"
    yield "-- of nanoseconds."
    yield "return function(band, text, unsigned, signed, seconds)"
    yield "  local copy = {}"
    for record in model.records.values():
        yield ""
        yield f"  function copy.{record.c_name}(record)"
        if any(field.bit for field in record.fields):
            yield "    local present = record.present"
        yield "    return {"
        for field in record.fields:
            yield f"      {drop_unit(field.name)} = {_value(field, model.header.constants)},"
        yield "    }"
        yield "  end"
        if record.texts:
            yield ""
            yield f"  copy.{record.c_name}_texts = {{"
            for text in record.texts:
                yield f'    {{"{text_name(text)}", {model.header.constants[text.constant]}}},'
            yield "  }"
    yield ""
    yield "  return copy"
    yield "end"


def text_name(text):
    """name for process_name, as a usage belongs to a process."""
    return text.name.removeprefix("process_")


TYPES = {"f64": "number", "text": "string"}


def _types(model):
    def prefix(enumeration):
        return f"{enumeration.prefix.removeprefix('HMN_')}*"

    words = Words(model, prefix, lambda enumeration, member: member.name.removeprefix("HMN_"),
                  lambda record: f"hypomnesis.{camel(record.name)}", lambda record, name: drop_unit(name))
    yield "---@meta"
    for record in model.records.values():
        if record.name == "error":  # a failure's message, status and detail
            continue
        absent = " What is not known is nil." if any(field.bit for field in record.fields) else ""
        yield ""
        yield from wrap_comment(f"{make_sentence(words(record.comment, record))}{absent}", "---")
        yield f"---@class hypomnesis.{camel(record.name)}"
        for field in record.fields:
            comment = words.describe_field(record, field)
            enumeration = model.enumerations.get(field.enumeration)
            if enumeration and not comment.startswith("the "):
                joint = "; " if ":" in comment else ": "
                comment = f"{prefix(enumeration)}{joint}{comment}" if comment else prefix(enumeration)
            kind = TYPES.get(field.kind, "integer")
            if field.name.endswith("_ns"):
                kind, comment = "number", f"seconds: {comment}" if comment else "seconds"
            yield f"---@field {drop_unit(field.name)} {kind}{'?' if field.bit else ''} {comment}".rstrip()
        for text in record.texts:
            yield f"---@field {text_name(text)} string? in a snapshot: {words(text.comment, record)}"


def outputs(model):
    for name, lines in (("constants", _constants), ("names", _names), ("cdef", _cdef), ("records", _records), ("types", _types)):
        yield f"lua/hypomnesis/generated/{name}.lua", "\n".join([*notice("--"), *lines(model)]) + "\n"
