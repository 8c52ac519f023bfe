# SPDX-License-Identifier: MIT OR Apache-2.0
"""../tests/bindings/c/records.c       fields of each record, for the agent in C
../tests/bindings/c/records.h       its declarations
../tests/bindings/cpp/records.hpp   what the agent in C++ prints of each record
"""
from .text import notice


def _records(model):
    return [record for record in model.records.values() if record.name != "error"]


def _kind(field):
    return "U32" if field.kind == "bool" else field.kind.upper()


def _c_tables(model):
    yield '#include "records.h"'
    for record in _records(model):
        yield from ("", f"const struct field {record.name}_fields[] = {{")
        for field in record.fields:
            yield f'    {{"{field.name}", {_kind(field)}, offsetof({record.c_name}, {field.name}), {field.bit or 0}}},'
        yield from ("    {NULL, END, 0, 0}};",)


def _c_declarations(model):
    yield from ("/* The fields of each result: name, how it is written, where it lies, and the bit that guards it. */",
                "#ifndef HMN_TESTS_BINDINGS_RECORDS_H", "#define HMN_TESTS_BINDINGS_RECORDS_H",
                "#include <hypomnesis.h>", "#include <stddef.h>", "",
                "enum kind { END, U32, I32, U64, I64, F64, TEXT };", "", "struct field {", "  const char* name;",
                "  enum kind kind;", "  size_t offset;", "  hmn_fields bit; /* 0: always there */", "};", "")
    for record in _records(model):
        yield f"extern const struct field {record.name}_fields[];"
    yield from ("", "#endif")


def _cpp(model):
    yield from ("#ifndef HMN_TESTS_BINDINGS_RECORDS_HPP", "#define HMN_TESTS_BINDINGS_RECORDS_HPP",
                "#include <hypomnesis.hpp>", "", "// put(key, value) takes one field.")
    for record in _records(model):
        yield from ("template <class Put>", f"void each_field(const hypomnesis::{record.name}& v, Put put) {{")
        for field in record.fields:
            yield f'  put("{field.name}", v.{field.name});'
        yield from ("}", "")
    yield "#endif"


def outputs(model):
    for path, mark, lines in (("c/records.c", "//", _c_tables), ("c/records.h", "//", _c_declarations),
                              ("cpp/records.hpp", "//", _cpp)):
        yield f"../tests/bindings/{path}", "\n".join([*notice(mark), *lines(model)]) + "\n"
