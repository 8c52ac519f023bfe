#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""write_layout.py HEADER LAYOUT...: the assertions that the layouts still lack, from the declarations
and the rule that each field follows the last at its own alignment. Read them before freezing them."""
import pathlib
import re
import sys

import header as headers


def of_struct(struct):
    yield f"SIZE({struct.name}, {struct.size});"
    for field in struct.fields:
        if field.count:
            yield f"TEXT({struct.name}, {field.name}, {field.offset}, {field.count});"
        else:
            yield f"FIELD({struct.name}, {field.name}, {field.offset}, {field.type});"


def of_function(function):
    parameters = ", ".join(p.type for p in function.parameters) or "void"
    yield f"FUNCTION({function.name}, {function.result}, {parameters});"


def assertions(header):
    for struct in header.structs.values():
        yield from of_struct(struct)
    for name, value in header.constants.items():
        yield f"NUMBER({name}, {value});"
    for function in header.functions.values():
        yield from of_function(function)


def subject(assertion):
    return re.match(r"\s*(SIZE|NUMBER|FUNCTION|(?:FIELD|TEXT)\(\w+, \w+|\w+)\(?(\w+)?", assertion).groups()


def main():
    header = headers.parse(sys.argv[1])
    told = "\n".join(pathlib.Path(path).read_text() for path in sys.argv[2:])
    known = {subject(line) for line in told.splitlines() if re.match(r"(SIZE|NUMBER|FUNCTION|FIELD|TEXT)\(", line)}
    for assertion in assertions(header):
        if subject(assertion) not in known:
            print(assertion)


if __name__ == "__main__":
    main()
