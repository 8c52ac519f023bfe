# SPDX-License-Identifier: MIT OR Apache-2.0
"""Parses include/hypomnesis.h: functions, constants, structs."""
import dataclasses
import re

SIZES = {"uint32_t": 4, "int32_t": 4, "hmn_flags": 4, "hmn_status": 4, "hmn_fields": 8, "uint64_t": 8, "int64_t": 8,
         "double": 8, "char": 1}


@dataclasses.dataclass
class Field:
    name: str
    type: str
    count: int | None
    offset: int
    size: int
    comment: str = ""


@dataclasses.dataclass
class Struct:
    name: str
    fields: list[Field]
    comment: str = ""

    @property
    def size(self):
        last = self.fields[-1]
        end = last.offset + last.size
        alignment = max(SIZES[field.type] for field in self.fields)
        return -(-end // alignment) * alignment


@dataclasses.dataclass
class Enumerator:
    name: str
    value: str  # as written
    comment: str


@dataclasses.dataclass
class Enumeration:
    comment: str
    members: list[Enumerator]


@dataclasses.dataclass
class Parameter:
    name: str
    type: str


@dataclasses.dataclass
class Function:
    name: str
    result: str
    parameters: list[Parameter]
    comment: str = ""
    is_deprecated: bool = False


@dataclasses.dataclass
class Header:
    version: str
    constants: dict[str, int]
    presence: set[str]        # names of presence bits, which have 64 bits
    meanings: dict[str, str]
    enumerations: list[Enumeration]
    structs: dict[str, Struct]
    handles: list[str]
    functions: dict[str, Function]
    macros: dict[str, str]    # bodies with their conditions; and where declarations are extern "C"
    typedefs: dict[str, str]

    @property
    def soversion(self):
        """The number in the soname, as cmake/version.cmake derives it."""
        return soversion(self.version)


def soversion(version):
    major, minor = version.split(".")[:2]
    return f"0.{minor}" if major == "0" else major


def parse(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    code = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return Header(
        version=_version(code),
        constants=_constants(code),
        presence={name for name, _ in re.findall(_PRESENCE, code, re.M)},
        meanings=_meanings(text),
        enumerations=_enumerations(text),
        structs=_structs(text),
        handles=re.findall(r"typedef struct (\w+) \1;", code),
        functions=_functions(text),
        macros=_macros(code),
        typedefs={name: type_ for type_, name in re.findall(r"^typedef (\w+) (\w+);", code, re.M)})


def _macros(code):
    """Returns the macros except the version as "BODY if CONDITION and CONDITION", with " or " between definitions."""
    macros, conditions = {}, []
    for line in re.sub(r"\\\n", " ", code).splitlines():
        word, rest = re.match(r"\s*(?:#\s*(\w*))?(.*)", line).groups()
        rest = " ".join(rest.split())
        if word in ("if", "ifdef", "ifndef"):
            conditions.append({"if": rest, "ifdef": f"defined({rest})", "ifndef": f"!defined({rest})"}[word])
        elif word in ("elif", "else"):
            conditions[-1] = f"else {rest}".strip()
        elif word == "endif":
            conditions.pop()
        name, body = None, ""
        if word == "define" and not rest.startswith("HMN_VERSION_"):
            name, body = re.match(r"(\w+)(.*)", rest).groups()
        elif rest.startswith('extern "C"'):
            name = 'extern "C"'
        if name:
            condition = " and ".join(conditions[1:])  # the first is the guard of the header
            body = f"{body.strip()} if {condition}" if condition else body.strip()
            macros[name] = f"{macros[name]} or {body}" if name in macros else body
    return macros


def _version(code):
    return ".".join(re.search(rf"#define HMN_VERSION_{part} (\d+)", code).group(1)
                    for part in ("MAJOR", "MINOR", "PATCH"))


def _constants(code):
    constants = {}
    for body in re.findall(r"\benum\s*\{(.*?)\}", code, re.S):
        for name, value in re.findall(r"(HMN_\w+)\s*=\s*([^,]+)", body):
            if name in constants:
                raise ValueError(f"{name} is declared twice")
            constants[name] = _number(value.strip())
    for name, bit in re.findall(_PRESENCE, code, re.M):
        constants[name] = 1 << int(bit)
    return constants


def _number(text):
    shift = re.fullmatch(r"1 << (\d+)", text)
    return 1 << int(shift.group(1)) if shift else int(text, 0)


def _meanings(text):
    """Returns the comments after constants, each as one line."""
    return {member.name: member.comment for enumeration in _enumerations(text)
            for member in enumeration.members if member.comment}


def _one_line(comment):
    return re.sub(r"\s*\n\s*\*\s*|\s+", " ", comment or "").strip()


# A comment before a declaration, and one after an enumerator or a field on the same line.
_LEADING_COMMENT = r"(?:/\*\*((?:(?!\*/).)*)\*/\s*)?"
_TRAILING_COMMENT = r"[ \t]*(?:/\*(.*?)\*/)?"


def _enumerations(text):
    enumerations = []
    for comment, body in re.findall(_LEADING_COMMENT + r"\benum\s*\{(.*?)\};", text, re.S):
        members = re.findall(r"(HMN_\w+)\s*=\s*([^,/\n]*[^,/\s]),?" + _TRAILING_COMMENT, body, re.S)
        enumerations.append(Enumeration(_one_line(comment),
                                        [Enumerator(name, value, _one_line(words))
                                         for name, value, words in members]))
    return enumerations + _presence(text)


# A presence bit has 64 bits, which an enumerator of C89 cannot have: it is a macro.
_PRESENCE = r"^#define (HMN_\w+_HAS_\w+) HMN_PRESENCE\((\d+)\)"


def _presence(text):
    """Returns the presence bits of each struct as an enumeration."""
    enumerations = {}
    for name, bit, words in re.findall(_PRESENCE + _TRAILING_COMMENT, text, re.M):
        prefix = name[:name.index("_HAS_")]
        enumerations.setdefault(prefix, Enumeration("", [])).members.append(
            Enumerator(name, f"1 << {bit}", _one_line(words)))
    return list(enumerations.values())


def _structs(text):
    structs = {}
    for comment, name, body in re.findall(_LEADING_COMMENT + r"typedef struct (\w+) \{(.*?)\} \2;", text, re.S):
        fields, offset = [], 0
        pattern = r"(\w+)\s+(\w+)(?:\[(\d+)\])?\s*;" + _TRAILING_COMMENT
        for type_, field, count, words in re.findall(pattern, body, re.S):
            if type_ not in SIZES:
                raise ValueError(f"{name}.{field} is {type_}: give SIZES of tests/abi/gate/header.py its size")
            offset = -(-offset // SIZES[type_]) * SIZES[type_]
            size = SIZES[type_] * int(count or 1)
            fields.append(Field(field, type_, int(count) if count else None, offset, size,
                                _one_line(words)))
            offset += size
        structs[name] = Struct(name, fields, _one_line(comment))
    return structs


def _functions(text):
    functions = {}
    for comment, deprecated, result, name, arguments in re.findall(
            _LEADING_COMMENT + r"(HMN_DEPRECATED\(\"[^\"]+\"\)\s*)?HMN_FN\(([^)]*)\)\s*(\w+)\((.*?)\) HMN_NX;",
            text, re.S):
        parameters = []
        for argument in [] if arguments.strip() == "void" else arguments.split(","):
            type_, parameter = re.fullmatch(r"\s*(.*?[\s*])(\w+)\s*", argument, re.S).groups()
            parameters.append(Parameter(parameter, re.sub(r"\s+", " ", type_).strip()))
        functions[name] = Function(name, result.strip(), parameters, _one_line(comment), bool(deprecated))
    return functions
