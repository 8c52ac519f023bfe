#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""documentation.py LIBRARY_FOLDER LANGUAGE COMPILER PAGE...: the code of the pages in LANGUAGE, c or cpp, compiles,
runs and prints what is in them.

A block ```c or ```cpp with a main is a program and runs on each machine of examples/machines; any other stands inside a
main that has a `context` on one of them. A block ```text behind it is what it prints on workstation.json.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import on_machines

ROOT = pathlib.Path(__file__).resolve().parents[2]
MACHINE = ROOT / "examples/machines/workstation.json"
FLAGS = ["-D_GLIBCXX_ASSERTIONS", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", "-Wno-unused-but-set-variable",
         f"-I{ROOT / 'include'}", f"-I{ROOT / 'bindings/cpp'}"]
WRAPPED = {
    "cpp": """#include <hypomnesis.hpp>
#include <iostream>
int main() {
  hypomnesis::context_options simulated;
  simulated.flags = hypomnesis::context_flag::environment;
  hypomnesis::context context(simulated);
  %s
}
""",
    "c": """#include <hypomnesis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  hmn_context_options simulated = {.struct_size = sizeof simulated, .flags = HMN_CONTEXT_ENVIRONMENT};
  hmn_context *context;
  if (hmn_context_create(&simulated, &context, NULL) != HMN_OK) return 1;
  {
  %s
  }
  hmn_context_destroy(context);
}
"""}
STANDARD = {"cpp": "c++17", "c": "c11"}


def blocks(text):
    """(language, code, the text behind it or None, line)"""
    # Every block is taken, so that none is read from the end of another.
    found = list(re.finditer(r"^```([^\n]*)\n(.*?)^```$", text, re.M | re.S))
    for match, following in zip(found, [*found[1:], None]):
        reported = following and following[1] == "text" and not text[match.end():following.start()].strip()
        yield match[1], match[2], following[2] if reported else None, text.count("\n", 0, match.start()) + 1


def is_program(code):
    return re.search(r"\bint main\(", code)


def run(folder, library, compiler, language, code):
    source = folder / f"block.{language}"
    source.write_text(code if is_program(code) else WRAPPED[language] % code)
    built = subprocess.run([compiler, f"-std={STANDARD[language]}", *FLAGS, str(source), "-o", str(folder / "block"),
                            f"-L{library}", "-lhypomnesis", f"-Wl,-rpath,{library}"],
                           capture_output=True, text=True)
    if built.returncode != 0:
        return built.returncode, built.stderr
    environment = {**os.environ, "HMN_SIMULATION": str(MACHINE)}
    done = subprocess.run([str(folder / "block")], env=environment, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def problems(page, text, library, wanted, compiler):
    count = 0
    with tempfile.TemporaryDirectory() as name:
        for language, code, expected, line in blocks(text):
            if language != wanted:
                continue
            count += 1
            status, reported = run(pathlib.Path(name), library, compiler, language, code)
            if status != 0:
                yield f"{page}:{line}: status {status}: {reported}"
            elif expected is not None and reported != expected:
                yield f"{page}:{line}: prints\n{reported}and not\n{expected}"
            elif is_program(code) and (known := on_machines.program_of(code)):
                for problem in on_machines.problems(known, [f"{name}/block"]):
                    yield f"{page}:{line}: {problem}"
            else:
                for problem in on_machines.failures([f"{name}/block"]):
                    yield f"{page}:{line}: {problem}"
    if count == 0:
        yield f"{page}: no block of code"


def self_test(library, language, compiler):
    broken = f"```{language}\nint x = ;\n```\n"
    wrong = f'```{language}\n{"std::cout << 1;" if language == "cpp" else "putchar(49);"}\n```\n\n```text\n2\n```\n'
    failing = f"```{language}\nexit(3);\n```\n"
    silent = f"```{language}\nint main(void) {{ return 0; }}\n```\n"
    for text in ("no code", broken, wrong, failing, silent):
        assert list(problems("planted", text, library, language, compiler)), text


def main():
    library, language, compiler, *pages = sys.argv[1:]
    self_test(library, language, compiler)
    found = []
    for page in pages:
        text = pathlib.Path(page).read_text(encoding="utf-8")
        found += problems(page, text, library, language, compiler)
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
