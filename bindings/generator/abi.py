# SPDX-License-Identifier: MIT OR Apache-2.0
"""abi.json: constants, and structs with sizes and offsets, with which the tests compare each language."""
import json


def _facts(model):
    header = model.header
    structs = {}
    for struct in header.structs.values():
        bits = model.presence_bits(struct.name)
        structs[struct.name] = {
            "size": struct.size,
            "fields": [{"name": field.name, "type": field.type, "count": field.count, "offset": field.offset,
                        "size": field.size, "present": bits.get(field.name)} for field in struct.fields]}
    functions = {name: [f"{p.type} {p.name}" for p in function.parameters]
                 for name, function in header.functions.items()}
    return {"version": header.version, "constants": header.constants, "structs": structs,
            "functions": functions}


def outputs(model):
    yield "abi.json", json.dumps(_facts(model), indent=1) + "\n"
