# SPDX-License-Identifier: MIT OR Apache-2.0
"""lua/hypomnesis/generated/

constants.lua  every constant
cdef.lua       declarations of the header as LuaJIT reads them
records.lua    for LuaJIT: records of its FFI as tables
"""
from .text import notice


def _constants(model):
    yield "return {"
    for name, value in model.header.constants.items():
        yield f"  {name.removeprefix('HMN_')} = {value},"
    yield "}"


def _cdef(model):
    header = model.header
    yield "return {"
    yield f'  version = "{header.version}",'
    yield "  declarations = [["
    yield "typedef int32_t hmn_status;"
    yield "typedef uint32_t hmn_flags;"
    for handle in header.handles:
        yield f"typedef struct {handle} {handle};"
    for struct in header.structs.values():
        yield f"typedef struct {struct.name} {{"
        for field in struct.fields:
            count = f"[{field.count}]" if field.count else ""
            yield f"  {field.type} {field.name}{count};"
        yield f"}} {struct.name};"
    for function in header.functions.values():
        parameters = ", ".join(f"{p.type} {p.name}" for p in function.parameters) or "void"
        yield f"{function.result} {function.name}({parameters});"
    yield "]],"
    yield "}"


VALUES = {"text": "text(record.{})", "u64": "unsigned(record.{})", "i64": "signed(record.{})"}


def _value(field, constants):
    value = VALUES.get(field.kind, "record.{}").format(field.name)
    return f"band(present, {constants[field.bit]}) ~= 0 and {value} or nil" if field.bit else value


def _records(model):
    yield "-- `text` makes a string of a char array, `unsigned` and `signed` what 64 bits are told by."
    yield "return function(band, text, unsigned, signed)"
    yield "  local copy = {}"
    for record in model.records.values():
        yield ""
        yield f"  function copy.{record.c_name}(record)"
        if any(field.bit for field in record.fields):
            yield "    local present = record.present"
        yield "    return {"
        for field in record.fields:
            yield f"      {field.name} = {_value(field, model.header.constants)},"
        yield "    }"
        yield "  end"
    yield ""
    yield "  return copy"
    yield "end"


def outputs(model):
    for name, lines in (("constants", _constants), ("cdef", _cdef), ("records", _records)):
        yield f"lua/hypomnesis/generated/{name}.lua", "\n".join([*notice("--"), *lines(model)]) + "\n"
