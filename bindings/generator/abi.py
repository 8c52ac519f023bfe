# SPDX-License-Identifier: MIT OR Apache-2.0
"""abi.json: constants and structs with sizes and offsets, what the tests of each language are held against."""
import json


def _facts(model):
    header = model.header
    structs = {}
    for struct in header.structs.values():
        bits = model.bits_of(struct.name)
        structs[struct.name] = {
            "size": struct.size,
            "fields": [{"name": f.name, "type": f.type, "count": f.count, "offset": f.offset,
                        "size": f.size, "present": bits.get(f.name)} for f in struct.fields]}
    functions = {name: [f"{p.type} {p.name}" for p in function.parameters]
                 for name, function in header.functions.items()}
    return {"version": header.version, "constants": header.constants, "structs": structs,
            "functions": functions}


def outputs(model):
    yield "abi.json", json.dumps(_facts(model), indent=1) + "\n"
