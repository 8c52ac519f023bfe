# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes GGUF files: a header, and data that are zeros and take no space on the disk."""
import math
import os
import struct

BITS, FRACTION, TRUTH, TEXT, LIST, LONG = 4, 6, 7, 8, 9, 10  # types of values
TYPES = {"F32": (0, 4), "F16": (1, 2)}  # of tensors: number, bytes of an element


def pack_text(words):
    return struct.pack("<Q", len(words.encode())) + words.encode()


def find_type(value):
    if isinstance(value, bool):
        return TRUTH
    if isinstance(value, int):
        return BITS if value < 1 << 32 else LONG
    return FRACTION if isinstance(value, float) else TEXT


def pack_scalar(kind, value):
    if kind == TEXT:
        return pack_text(value)
    return struct.pack({BITS: "<I", LONG: "<Q", FRACTION: "<f", TRUTH: "<?"}[kind], value)


def pack_value(value):
    if isinstance(value, list):
        kind = max(map(find_type, value), default=BITS)
        return (struct.pack("<IIQ", LIST, kind, len(value))
                + b"".join(pack_scalar(kind, element) for element in value))
    return struct.pack("<I", find_type(value)) + pack_scalar(find_type(value), value)


def make_gguf(keys, tensors):
    """Returns the header and the size of the data. keys: name to value; tensors: (name, "F16", [size...])."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    for name, value in keys.items():
        head += pack_text(name) + pack_value(value)
    offset = 0
    for name, kind, sizes in tensors:
        number, size = TYPES[kind]
        head += pack_text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, number, offset)
        offset += -(-math.prod(sizes) * size // 32) * 32
    return head + b"\0" * (-len(head) % 32), offset


def write_gguf(path, keys, tensors):
    head, size = make_gguf(keys, tensors)
    path.write_bytes(head)
    os.truncate(path, len(head) + size)
