# SPDX-License-Identifier: MIT OR Apache-2.0
"""statuses.py HEADER OUT: writes a row {"hmn_…", bits} for each function of the public header, bit -s
for each status s that its documentation names, there or by `as hmn_…`."""
import re
import sys

# "Statuses" at the header's top; HMN_E_INTERNAL is a defect, which no fault excuses.
EVERYWHERE = {"HMN_OK", "HMN_E_ARGUMENT", "HMN_E_STRUCT_SIZE", "HMN_E_UNKNOWN_FLAG", "HMN_E_NO_MEMORY"}


OF_A_HANDLE = re.compile(r"\bhmn_(context|sampler|spill) \*\w")


def documentation(header):
    """function -> the text of the comment in front of it."""
    found = re.findall(r"/\*\*((?:(?!\*/).)*)\*/\s*HMN_FN\([^)]*\)\s*(\w+)\(([^;]*);", header, re.S)
    return {name: re.sub(r"\s*\n \*\s*", " ", text) +
            (" HMN_E_LIMIT" if OF_A_HANDLE.search(parameters) else "")
            for text, name, parameters in found}


def statuses(name, documented, seen):
    if name in seen or name not in documented:
        return set()
    text = documented[name]
    found = set(re.findall(r"HMN_E_\w+", text))
    for other in re.findall(r"\bas (hmn_\w+)", text):
        found |= statuses(other, documented, seen | {name})
    return found


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        header = file.read()
    numbers = dict(re.findall(r"^\s*(HMN_OK|HMN_E_\w+) = -?(\d+)", header, re.M))
    documented = documentation(header)
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        for name in documented:
            named = (statuses(name, documented, set()) | EVERYWHERE) - {"HMN_E_INTERNAL"}
            bits = sum(1 << int(numbers[status]) for status in named)
            print(f'{{"{name}", {bits:#x}}},', file=out)


main()
