# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every function of the header is called by the raw layer of the bindings, and reached by the hand-written
package of each language that is there: through a method of the raw layer, or by itself. What bindings/generate
writes is marked in .gitattributes."""
import fnmatch
import re

import tree

HEADER = "include/hypomnesis.h"
LAYER = "bindings/swig"
FOLDERS = {"cpp": ("bindings/cpp", ".hpp"), "csharp": ("bindings/csharp", ".cs"),
           "go": ("bindings/go", ".go"), "lua": ("bindings/lua", ".lua"),
           "luajit": ("bindings/lua", "ffi.lua"), "python": ("bindings/python", ".py")}
# These call the C functions; the others have the raw layer between.
DIRECT = ("cpp", "luajit")
NOT_PACKAGE = {"go": "_test.go", "lua": "ffi.lua"}

# The layer's objects, as the packages call them: x in x.pool(1).
OBJECT = re.compile(r"(?i)\w*(?:native|raw)\w*$|(?:before|after)$|\)$")

# Their proxies end what they hold by themselves.
COLLECTED = ("lua", "python")

STRIPPED = {
    "lua": r"--\[\[.*?\]\]|--[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'",
    "python": r"\"\"\".*?\"\"\"|#[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"}
STRIPPED_OF_C = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|`[^`]*`"

CALL = re.compile(r"\b(hmn_\w+)\s*\(")


def flat(name):
    """own_memory, OwnMemory and ownMemory are one name."""
    return name.replace("_", "").lower()


def called(code, functions):
    return set(CALL.findall(code)) & functions


def language_of(path):
    """"lua" of for_lua.i and copy_lua.i; "" of a file for all."""
    word = path.stem.rpartition("_")[2]
    return word if word in FOLDERS else ""


def layer(root, language):
    return "\n".join(tree.code(root, path) for path in tree.files(root, ".i", under=LAYER)
                     if language_of(path) == language)


def bodies(code):
    """(class or "", name, body) of each method and inline function of the layer."""
    for kind, extended in re.findall(r"^%extend (\w+) \{\n(.*?)^\}", code, re.M | re.S):
        for name, body in re.findall(r"^  (?:[\w* ]*?[ *])?(~?\w+)\([^;{]*?\) \{(.*?)(?:\}$|^  \})",
                                     extended, re.M | re.S):
            yield kind, name, body
    for inline in re.findall(r"^%inline %\{\n(.*?)^%\}", code, re.M | re.S):
        for name, body in re.findall(r"^[\w* ]*?(\w+)\([^;{]*?\) \{(.*?)^\}", inline, re.M | re.S):
            yield "", name, body


def names_of(kind, name):
    """What a package calls a method of the layer."""
    if name == f"~{kind}":
        return {flat(f"delete_{kind}")}
    if name == kind:
        return {flat(f"{before}{kind}") for before in ("", "new_", "hypomnesis_")}
    return {flat(name), flat(f"{kind}_{name}"), flat(f"hypomnesis_{kind}_{name}")}


def methods(code, functions):
    """function -> the names by which a package reaches it"""
    found = {name: {flat(new)} for new, name in re.findall(r"%rename\((\w+)\) (hmn_\w+);", code)}
    for kind, name, body in bodies(code):
        for function in called(body, functions):
            found.setdefault(function, set()).update(names_of(kind, name))
    return found


def is_generated(root, path):
    return re.search(r"(Written|generated) by bindings/", tree.text(root, path)[:400])


def is_written_by_hand(root, path):
    return not any(part.lower().startswith("generated") for part in path.parts) and not is_generated(root, path)


def unmarked(root):
    """Generated files that .gitattributes does not name."""
    patterns = re.findall(r"^(\S+) .*\blinguist-generated\b", tree.text(root, ".gitattributes"), re.M)
    for folder in ("bindings", "tests/bindings"):
        for path in tree.files(root, under=folder):
            if path.name != "generate" and "generator" not in path.parts and is_generated(root, path) and \
                    not any(fnmatch.fnmatch(str(path), pattern) for pattern in patterns):
                yield path


def package(root, language):
    """The code of a package without comments and texts."""
    folder, suffix = FOLDERS[language]
    noise = re.compile(STRIPPED.get(language.removesuffix("jit"), STRIPPED_OF_C), re.S)
    other = NOT_PACKAGE.get(language)
    return "\n".join(noise.sub(" ", tree.text(root, path))
                     for path in tree.files(root, suffix, under=folder)
                     if is_written_by_hand(root, path) and not (other and path.name.endswith(other)))


def used_members(code, language):
    """Names behind a dot or colon of the layer's objects, where they are called."""
    code = re.sub(r"\bfunction [\w.:]+", " ", code)
    behind = "" if language == "lua" else r"\("  # its functions are also handed on
    found = re.findall(rf"(\w+|\))[.:](\w+)\b{behind}", code)
    return {flat(name) for before, name in found if OBJECT.match(before)}


def called_by_own_layer(code, functions):
    """What the layer of one language calls itself, macros and constructors included."""
    found = set(re.findall(r"\bhmn_\w+", code)) & functions
    return found | {f"hmn_{kind.lower()}_create" for kind in re.findall(r"\b_wrap_new_\w*?(Context)\(", code)}


def unreached(root, language, functions, reached_by):
    code = package(root, language)
    if language in DIRECT:
        yield from sorted(functions - set(re.findall(r"\bhmn_\w+", code)))
        return
    members = used_members(code, language)
    for function in sorted(functions - called_by_own_layer(layer(root, language), functions)):
        if language in COLLECTED and function.endswith("_destroy"):
            continue
        if not reached_by.get(function, set()) & members:
            yield function


def violations(root):
    for path in unmarked(root):
        yield f"{path} is generated, and .gitattributes does not say so"
    functions = set(tree.functions_of_header(root))
    reached_by = methods(layer(root, ""), functions)
    for function in sorted(functions - set(reached_by)):
        yield f"{function} is in {HEADER} and in no method of {LAYER}/*.i"
    for language, (folder, _) in FOLDERS.items():
        if not tree.files(root, FOLDERS[language][1], under=folder):
            continue
        for function in unreached(root, language, functions, reached_by):
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
     "tests/bindings/c/records.c is generated, and .gitattributes does not say so"),
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
