# SPDX-License-Identifier: MIT OR Apache-2.0
"""rehearsal.py ROOT CC CXX [BUILD]: adds a field, a metric, an enumerator and a backend to a copy of the tree at
ROOT, each from a patch in rehearsal/, and counts the files that are edited by hand. The others are written by
bindings/generate, scripts/manual and scripts/draw-architecture; after that the repository's checks must pass.

With BUILD, a folder, all additions are built there together, tested, and read back through C++ and LuaJIT."""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import tree  # noqa: E402

PATCHES = pathlib.Path(__file__).parent / "rehearsal"
GENERATORS = (("bindings/generate",), ("scripts/manual",), ("scripts/draw-architecture",))
CHECKS = (("bindings/generate", "--check"), ("scripts/manual", "--check"), ("tests/abi/gate/consistency.py", "."),
          ("tests/abi/gate/coverage.py", "."),
          ("tests/repo/check.py", "."))
# Files that are compiled without a build.
COMPILED_FILES = ("src/model/record.cpp", "src/model/words.cpp", "src/source/registry.cpp",
                  "src/api/device.cpp", "src/api/library.cpp", "tests/abi/layout_v0_1.c", "tests/bindings/c/records.c",
                  "tests/bindings/cpp/agent.cpp")


UNEDITED = {"src/source/interface.hpp"}


@dataclasses.dataclass
class Addition:
    patch: str
    section: str  # of CONTRIBUTING.md; "" if another addition has it
    max_files: int  # files edited by hand
    prerequisite: str = ""  # patch that must be applied before
    folders: tuple[str, ...] = ()  # folders whose new files are not counted
    lines: tuple[str, ...] = ()  # the only edited files, with one line each


ADDITIONS = {
    "field": Addition("field", "field", 9),
    "metric": Addition("metric", "metric", 6),
    "enumerator": Addition("enumerator", "enumerator", 4),
    "a backend's number": Addition("backend_number", "", 4),
    "backend": Addition("backend", "backend", 3, prerequisite="backend_number",
                        folders=("src/backends/example/", "tests/backends/example/"),
                        lines=("src/source/sources.def", "cmake/options.cmake", "docs/building.md")),
}


class PatchDoesNotFit(Exception):
    """A patch no longer fits the tree."""


@dataclasses.dataclass
class Change:
    path: str
    hunks: list[tuple[str, str, str]]  # position, old text, new text; old is "" in a new file

    @property
    def is_new(self):
        return all(not old for _, old, _ in self.hunks)


def parse_changes(patch):
    for text in re.split(r"^diff --git .*\n", patch, flags=re.M)[1:]:
        path = re.search(r"^\+\+\+ b/(.*)$", text, re.M)[1]
        hunks = []
        for position, body in re.findall(r"^(@@ .*? @@).*\n((?:[ +-].*\n|\n)*)", text, re.M):
            lines = [(line[:1] or " ", line[1:]) for line in body.splitlines(keepends=True)]
            hunks.append((position, "".join(line for mark, line in lines if mark != "+"),
                          "".join(line for mark, line in lines if mark != "-")))
        yield Change(path, hunks)


def apply(name, patch, root):
    for change in parse_changes(patch):
        path = root / change.path
        if change.is_new == path.exists():
            raise PatchDoesNotFit(f"{name}.patch: {change.path} {'exists already' if change.is_new else 'is missing'}")
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for number, (position, old, new) in enumerate(change.hunks, 1):
            if old and text.count(old) != 1:
                raise PatchDoesNotFit(f"{name}.patch: hunk {number} of {change.path} ({position}) fits the tree "
                                      f"{text.count(old)} times, not once: update the patch")
            text = text.replace(old, new) if old else new
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def count_added_lines(change):
    return sum(len(new.splitlines()) - len(old.splitlines()) for _, old, new in change.hunks)


def find_violations(addition, patch):
    """Yields edits by hand that exceed the limits of an addition."""
    changes = [change for change in parse_changes(patch)
               if not (change.is_new and change.path.startswith(addition.folders or ("\0",)))]
    if len(changes) > addition.max_files:
        yield (f"{addition.patch}: {len(changes)} files are edited by hand, at most {addition.max_files} may be: "
               f"{', '.join(change.path for change in changes)}")
    for change in changes if addition.lines else ():
        if change.path not in addition.lines:
            yield f"{addition.patch}: {change.path} is edited; only {', '.join(addition.lines)} may be"
        elif count_added_lines(change) != 1:
            yield f"{addition.patch}: {change.path} gets {count_added_lines(change)} lines, not one"


def find_undocumented(page, additions):
    """Yields files that are either only listed in CONTRIBUTING.md or only edited by a patch."""
    for name in {addition.section for addition in additions if addition.section}:
        section = re.search(rf"^### An? {name}\n(.*?)(?=^##|^No other file|\Z)", page, re.M | re.S)[1]
        listed_files = {path.replace("<name>", "example")
                        for path in re.findall(r"`([\w<>.-]+/[\w<>./-]+|\w+\.md)`", section)}
        listed_files -= UNEDITED
        edited_files = {change.path for addition in additions if addition.section == name
                        for change in parse_changes((PATCHES / f"{addition.patch}.patch").read_text(encoding="utf-8"))}
        for path in sorted(edited_files):
            if not any(path == listed or listed.endswith("/") and path.startswith(listed) for listed in listed_files):
                yield f"{path} is edited for a {name}, and CONTRIBUTING.md does not list it"
        for listed in sorted(listed_files):
            if not any(path == listed or listed.endswith("/") and path.startswith(listed) for path in edited_files):
                yield f"CONTRIBUTING.md lists {listed} for a {name}, which its patch does not edit"


def copy_tree(root, target):
    for path in tree.files(root):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / path, target / path)


def run(root, command):
    result = subprocess.run([sys.executable, "-B", *command], cwd=root, capture_output=True, text=True)
    return "" if result.returncode == 0 else f"{' '.join(command)}: {result.stdout}{result.stderr}".strip()


def read_contents(root):
    return {path: (root / path).read_bytes() for path in tree.files(root)}


def find_compile_problems(root, compilers, names):
    switches = [f"-DHMN_WITH_{name}=1" for name in
                ("SUBPROCESS", *re.findall(r"^hmn_backend\((\w+) ", tree.text(root, "cmake/options.cmake"), re.M))]
    for name in names:
        compiler, standard = (compilers[0], "c11") if name.endswith(".c") else (compilers[1], "c++20")
        result = subprocess.run([compiler, "-fsyntax-only", f"-std={standard}", "-Wall", "-Wextra", "-DHMN_BUILD=1",
                                 *switches, "-Isrc", "-Iinclude", "-Ibindings/cpp", name],
                                cwd=root, capture_output=True, text=True)
        if result.returncode or "warning:" in result.stderr:
            yield f"{name} does not compile: {result.stderr}"


def rehearse(root, addition, compilers):
    patch = (PATCHES / f"{addition.patch}.patch").read_text(encoding="utf-8")
    yield from find_violations(addition, patch)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        copy_tree(root, scratch)
        if addition.prerequisite:
            prerequisite = (PATCHES / f"{addition.prerequisite}.patch").read_text(encoding="utf-8")
            apply(addition.prerequisite, prerequisite, scratch)
        apply(addition.patch, patch, scratch)
        old_contents = read_contents(scratch)
        problems = [problem for problem in (run(scratch, command) for command in GENERATORS) if problem]
        generated_files = sorted(str(path) for path, text in read_contents(scratch).items()
                                 if old_contents.get(path) != text)
        problems += [problem for problem in (run(scratch, command) for command in CHECKS) if problem]
        new_sources = [change.path for change in parse_changes(patch)
                       if change.is_new and change.path.startswith("src/") and change.path.endswith(".cpp")]
        problems += find_compile_problems(scratch, compilers, [*COMPILED_FILES, *new_sources])
    yield from (f"{addition.patch}: {problem}" for problem in problems)
    edited_files = [change.path for change in parse_changes(patch)]
    print(f"{addition.patch}: {len(edited_files)} by hand ({', '.join(edited_files)}), {len(generated_files)} written")


# ---- all additions: regenerated, built, read back ----

READER = """#include <hypomnesis.hpp>
#include <cstdio>
int main(int, char** arguments) {
  hypomnesis::context c;
  c.set_path(hypomnesis::path_kind::simulation, arguments[1]);
  std::printf("%g\\n", *c.telemetry(0).soc_celsius);
}
"""
LUA = "print((require 'hypomnesis'.open{simulation = arg[1]}:telemetry(0).soc_celsius))"
TARGETS = ("hmn", "hmn_model_test", "hmn_core_test", "hmn_example_test", "tests/abi/all")
SUITES = r"^(unit\.(model|core)|backends\.example|abi\..*)$"
# abidiff and history need the baseline of scripts/abi-baseline; canaries and rehearsal check the gate itself.
EXCLUDED_SUITES = r"abi\.(abidiff|history|canaries|rehearsal)"


def build_all(build, compilers):
    """Builds all additions in one tree; yields problems."""
    source, out = build / "tree", build / "out"
    machine = source / "tests/abi/machines/everything.json"
    check = subprocess.run(["bindings/generate", "--check", "--raw", "python"], cwd=source, capture_output=True)
    raw = [] if check.returncode == 77 else [["bindings/generate", "--raw", "csharp", "go", "lua", "python"]]
    for command in (*GENERATORS, *raw):
        if problem := run(source, command):
            yield problem
    launchers = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX") if shutil.which("ccache")]
    steps = (["cmake", "-S", source, "-B", out, "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_C_COMPILER={compilers[0]}",
              f"-DCMAKE_CXX_COMPILER={compilers[1]}", "-DHMN_WERROR=ON", "-DHMN_TEST_FOLDERS=unit;abi;backends",
              "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_C_FLAGS_DEBUG=-O0", "-GNinja", *launchers],
             ["cmake", "--build", out, "--target", *TARGETS],
             ["ctest", "--test-dir", out, "-j", str(2 * (os.cpu_count() or 1)), "-R", SUITES, "-E", EXCLUDED_SUITES,
              "-LE", "^(nightly|soak)$", "--no-tests=error", "--output-on-failure"],
             [compilers[1], "-std=c++17", "-x", "c++", build / "reader.cpp", f"-I{source}/include",
              f"-I{source}/bindings/cpp", f"-L{out}", f"-Wl,-rpath,{out}", "-lhypomnesis", "-o", build / "reader"])
    (build / "reader.cpp").write_text(READER, encoding="utf-8")
    for step in steps:
        result = subprocess.run(step, capture_output=True, text=True)
        if result.returncode:
            yield f"{step[0]} {step[1]} fails:\n{(result.stdout + result.stderr)[-4000:]}"
            return
    yield from check_field(source, [build / "reader", machine], "C++", {})
    if shutil.which("luajit"):
        folder = source / "bindings/lua"
        (build / "reader.lua").write_text(LUA, encoding="utf-8")
        yield from check_field(source, ["luajit", build / "reader.lua", machine], "LuaJIT",
                               {"HYPOMNESIS_LIBRARY": str(out / "libhypomnesis.so"),
                                "LUA_PATH": f"{folder}/?.lua;{folder}/?/init.lua"})


def check_field(source, command, language, environment):
    result = subprocess.run(command, capture_output=True, text=True, cwd=source, env={**os.environ, **environment})
    if result.stdout != "52.5\n":
        yield f"the new field, read through {language}, is {result.stdout!r}: {result.stderr}"


def rehearse_all(root, build, compilers):
    shutil.rmtree(build, ignore_errors=True)
    copy_tree(root, build / "tree")
    for addition in ADDITIONS.values():
        apply(addition.patch, (PATCHES / f"{addition.patch}.patch").read_text(encoding="utf-8"), build / "tree")
    yield from build_all(build, compilers)


# ---- self-test ----

EXTRA = """diff --git a/README.md b/README.md
--- a/README.md
+++ b/README.md
@@ -1 +1,2 @@
 a
+b
"""
NEW_FILE = """diff --git a/src/backends/example/a.cpp b/src/backends/example/a.cpp
new file mode 100644
--- /dev/null
+++ b/src/backends/example/a.cpp
@@ -0,0 +1 @@
+a
"""


def self_test():
    backend, field = ADDITIONS["backend"], ADDITIONS["field"]
    assert not list(find_violations(backend, NEW_FILE)), "a file of the backend's own folder is counted"
    assert "README.md is edited" in "".join(find_violations(backend, EXTRA)), \
        "an extra file of a backend is not reported"
    two_lines = EXTRA.replace("README.md", "docs/building.md").replace("+b\n", "+b\n+c\n")
    assert "gets 2 lines" in "".join(find_violations(backend, two_lines)), "an extra line of a backend is not reported"
    patches = "".join(EXTRA.replace("README.md", f"{number}.md") for number in range(field.max_files))
    assert not list(find_violations(field, patches)), "the allowed files of a field are reported"
    assert "10 files are edited" in "".join(find_violations(field, patches + EXTRA)), \
        "one file too many is not reported"
    page = "### A metric\n1. `include/hypomnesis.h`, `README.md`.\n"
    problems = "".join(find_undocumented(page, [ADDITIONS["metric"]]))
    assert "CHANGELOG.md is edited for a metric" in problems and "lists README.md" in problems, problems
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "README.md").write_text("a\n")
        apply("x", EXTRA, root)
        assert (root / "README.md").read_text() == "a\nb\n", "a patch is not applied"
        (root / "README.md").write_text("c\n")
        try:
            apply("x", EXTRA, root)
        except PatchDoesNotFit as error:
            assert "x.patch: hunk 1 of README.md (@@ -1 +1,2 @@) fits the tree 0 times" in str(error)
        else:
            raise AssertionError("a patch that does not fit is applied")


def main():
    self_test()
    root, compilers, build = pathlib.Path(sys.argv[1]), sys.argv[2:4], sys.argv[4:]
    try:
        if build:
            problems = list(rehearse_all(root, pathlib.Path(build[0]), compilers))
        else:
            problems = list(find_undocumented(tree.text(root, "CONTRIBUTING.md"), ADDITIONS.values()))
            problems += [problem for addition in ADDITIONS.values() for problem in rehearse(root, addition, compilers)]
    except PatchDoesNotFit as error:
        problems = [str(error)]
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
