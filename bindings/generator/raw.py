# SPDX-License-Identifier: MIT OR Apache-2.0
"""What SWIG 4.1 makes of swig/hypomnesis.i, the raw layer of each language:

csharp  csharp/native/generated/raw_wrap.c, csharp/Hypomnesis/Interop/Generated/Raw*.cs
go      go/internal/raw/generated.go and .c
lua     lua/generated/core.c
python  python/generated/raw_wrap.c; of the module that SWIG writes as well the package has no use
"""
import pathlib
import re
import shutil
import subprocess
import tempfile

from . import BINDINGS, ROOT

VERSION = "4.1"
# REUSE-IgnoreStart
LICENCE = "SPDX-License-Identifier: MIT OR Apache-2.0"
# REUSE-IgnoreEnd

# Options of SWIG besides -Wall -Werror -outdir -o, the name of its file in C, and the folder and path of its input.
RUNS = {
    "csharp": (["-csharp", "-noproxy", "-DSWIG_CSHARP_NO_EXCEPTION_HELPER", "-DSWIG_CSHARP_NO_STRING_HELPER",
                "-DSWIG_CSHARP_NO_IMCLASS_STATIC_CONSTRUCTOR", "-namespace", "Hypomnesis.Interop",
                "-dllimport", "hypomnesis_csharp", f"-I{BINDINGS / 'csharp/native/generated'}"],
               "raw_wrap.c", BINDINGS / "swig", "hypomnesis.i"),
    "go": (["-go", "-cgo", "-intgosize", "64"], "generated.c", ROOT, "bindings/swig/hypomnesis.i"),
    "lua": (["-lua", "-Ibindings/swig"], "core.c", ROOT, "bindings/swig/hypomnesis.i"),
    "python": (["-python", "-builtin"], "raw_wrap.c", BINDINGS / "swig", "hypomnesis.i")}
# Where each of its files is committed; a file that is not named here is not.
PLACES = {
    "csharp": {"raw_wrap.c": "csharp/native/generated/raw_wrap.c",
               "Raw.cs": "csharp/Hypomnesis/Interop/Generated/Raw.cs",
               "RawPINVOKE.cs": "csharp/Hypomnesis/Interop/Generated/RawPINVOKE.cs"},
    "go": {"raw.go": "go/internal/raw/generated.go", "generated.c": "go/internal/raw/generated.c"},
    "lua": {"core.c": "lua/generated/core.c"},
    "python": {"raw_wrap.c": "python/generated/raw_wrap.c"}}


def missing():
    """Why there is no SWIG 4.1, or None."""
    if not shutil.which("swig"):
        return "swig is not installed"
    text = subprocess.run(["swig", "-version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"SWIG Version (\d+\.\d+)", text)[1]
    return None if found == VERSION else f"swig is {found}, which writes other text than {VERSION}"


def _for_csharp(text):
    """With the licence of what it was made from, without blanks at line ends."""
    text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    return (f"/* {LICENCE} */\n" if text.startswith("/*") else f"// {LICENCE}\n") + text


def _for_go(text):
    """With Go's mark of generated files."""
    lines = "\n".join(line.rstrip() for line in text.splitlines()).rstrip("\n")
    return (f"// {LICENCE}\n// Code generated from bindings/swig/hypomnesis.i by SWIG {VERSION}. DO NOT EDIT.\n\n"
            f"{lines}\n")


FINISH = {"csharp": _for_csharp, "go": _for_go}


def outputs(language):
    options, name, folder, source = RUNS[language]
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["swig", *options, "-Wall", "-Werror", "-outdir", scratch, "-o", f"{scratch}/{name}", source],
                       cwd=folder, check=True)
        made = {path.name: path.read_text(encoding="utf-8") for path in pathlib.Path(scratch).iterdir()}
    strange = [name for name in made if name.endswith(".cs") and name not in PLACES[language]]
    if strange:
        raise SystemExit(f"generate: SWIG wrote {strange}: a type has no typemap in bindings/swig/for_csharp.i")
    for name, place in PLACES[language].items():
        yield place, FINISH.get(language, str)(made[name])
