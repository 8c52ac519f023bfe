# SPDX-License-Identifier: MIT OR Apache-2.0
"""../tests/abi/layout_v*.c     assertions of what the header declares
../abi/backends, metrics, ...   numbers that it assigns

These files are frozen: their lines stay, and abi.consistency compares them with the header. Whatever is new in the
header gets a line after that of its predecessor. Read the new lines before you commit them."""
import re

from . import ROOT
from .model import consistency


def _statements(header):
    """Lists of (subject, assertion) in the order of the header."""
    values = {member.name: member.value for enumeration in header.enumerations for member in enumeration.members}
    structs = []
    for struct in header.structs.values():
        structs.append((f"SIZE({struct.name},", f"\nSIZE({struct.name}, {struct.size});"))
        for field in struct.fields:
            kind, last = ("TEXT", field.count) if field.count else ("FIELD", field.type)
            structs.append((f"{kind}({struct.name}, {field.name},",
                            f"{kind}({struct.name}, {field.name}, {field.offset}, {last});"))
    yield structs
    values |= {name: f"{header.constants[name]:#x}ull" for name in header.presence}
    yield [(f"NUMBER({name},", f"NUMBER({name}, {values.get(name, value)});")
           for name, value in header.constants.items()]
    yield [(f"FUNCTION({function.name},",
            f"FUNCTION({function.name}, {function.result}, "
            f"{', '.join(parameter.type for parameter in function.parameters) or 'void'});")
           for function in header.functions.values()]


def _extend_layout(header, frozen, newest):
    for statements in _statements(header):
        end = len(newest)
        for subject, statement in statements:
            match = re.search(rf"^{re.escape(subject)}[^;]*;", newest, re.M)
            if match:
                end = match.end()
            elif not re.search(rf"^{re.escape(subject)}", frozen, re.M):
                newest = f"{newest[:end]}\n{statement}{newest[end:]}"
                end += len(statement) + 1
    return newest


def _extend_registry(header, pattern, text):
    since = ".".join(header.version.split(".")[:2])
    lines = text.splitlines()
    position = len(lines)
    for name, number in header.constants.items():
        if not re.match(pattern, name) or re.search("_SIZE_V|_HAS_", name):
            continue
        positions = [index for index, line in enumerate(lines) if line.split()[1:2] == [name]]
        if positions:
            position = positions[0] + 1
            continue
        if name not in header.meanings:
            raise SystemExit(f"generate: {name} has no comment in hypomnesis.h: its registry in abi/ needs a meaning")
        row = re.match(r"( *\S+ +)(\S+ +)(\S+ +)", lines[position - 1])
        widths = [len(part) for part in row.groups()]
        number = f"{number:>{len(row[1].rstrip())}}".ljust(widths[0])
        lines.insert(position, f"{number}{name:<{widths[1] - 1}} {since:<{widths[2] - 1}} {header.meanings[name]}")
        position += 1
    return "\n".join(lines) + "\n"


def outputs(model):
    layouts = sorted((ROOT / "tests/abi").glob("layout_v*.c"),
                     key=lambda path: [int(number) for number in re.findall(r"\d+", path.stem)])
    texts = [path.read_text(encoding="utf-8") for path in layouts]
    yield f"../tests/abi/{layouts[-1].name}", _extend_layout(model.header, "".join(texts), texts[-1])
    for name, pattern in consistency.REGISTRIES.items():
        text = (ROOT / "abi" / name).read_text(encoding="utf-8")
        yield f"../abi/{name}", _extend_registry(model.header, pattern, text)
