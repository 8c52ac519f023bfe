# SPDX-License-Identifier: MIT OR Apache-2.0
"""statuses.py HEADER OUT: writes a row {"hmn_…", bits} for each function of the public header; bit -s is set
for each status s that its documentation names, directly or through `as hmn_…`."""
import re
import sys

# "Statuses" at the top of the header; HMN_E_INTERNAL is a defect and never allowed.
COMMON_STATUSES = {"HMN_OK", "HMN_E_ARGUMENT", "HMN_E_STRUCT_SIZE", "HMN_E_UNKNOWN_FLAG", "HMN_E_NO_MEMORY"}


HANDLE_PARAMETER = re.compile(r"\bhmn_(context|sampler|spill) \*\w")


def parse_documentation(header):
    """Returns function -> text of its comment."""
    matches = re.findall(r"/\*\*((?:(?!\*/).)*)\*/\s*HMN_FN\([^)]*\)\s*(\w+)\(([^;]*);", header, re.S)
    return {name: re.sub(r"\s*\n \*\s*", " ", text) +
            (" HMN_E_LIMIT" if HANDLE_PARAMETER.search(parameters) else "")
            for text, name, parameters in matches}


def find_statuses(name, comments, visited):
    if name in visited or name not in comments:
        return set()
    text = comments[name]
    names = set(re.findall(r"HMN_E_\w+", text))
    for other in re.findall(r"\bas (hmn_\w+)", text):
        names |= find_statuses(other, comments, visited | {name})
    return names


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        header = file.read()
    numbers = dict(re.findall(r"^\s*(HMN_OK|HMN_E_\w+) = -?(\d+)", header, re.M))
    comments = parse_documentation(header)
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        for name in comments:
            names = (find_statuses(name, comments, set()) | COMMON_STATUSES) - {"HMN_E_INTERNAL"}
            bits = sum(1 << int(numbers[status]) for status in names)
            print(f'{{"{name}", {bits:#x}}},', file=out)


main()
