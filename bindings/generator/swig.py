# SPDX-License-Identifier: MIT OR Apache-2.0
"""Input files of SWIG.

swig/records.i      the result structs, each field with its presence bit
swig/records_lua.i  the same as plain Lua tables
swig/values.i       the same as tables in C, for languages that copy all values of a record at once
swig/constants.i    every constant
"""
from .lua import text_name
from .text import drop_unit, notice

LUA_MEMBERS = {"device": 4}  # fields that the copy of a snapshot adds: pools, metrics, telemetry, own usage


def _kind(field):
    return "u32" if field.kind == "bool" else field.kind


def _value_kind(field):
    return "seconds" if field.name.endswith("_ns") else field.kind


def _records(model):
    for record in model.records.values():
        yield f"HMN_RECORD({record.c_name})"
        yield "typedef struct {"
        if record.has_present:
            yield "  hmn_fields present;"
        for field in record.fields:
            if not field.bit:
                count = f"[{field.count}]" if field.count else ""
                yield f"  {field.type} {field.name}{count};"
        yield f"}} {record.c_name};"
        for field in record.fields:
            if field.bit:
                yield f"HMN_OPTIONAL({record.c_name}, {_kind(field)}, {field.name}, {field.bit})"
        yield ""


def _lua_kind(field):
    return "fields" if field.type == "hmn_fields" else _kind(field)


def _lua_records(model):
    """C functions that push a record as a Lua table."""
    for record in model.records.values():
        always = sum(field.bit is None for field in record.fields)
        optional = " + hmn_lua_count(record->present)" if always < len(record.fields) else ""
        yield "%{"
        yield f"static void hmn_lua_push_{record.c_name}(lua_State *L, const {record.c_name} *record) {{"
        yield f"  lua_createtable(L, 0, {always + len(record.texts) + LUA_MEMBERS.get(record.name, 0)}{optional});"
        for field in record.fields:
            if field.bit:
                yield f"  if (record->present & {field.bit})"
            push = f"HMN_LUA_SECONDS({drop_unit(field.name)}, {field.name})" if field.name.endswith("_ns") else \
                f"HMN_LUA_FIELD({_lua_kind(field)}, {field.name})"
            yield f"{'  ' if field.bit else ''}  {push};"
        yield "}"
        if record.texts:
            yield f"static const hmn_lua_text {record.c_name}_texts[] = {{"
            for text in record.texts:
                yield f'  {{{text.constant}, "{text_name(text)}"}},'
            yield "  {0, NULL},"
            yield "};"
        yield "%}"
        yield f"HMN_LUA_RECORD({record.c_name})"
        yield ""


def _values(model):
    for record in model.records.values():
        if record.name == "error":
            continue
        yield f"HMN_VALUES({record.c_name})"
        yield "%{"
        yield f"static const hmn_value {record.c_name}_values[] = {{"
        for field in record.fields:
            yield f"  {{HMN_VALUE_{_value_kind(field)}, offsetof({record.c_name}, {field.name}), {field.bit or 0}}},"
        yield "  {HMN_VALUE_end, 0, 0},"
        yield "};"
        yield "%}"
        yield ""


def _constants(model):
    for name in model.header.constants:
        if name not in model.header.presence:
            yield f"%constant int {name.removeprefix('HMN_')} = {name};"
    yield "// Lua's are written by lua.py: SWIG has no constant of 64 bits there."
    yield "#if !defined(SWIGLUA)"
    for name in model.header.constants:
        if name in model.header.presence:
            yield f"%constant hmn_fields {name.removeprefix('HMN_')} = {name};"
    yield "#endif"


def outputs(model):
    yield "swig/records.i", "\n".join([*notice("//"), "", *_records(model)])
    yield "swig/values.i", "\n".join([*notice("//"), "", *_values(model)])
    yield "swig/constants.i", "\n".join([*notice("//"), *_constants(model)]) + "\n"
    yield "swig/records_lua.i", "\n".join([*notice("//"), "", *_lua_records(model)])
