#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""documentation.py LIBRARY_FOLDER LANGUAGE COMPILER PAGE...: the code of the pages in LANGUAGE, c or cpp, compiles,
runs and prints the output that the pages show.

A block ```c or ```cpp with a main is a program and runs on each machine of examples/machines; any other is the body
of a main with a `context` on one of them. A block ```text after it is its output on workstation.json.
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
TEMPLATES = {
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


def find_blocks(text):
    """Yields (language, code, text block after it or None, line)."""
    # Matches blocks of every language: otherwise the end of one could be read as the start of another.
    matches = list(re.finditer(r"^```([^\n]*)\n(.*?)^```$", text, re.M | re.S))
    for match, next_match in zip(matches, [*matches[1:], None]):
        has_output = next_match and next_match[1] == "text" and not text[match.end():next_match.start()].strip()
        yield match[1], match[2], next_match[2] if has_output else None, text.count("\n", 0, match.start()) + 1


def is_program(code):
    return re.search(r"\bint main\(", code)


def run(folder, library, compiler, language, code):
    source = folder / f"block.{language}"
    includes = "".join(re.findall(r"^#include .*\n", code, re.M))
    body = re.sub(r"^#include .*\n", "", code, flags=re.M)
    source.write_text(code if is_program(code) else includes + TEMPLATES[language] % body)
    build = subprocess.run([compiler, f"-std={STANDARD[language]}", *FLAGS, str(source), "-o", str(folder / "block"),
                            f"-L{library}", "-lhypomnesis", f"-Wl,-rpath,{library}"],
                           capture_output=True, text=True)
    if build.returncode != 0:
        return build.returncode, build.stderr
    environment = {**os.environ, "HMN_SIMULATION": str(MACHINE)}
    result = subprocess.run([str(folder / "block")], env=environment, capture_output=True, text=True, timeout=60)
    return result.returncode, result.stdout + result.stderr


def find_problems(page, text, library, language, compiler):
    count = 0
    with tempfile.TemporaryDirectory() as name:
        for block_language, code, expected, line in find_blocks(text):
            if block_language != language:
                continue
            count += 1
            status, output = run(pathlib.Path(name), library, compiler, language, code)
            if status != 0:
                yield f"{page}:{line}: status {status}: {output}"
            elif expected is not None and output != expected:
                yield f"{page}:{line}: prints\n{output}and not\n{expected}"
            elif is_program(code) and (render := on_machines.find_program(code)):
                for problem in on_machines.find_problems(render, [f"{name}/block"]):
                    yield f"{page}:{line}: {problem}"
            else:
                for problem in on_machines.find_failures([f"{name}/block"]):
                    yield f"{page}:{line}: {problem}"
    if count == 0:
        yield f"{page}: no block of code"


def self_test(library, language, compiler):
    broken = f"```{language}\nint x = ;\n```\n"
    wrong = f'```{language}\n{"std::cout << 1;" if language == "cpp" else "putchar(49);"}\n```\n\n```text\n2\n```\n'
    failing = f"```{language}\nexit(3);\n```\n"
    silent = f"```{language}\nint main(void) {{ return 0; }}\n```\n"
    for text in ("no code", broken, wrong, failing, silent):
        assert list(find_problems("planted", text, library, language, compiler)), text


def main():
    library, language, compiler, *pages = sys.argv[1:]
    self_test(library, language, compiler)
    problems = []
    for page in pages:
        text = pathlib.Path(page).read_text(encoding="utf-8")
        problems += find_problems(page, text, library, language, compiler)
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
