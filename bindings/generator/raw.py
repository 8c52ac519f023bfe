# SPDX-License-Identifier: MIT OR Apache-2.0
"""The raw layer of each language, which SWIG 4.3 writes from swig/hypomnesis.i:

csharp  csharp/native/generated/raw_wrap.c, csharp/Hypomnesis/Interop/Generated/Raw*.cs
go      go/internal/raw/generated.go and .c
lua     lua/generated/core.c
python  python/generated/raw_wrap.c, python/hypomnesis/_proxy.py
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from . import BINDINGS, ROOT

VERSION = "4.3"
UNPACKED = ROOT / "build/debs/swig"  # Debian 13's packages, where the system's SWIG is another version
# REUSE-IgnoreStart
LICENCE = "SPDX-License-Identifier: MIT OR Apache-2.0"
# REUSE-IgnoreEnd

# Options of SWIG in addition to -Wall -Werror -outdir -o, the name of its C file, and the folder and path of its input.
RUNS = {
    "csharp": (["-csharp", "-noproxy", "-DSWIG_CSHARP_NO_EXCEPTION_HELPER", "-DSWIG_CSHARP_NO_STRING_HELPER",
                "-DSWIG_CSHARP_NO_IMCLASS_STATIC_CONSTRUCTOR", "-DSWIG_CSHARP_NO_STRING_WITH_LENGTH_HELPER",
                "-namespace", "Hypomnesis.Interop",
                "-dllimport", "hypomnesis_csharp", f"-I{BINDINGS / 'csharp/native/generated'}"],
               "raw_wrap.c", BINDINGS / "swig", "hypomnesis.i"),
    "go": (["-go", "-cgo", "-intgosize", "64"], "generated.c", ROOT, "bindings/swig/hypomnesis.i"),
    "lua": (["-lua", "-Ibindings/swig"], "core.c", ROOT, "bindings/swig/hypomnesis.i"),
    "python": (["-python"], "raw_wrap.c", BINDINGS / "swig", "hypomnesis.i")}
# The path under which each of its files is committed; other files are not committed.
PATHS = {
    "csharp": {"raw_wrap.c": "csharp/native/generated/raw_wrap.c",
               "Raw.cs": "csharp/Hypomnesis/Interop/Generated/Raw.cs",
               "RawPINVOKE.cs": "csharp/Hypomnesis/Interop/Generated/RawPINVOKE.cs"},
    "go": {"raw.go": "go/internal/raw/generated.go", "generated.c": "go/internal/raw/generated.c"},
    "lua": {"core.c": "lua/generated/core.c"},
    "python": {"raw_wrap.c": "python/generated/raw_wrap.c", "raw.py": "python/hypomnesis/_proxy.py"}}


def _find_swig():
    """(the command of SWIG 4.3, its environment), or None."""
    if shutil.which("swig"):
        text = subprocess.run(["swig", "-version"], capture_output=True, text=True, check=True).stdout
        if f"SWIG Version {VERSION}." in text:
            return ["swig"], os.environ
    folders = list(UNPACKED.glob(f"usr/share/swig/{VERSION}.*"))
    loader = UNPACKED / "usr/lib64/ld-linux-x86-64.so.2"
    if not folders or not loader.exists():
        return None
    return ([loader, "--library-path", UNPACKED / "usr/lib/x86_64-linux-gnu", UNPACKED / "usr/bin/swig"],
            {**os.environ, "SWIG_LIB": str(folders[0])})


def find_swig_problem():
    """Why SWIG 4.3 cannot be run, or None."""
    return None if _find_swig() else f"there is no SWIG {VERSION}: bindings/regenerate fetches it"


def _finish_csharp(text):
    """Adds the licence of the source, and removes blanks at line ends."""
    text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    return (f"/* {LICENCE} */\n" if text.startswith("/*") else f"// {LICENCE}\n") + text


def _finish_go(text):
    """Adds the licence and Go's mark of generated files."""
    lines = "\n".join(line.rstrip() for line in text.splitlines()).rstrip("\n")
    return (f"// {LICENCE}\n// Code generated from bindings/swig/hypomnesis.i by SWIG {VERSION}. DO NOT EDIT.\n\n"
            f"{lines}\n")


def _finish_python(text):
    """Adds the licence to a module, and a module to SWIG's types: a type without one makes a warning of Python."""
    text = re.sub(r'(PyType_Spec spec = \{\n +")', r"\1hypomnesis.", text)
    return f"# {LICENCE}\n{text}" if text.startswith("#") else text


FINISH = {"csharp": _finish_csharp, "go": _finish_go, "python": _finish_python}


def outputs(language):
    options, name, folder, source = RUNS[language]
    swig, environment = _find_swig()
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([*swig, *options, "-Wall", "-Werror", "-outdir", scratch, "-o", f"{scratch}/{name}", source],
                       cwd=folder, env=environment, check=True)
        texts = {path.name: path.read_text(encoding="utf-8") for path in pathlib.Path(scratch).iterdir()}
    unexpected = [name for name in texts if name.endswith(".cs") and name not in PATHS[language]]
    if unexpected:
        raise SystemExit(f"generate: SWIG wrote {unexpected}: a type has no typemap in bindings/swig/for_csharp.i")
    for name, path in PATHS[language].items():
        yield path, FINISH.get(language, str)(texts[name])
