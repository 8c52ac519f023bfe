# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every function of the header is called by the raw layer of the bindings, and used by the hand-written package of
each language: through a method of the raw layer, or directly. Generated files are marked in .gitattributes."""
import fnmatch
import re

import tree

HEADER = "include/hypomnesis.h"
LAYER = "bindings/swig"
FOLDERS = {"cpp": ("bindings/cpp", ".hpp"), "csharp": ("bindings/csharp", ".cs"),
           "go": ("bindings/go", ".go"), "lua": ("bindings/lua", ".lua"),
           "luajit": ("bindings/lua", "ffi.lua"), "python": ("bindings/python", ".py")}
# These call the C functions directly; the others use the raw layer.
DIRECT = ("cpp", "luajit")
EXCLUDED = {"go": "_test.go", "lua": "ffi.lua"}

# Names of the layer's objects in the packages: x in x.pool(1).
OBJECT = re.compile(r"(?i)\w*(?:native|raw)\w*$|(?:before|after)$|\)$")

# Their proxies are destroyed by the garbage collector.
GARBAGE_COLLECTED = ("lua", "python")

NOISE = {
    "lua": r"--\[\[.*?\]\]|--[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'",
    "python": r"\"\"\".*?\"\"\"|#[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"}
C_NOISE = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|`[^`]*`"

CALL = re.compile(r"\b(hmn_\w+)\s*\(")


def normalize(name):
    """Returns one form of own_memory, OwnMemory and ownMemory."""
    return name.replace("_", "").lower()


def find_calls(code, functions):
    return set(CALL.findall(code)) & functions


def find_language(path):
    """Returns "lua" for for_lua.i and copy_lua.i; "" for a file of all languages."""
    word = path.stem.rpartition("_")[2]
    return word if word in FOLDERS else ""


def read_layer(root, language):
    return "\n".join(tree.code(root, path) for path in tree.files(root, ".i", under=LAYER)
                     if find_language(path) == language)


def find_bodies(code):
    """Yields (class or "", name, body) of each method and inline function of the layer."""
    for kind, extended in re.findall(r"^%extend (\w+) \{\n(.*?)^\}", code, re.M | re.S):
        for name, body in re.findall(r"^  (?:[\w* ]*?[ *])?(~?\w+)\([^;{]*?\) \{(.*?)(?:\}$|^  \})",
                                     extended, re.M | re.S):
            yield kind, name, body
    for inline in re.findall(r"^%inline %\{\n(.*?)^%\}", code, re.M | re.S):
        for name, body in re.findall(r"^[\w* ]*?(\w+)\([^;{]*?\) \{(.*?)^\}", inline, re.M | re.S):
            yield "", name, body


def list_names(kind, name):
    """Returns the names of a method of the layer in the packages."""
    if name == f"~{kind}":
        return {normalize(f"delete_{kind}")}
    if name == kind:
        return {normalize(f"{prefix}{kind}") for prefix in ("", "new_", "hypomnesis_")}
    return {normalize(name), normalize(f"{kind}_{name}"), normalize(f"hypomnesis_{kind}_{name}")}


def find_methods(code, functions):
    """Returns function -> names under which a package calls it."""
    names = {name: {normalize(new)} for new, name in re.findall(r"%rename\((\w+)\) (hmn_\w+);", code)}
    for kind, name, body in find_bodies(code):
        for function in find_calls(body, functions):
            names.setdefault(function, set()).update(list_names(kind, name))
    return names


def is_generated(root, path):
    return re.search(r"(Written|generated) by bindings/", tree.text(root, path)[:400])


def is_written_by_hand(root, path):
    return not any(part.lower().startswith("generated") for part in path.parts) and not is_generated(root, path)


def find_unmarked(root):
    """Yields generated files that .gitattributes does not name."""
    patterns = re.findall(r"^(\S+) .*\blinguist-generated\b", tree.text(root, ".gitattributes"), re.M)
    for folder in ("bindings", "tests/bindings"):
        for path in tree.files(root, under=folder):
            if path.name != "generate" and "generator" not in path.parts and is_generated(root, path) and \
                    not any(fnmatch.fnmatch(str(path), pattern) for pattern in patterns):
                yield path


def read_package(root, language):
    """Returns the code of a package without comments and strings."""
    folder, suffix = FOLDERS[language]
    noise = re.compile(NOISE.get(language.removesuffix("jit"), C_NOISE), re.S)
    excluded = EXCLUDED.get(language)
    return "\n".join(noise.sub(" ", tree.text(root, path))
                     for path in tree.files(root, suffix, under=folder)
                     if is_written_by_hand(root, path) and not (excluded and path.name.endswith(excluded)))


def find_used_members(code, language):
    """Returns the members of the layer's objects that are called."""
    code = re.sub(r"\bfunction [\w.:]+", " ", code)
    suffix = "" if language == "lua" else r"\("  # in Lua functions are also passed as values
    matches = re.findall(rf"(\w+|\))[.:](\w+)\b{suffix}", code)
    return {normalize(name) for object, name in matches if OBJECT.match(object)}


def find_own_calls(code, functions):
    """Returns the functions that the layer of one language calls, including macros and constructors."""
    functions_called = set(re.findall(r"\bhmn_\w+", code)) & functions
    return functions_called | {f"hmn_{kind.lower()}_create"
                               for kind in re.findall(r"\b_wrap_new_\w*?(Context)\(", code)}


def find_unreached(root, language, functions, names_by_function):
    code = read_package(root, language)
    if language in DIRECT:
        yield from sorted(functions - set(re.findall(r"\bhmn_\w+", code)))
        return
    members = find_used_members(code, language)
    for function in sorted(functions - find_own_calls(read_layer(root, language), functions)):
        if language in GARBAGE_COLLECTED and function.endswith("_destroy"):
            continue
        if not names_by_function.get(function, set()) & members:
            yield function


def find_violations(root):
    for path in find_unmarked(root):
        yield f"{path} is generated, but not marked in .gitattributes"
    functions = set(tree.parse_functions(root))
    names_by_function = find_methods(read_layer(root, ""), functions)
    for function in sorted(functions - set(names_by_function)):
        yield f"{function} is in {HEADER} and in no method of {LAYER}/*.i"
    for language, (folder, _) in FOLDERS.items():
        if not tree.files(root, FOLDERS[language][1], under=folder):
            continue
        for function in find_unreached(root, language, functions, names_by_function):
            yield f"{function} is not reached by the package in {folder} ({language})"


LAYER_CODE = """%rename(version_number) hmn_version_number;
uint32_t hmn_version_number(void);
%extend Context {
  Context(hmn_flags flags, hmn_error *error) {
    hmn_context *made = NULL;
    hmn_context_create(NULL, &made, error);
    return made;
  }
  ~Context() { hmn_context_destroy($self); }

  hmn_pool *pool(uint32_t device_index, uint32_t kind,
                 hmn_error *error) {
    HMN_ASK(hmn_pool, hmn_pool_read($self, device_index, kind, out, error));
  }
}
%inline %{
char *format_bytes(uint64_t bytes, hmn_error *error) {
  HMN_TEXT(hmn_format_bytes(bytes, buffer, capacity, &needed));
}
%}
"""
PYTHON = """# SPDX
def pool(self):
    \"\"\"native.format_bytes(1)\"\"\"
    return native.pool(1), raw.Context(0)
def texts():  # raw.format_bytes
    return raw.version_number(), raw.format_bytes(1)
"""
GO = """package hypomnesis // raw.FormatBytes
func all() { raw.NewContext(0); raw.DeleteContext(c); native.Pool(1); raw.VersionNumber(); raw.FormatBytes(1) }
"""
CPP = "void f() { hmn_version_number(); hmn_context_create(); g(&hmn_context_destroy); hmn_pool_read(); " \
      "hmn_format_bytes(); }\n"
CSHARP = "class A { void F() { Raw.new_Context(0); Raw.end_context(c); Raw.Context_pool(c); " \
         "Raw.version_number(); Raw.format_bytes(1); } }\n"
LUA = "-- raw.format_bytes\nfunction Context:pool() return native(self):pool(1) end\n" \
      "return raw.Context(0), raw.version_number, raw.format_bytes\n"
CLEAN = {
    ".gitattributes": "bindings/go/constants.go linguist-generated\n",
    "bindings/go/constants.go": "// Code generated by bindings/generate from x. DO NOT EDIT.\n",
    HEADER: "HMN_FN(uint32_t) hmn_version_number(void) HMN_NX;\n"
            "HMN_FN(hmn_status) hmn_context_create(int a) HMN_NX;\n"
            "HMN_FN(void) hmn_context_destroy(int a) HMN_NX;\n"
            "HMN_FN(hmn_status) hmn_pool_read(int a) HMN_NX;\n"
            "HMN_FN(hmn_status) hmn_format_bytes(int a) HMN_NX;\n",
    f"{LAYER}/layer.i": LAYER_CODE,
    f"{LAYER}/for_csharp.i": "static void end_context(void *c) { hmn_context_destroy(c); }\n",
    "bindings/cpp/hypomnesis.hpp": CPP,
    "bindings/csharp/A.cs": CSHARP,
    "bindings/csharp/Generated/Raw.cs": "hmn_gone();\n",
    "bindings/go/all.go": GO,
    "bindings/lua/all.lua": LUA,
    "bindings/lua/ffi.lua": "C." + " C.".join(
        ("hmn_version_number", "hmn_context_create", "hmn_context_destroy", "hmn_pool_read", "hmn_format_bytes")),
    "bindings/python/all.py": PYTHON,
}
NEW = CLEAN[HEADER] + "HMN_FN(void) hmn_new(void) HMN_NX;\n"
PLANTED = [
    ({"tests/bindings/c/records.c": "// Written by bindings/generate from x.\n"},
     "tests/bindings/c/records.c is generated, but not marked in .gitattributes"),
    ({HEADER: NEW}, f"hmn_new is in {HEADER} and in no method"),
    ({HEADER: NEW}, "hmn_new is not reached by the package in bindings/cpp"),
    ({f"{LAYER}/layer.i": LAYER_CODE.replace("hmn_pool_read", "hmn_pool_red")}, "hmn_pool_read is in"),
    ({f"{LAYER}/layer.i": LAYER_CODE.replace("HMN_TEXT(", "/* ").replace("&needed));", "*/")},
     "hmn_format_bytes is in"),
    ({"bindings/python/all.py": PYTHON.replace("raw.format_bytes(1)", "1")},
     "hmn_format_bytes is not reached by the package in bindings/python"),
    ({"bindings/python/all.py": PYTHON.replace("native.pool", "self.pool")},
     "hmn_pool_read is not reached by the package in bindings/python"),
    ({"bindings/python/all.py": PYTHON.replace("raw.Context", "make")},
     "hmn_context_create is not reached by the package in bindings/python"),
    ({"bindings/go/all.go": GO.replace("raw.DeleteContext(c); ", "")},
     "hmn_context_destroy is not reached by the package in bindings/go"),
    ({"bindings/go/all.go": GO.replace("raw.FormatBytes(1)", ""),
      "bindings/go/all_test.go": "raw.FormatBytes(1)"},
     "hmn_format_bytes is not reached by the package in bindings/go"),
    ({f"{LAYER}/for_csharp.i": ""}, "hmn_context_destroy is not reached by the package in bindings/csharp"),
    ({"bindings/csharp/A.cs": CSHARP.replace("Raw.format_bytes", "format_bytes"),
      "bindings/csharp/Generated/B.cs": CSHARP},
     "hmn_format_bytes is not reached by the package in bindings/csharp"),
    ({"bindings/lua/all.lua": LUA.replace("native(self):pool", "pool")},
     "hmn_pool_read is not reached by the package in bindings/lua"),
    ({"bindings/go/all.go": GO.replace("native.Pool(1)", "device.Pool(1)")},
     "hmn_pool_read is not reached by the package in bindings/go"),
    ({"bindings/lua/ffi.lua": "C.hmn_version_number -- hmn_pool_read"},
     "hmn_pool_read is not reached by the package in bindings/lua (luajit)"),
    ({"bindings/cpp/hypomnesis.hpp": CPP.replace("hmn_pool_read()", "// hmn_pool_read()\n")},
     "hmn_pool_read is not reached by the package in bindings/cpp"),
]
