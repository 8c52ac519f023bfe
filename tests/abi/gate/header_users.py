#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""header_users.py everything|macros|msvc|zig|libclang INCLUDE_DIR TOOL...: the header in tools other than a C compiler on
Linux.

everything  clang with all warnings except those listed here, in C and C++
macros      macros that the header adds to those of <stdint.h> begin with HMN_
msvc        clang as MSVC's compiler, for Windows, in each of its standards
zig         zig translate-c finds every function, struct and constant
libclang    libclang, on which jextract and bindgen are built, reads the same as header.py, on three systems
"""
import ctypes
import glob
import pathlib
import re
import subprocess
import sys
import tempfile

import header as headers

# Warnings that are disabled.
EVERYTHING = ("c++98-compat", "c++98-compat-pedantic")  # noexcept is used where it is available
TARGETS = ("x86_64-linux-gnu", "i386-linux-gnu", "x86_64-pc-windows-msvc")


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    return result.returncode, result.stdout, result.stderr


def write_source(folder, include, language):
    header = headers.parse(include / "hypomnesis.h")
    lines = ["#include <hypomnesis.h>", "uint32_t used(void);", "uint32_t used(void) {", "  uint32_t sum = 0;"]
    for name in header.structs:
        lines.append(f"  {{ const {name} one = HMN_INIT({name}); sum += one.struct_size; }}")
    path = folder / f"used.{language}"
    path.write_text("\n".join([*lines, "  return sum;", "}", ""]))
    return path


def find_refusals(label, command):
    code, _, errors = run(*command)
    if code or errors:
        yield f"{label}: {errors[:2000]}"


def everything(folder, include, clang, clangxx):
    disabled_warnings = [f"-Wno-{name}" for name in EVERYTHING]
    for compiler, language, standards in ((clang, "c", ("c99", "c11", "c17", "c23")), (clangxx, "cpp", ("c++11", "c++17", "c++20", "c++23"))):
        path = write_source(folder, include, language)
        for standard in standards:
            yield from find_refusals(f"clang -Weverything -std={standard}",
                                     [compiler, f"-std={standard}", "-Weverything", *disabled_warnings, "-Werror",
                                      f"-I{include}", "-fsyntax-only", path])


def macros(folder, include, compiler):
    def list_macros(text):
        path = folder / "macros.c"
        path.write_text(text)
        return set(re.findall(r"^#define (\w+)", run(compiler, "-E", "-dM", f"-I{include}", path)[1], re.M))

    before, after = list_macros("#include <stdint.h>\n"), list_macros("#include <hypomnesis.h>\n")
    if not after:
        yield f"{compiler} does not print macros"
    for name in sorted(after - before):
        if not name.startswith("HMN_"):
            yield f"the header leaks the macro {name}"


def msvc(folder, include, clang):
    base = [clang, "--driver-mode=cl", "--target=x86_64-pc-windows-msvc", "/W4", "/WX", "/permissive-", "/clang:-ffreestanding",
            "/clang:-nostdlibinc", f"/I{include}", "/Zs"]
    for mode in ((), ("/DHMN_STATIC",)):
        for language, flag, standards in (("c", "/TC", ("c11", "c17")), ("cpp", "/TP", ("c++14", "c++17", "c++20", "c++latest"))):
            path = write_source(folder, include, language)
            for standard in standards:
                yield from find_refusals(f"clang-cl /std:{standard} {' '.join(mode)}",
                                         [*base, f"/std:{standard}", *mode, flag, path])


def zig(folder, include, program):
    code, text, errors = run(program, "translate-c", "-lc", f"-I{include}", include / "hypomnesis.h",
                             "--global-cache-dir", folder / "cache")
    if code:
        yield f"zig translate-c fails: {errors[:2000]}"
        return
    header = headers.parse(include / "hypomnesis.h")
    for name in header.functions:
        if f"pub extern fn {name}(" not in text:
            yield f"zig translate-c finds no function {name}"
    for name in [*header.structs, *header.handles, *header.constants]:
        match = re.search(rf"pub const {name}(:.*?)? = (.*?);", text)
        if not match or "@compileError" in match[2]:
            yield f"zig translate-c finds no {name}"


# ---- libclang ----


class Cursor(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("xdata", ctypes.c_int), ("data", ctypes.c_void_p * 3)]


class String(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("flags", ctypes.c_uint)]


class Type(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("data", ctypes.c_void_p * 2)]


VISITOR = ctypes.CFUNCTYPE(ctypes.c_int, Cursor, Cursor, ctypes.c_void_p)
STRUCT, ENUM, FIELD, ENUMERATOR, FUNCTION = 2, 5, 6, 7, 8


class Clang:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        for name, result, *arguments in (
                ("createIndex", ctypes.c_void_p, ctypes.c_int, ctypes.c_int),
                ("parseTranslationUnit", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p),
                 ctypes.c_int, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint),
                ("getNumDiagnostics", ctypes.c_uint, ctypes.c_void_p), ("getTranslationUnitCursor", Cursor, ctypes.c_void_p),
                ("visitChildren", ctypes.c_uint, Cursor, VISITOR, ctypes.c_void_p), ("getCursorSpelling", String, Cursor),
                ("getCString", ctypes.c_char_p, String), ("getCursorType", Type, Cursor), ("getTypeSpelling", String, Type),
                ("getCursorResultType", Type, Cursor), ("Type_getSizeOf", ctypes.c_longlong, Type),
                ("Type_getAlignOf", ctypes.c_longlong, Type), ("Cursor_getOffsetOfField", ctypes.c_longlong, Cursor),
                ("getEnumConstantDeclValue", ctypes.c_longlong, Cursor), ("Cursor_getNumArguments", ctypes.c_int, Cursor),
                ("Cursor_getArgument", Cursor, Cursor, ctypes.c_uint)):
            function = getattr(self.library, f"clang_{name}")
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def children(self, cursor):
        children = []

        def visit(child, _parent, _data):
            children.append(Cursor.from_buffer_copy(child))
            return 1

        self.visitChildren(cursor, VISITOR(visit), None)
        return children

    def name(self, cursor):
        return self.getCString(self.getCursorSpelling(cursor)).decode()

    def spelling(self, type_):
        return self.getCString(self.getTypeSpelling(type_)).decode()

    def parse(self, path, arguments):
        words = (ctypes.c_char_p * len(arguments))(*(str(word).encode() for word in arguments))
        unit = self.parseTranslationUnit(self.createIndex(0, 0), str(path).encode(), words, len(arguments), None, 0, 0)
        if not unit or self.getNumDiagnostics(unit):
            return None
        structs, constants, functions = {}, {}, {}
        for cursor in self.children(self.getTranslationUnitCursor(unit)):
            name, type_ = self.name(cursor), self.getCursorType(cursor)
            if cursor.kind == STRUCT and name.startswith("hmn_") and self.children(cursor):
                structs[name] = (self.Type_getSizeOf(type_), self.Type_getAlignOf(type_),
                                 [(self.name(field), self.spelling(self.getCursorType(field)), self.Cursor_getOffsetOfField(field) // 8)
                                  for field in self.children(cursor) if field.kind == FIELD])
            elif cursor.kind == ENUM:
                constants |= {self.name(enumerator): self.getEnumConstantDeclValue(enumerator)
                              for enumerator in self.children(cursor) if enumerator.kind == ENUMERATOR and self.name(enumerator).startswith("HMN_")}
            elif cursor.kind == FUNCTION and name.startswith("hmn_"):
                arguments = [self.Cursor_getArgument(cursor, i) for i in range(self.Cursor_getNumArguments(cursor))]
                functions[name] = [self.spelling(self.getCursorResultType(cursor)),
                                   *((self.spelling(self.getCursorType(argument)), self.name(argument))
                                     for argument in arguments)]
        return structs, constants, functions


def libclang(_folder, include, clang):
    resources = run(clang, "-print-resource-dir")[1].strip()
    library = sorted(glob.glob(f"{resources}/../../libclang*.so*") + glob.glob(f"{resources}/../../libclang-*.so*"))
    library = [path for path in library if "cpp" not in path]
    header = headers.parse(include / "hypomnesis.h")
    structs = {struct.name: [(field.name, field.type + (f"[{field.count}]" if field.count else ""), field.offset)
                             for field in struct.fields]
               for struct in header.structs.values()}
    enumerators = {name: value for name, value in header.constants.items() if name not in header.presence}
    functions = {function.name: [function.result, *((p.type, p.name) for p in function.parameters)]
                 for function in header.functions.values()}
    for target in TARGETS:
        results = Clang(library[-1]).parse(include / "hypomnesis.h", [
            "-x", "c", "-std=c11", f"--target={target}", "-ffreestanding", "-nostdlibinc", "-resource-dir", resources])
        if results is None:
            yield f"libclang does not parse the header for {target}"
            continue
        for name, (size, align, fields) in results[0].items():
            has_eight_bytes = any(field.type in ("uint64_t", "int64_t", "double", "hmn_fields")
                                  for field in header.structs[name].fields)
            natural_alignment = (4 if "i386" in target else 8) if has_eight_bytes else 4
            if (fields, size) != (structs.get(name), header.structs[name].size):
                yield f"libclang lays out {name} differently for {target}: {fields}, {size} bytes"
            if align != natural_alignment:
                yield f"libclang aligns {name} to {align} for {target}, not to {natural_alignment}"
        for label, actual, expected in (("structs", results[0].keys(), structs.keys()),
                                        ("constants", results[1], enumerators), ("functions", results[2], functions)):
            if actual != expected:
                names = set(actual) ^ set(expected) or {key for key in actual if actual[key] != expected[key]}
                yield f"libclang reads other {label} for {target}: {', '.join(sorted(names))}"


def main():
    mode, include, *tools = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        problems = list(globals()[mode](pathlib.Path(folder), pathlib.Path(include).resolve(), *tools))
    for problem in problems:
        print(f"header: {problem}", file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
