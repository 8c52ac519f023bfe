# SPDX-License-Identifier: MIT OR Apache-2.0
"""../src/api/result_fields.def   the fields of each result that have a presence bit, so that the library sets no bit of
a field past the end of a caller's struct"""
from .text import notice


def _results(model):
    for record in model.records.values():
        bits = model.presence_bits(record.c_name)
        if bits:
            yield ""
            yield f"HMN_RESULT({record.c_name},"
            rows = [f"  HMN_OPTIONAL_FIELD({record.c_name}, {field}, {bit})" for field, bit in bits.items()]
            yield from rows[:-1]
            yield f"{rows[-1]})"


def outputs(model):
    yield "../src/api/result_fields.def", "\n".join([*notice("//"), "// clang-format off", *_results(model)]) + "\n"
