#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""missing.py INTERPRETER: the package's message when the native library is missing, and which library it loads."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LUA = sys.argv[1]
VARIABLE = "HYPOMNESIS_LIBRARY"
PROGRAM = 'local loaded, result = pcall(require, "hypomnesis") print(loaded and result.version_string() or result)'
# Simulates macOS for the package; %d is the result of issetugid(2).
MACOS_PRELUDE = ('local ffi = require "ffi" ffi.os = "OSX" '
                 'ffi.C = setmetatable({issetugid = function() return %d end}, {__index = ffi.C}) ')
NOBODY = 65534


def run_program(*prefix, interpreter=LUA, prelude="", **variables):
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE} | variables
    return subprocess.run([*prefix, interpreter, "-e", prelude + PROGRAM], env=environment, capture_output=True,
                          text=True, check=True, timeout=60).stdout


def expect(text, *words):
    for word in words:
        assert word in text, f"{word!r} is not in:\n{text}"


def check_ffi():
    library = os.environ[VARIABLE]
    version = run_program(**{VARIABLE: library})
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", version), version
    text = run_program()
    expect(text, "cannot load the native library", "looked for libhypomnesis.so.", "LD_LIBRARY_PATH",
           f"set {VARIABLE} to the absolute path")
    text = run_program(**{VARIABLE: "/no/such/libhypomnesis.so"})
    expect(text, "/no/such/libhypomnesis.so, which HYPOMNESIS_LIBRARY names", f"set {VARIABLE}")
    expect(run_program(**{VARIABLE: "libhypomnesis.so"}), "the path is not absolute", "looked for libhypomnesis.so,")
    expect(run_program(**{VARIABLE: ""}), "looked for libhypomnesis.so.")
    assert run_program(LD_LIBRARY_PATH=str(pathlib.Path(library).parent)) == version
    expect(run_program(prelude=MACOS_PRELUDE % 0), "looked for libhypomnesis.0.1.dylib in DYLD_LIBRARY_PATH")
    expect(run_program(prelude=MACOS_PRELUDE % 0, **{VARIABLE: "/no/such.dylib"}),
           "/no/such.dylib, which HYPOMNESIS_LIBRARY names")
    expect(run_program(prelude=MACOS_PRELUDE % 1, **{VARIABLE: "/no/such.dylib"}), "looked for libhypomnesis.0.1.dylib")
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "other.c")
        source.write_text("int other;\n")
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler:
            other = str(pathlib.Path(folder, "other.so"))
            subprocess.run([compiler, "-shared", "-fPIC", "-o", other, str(source)], check=True)
            expect(run_program(**{VARIABLE: other}), "it has no hmn_version_number", other)
        check_set_user_id(pathlib.Path(folder), library)


def check_set_user_id(folder, library):
    """Checks that a set-user-id interpreter ignores the variable."""
    setpriv = shutil.which("setpriv")
    if os.geteuid() != 0 or not setpriv:
        print("not run: a set-user-id interpreter needs root and setpriv")
        return
    folder.chmod(0o755)
    interpreter = folder / "interpreter"
    shutil.copy(LUA, interpreter)
    interpreter.chmod(0o4755)
    package, native = folder / "hypomnesis", folder / pathlib.Path(library).name
    shutil.copytree(pathlib.Path(os.environ["LUA_PATH"].split("/?", 1)[0], "hypomnesis"), package)
    shutil.copy(library, native)
    subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)
    interpreter.chmod(0o4755)
    nobody = (setpriv, f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    paths = {"LUA_PATH": f"{folder}/?.lua;{folder}/?/init.lua", VARIABLE: str(native)}
    text = run_program(*nobody, interpreter=str(interpreter), **paths)
    expect(text, "looked for libhypomnesis.so.")
    assert str(native) not in text, text
    interpreter.chmod(0o755)
    text = run_program(*nobody, interpreter=str(interpreter), **paths)
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", text), f"without set-user-id it is read: {text}"


def check_core():
    expect(run_program(LUA_CPATH="/no/such/?.so"), "cannot load the C module", "/no/such/hypomnesis/core.so",
           "LUA_CPATH", "LD_LIBRARY_PATH", "built for Lua 5.")
    core = pathlib.Path(os.environ["LUA_CPATH"].replace("?", "hypomnesis/core"))
    with tempfile.TemporaryDirectory() as folder:
        alone = pathlib.Path(folder, "a/b/c/d/hypomnesis/core.so")
        alone.parent.mkdir(parents=True)
        shutil.copy(core, alone)
        text = run_program(LUA_CPATH=f"{folder}/a/b/c/d/?.so")
        expect(text, "cannot load the C module", "libhypomnesis.so.0.1: cannot open", "LD_LIBRARY_PATH names")


if "luajit" in pathlib.Path(LUA).name:
    check_ffi()
else:
    check_core()
