# SPDX-License-Identifier: MIT OR Apache-2.0
"""rehearsal.py ROOT CC CXX [BUILD]: adds a field, a metric, an enumerator and a backend to a copy of the tree at
ROOT, each from a patch in rehearsal/, and counts the files that are edited by hand. The others are written by
bindings/generate, scripts/manual and scripts/draw-architecture, and the checks of the repository must pass then.

With BUILD, a folder, all of them together are built there, tested, and read back through C++ and LuaJIT."""
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
# These are compiled without a build.
COMPILED = ("src/model/record.cpp", "src/model/words.cpp", "src/source/registry.cpp",
            "src/api/device.cpp", "src/api/library.cpp", "tests/abi/layout_v0_1.c", "tests/bindings/c/records.c",
            "tests/bindings/cpp/agent.cpp")


MENTIONED = {"src/source/interface.hpp"}


@dataclasses.dataclass
class Addition:
    patch: str
    section: str  # of CONTRIBUTING.md; "": that of another
    most: int  # files edited by hand
    after: str = ""  # another that it stands on
    folders: tuple[str, ...] = ()  # where new files are not counted
    lines: tuple[str, ...] = ()  # files that get one line each, and no other file is edited


ADDITIONS = {
    "field": Addition("field", "field", 9),
    "metric": Addition("metric", "metric", 6),
    "enumerator": Addition("enumerator", "enumerator", 4),
    "a backend's number": Addition("backend_number", "", 4),
    "backend": Addition("backend", "backend", 3, after="backend_number",
                        folders=("src/backends/example/", "tests/backends/example/"),
                        lines=("src/source/sources.def", "cmake/options.cmake", "docs/building.md")),
}


class Moved(Exception):
    """A patch does not fit the tree any more."""


@dataclasses.dataclass
class Change:
    path: str
    hunks: list[tuple[str, str, str]]  # where it was, old text, new text; old is "" in a new file

    @property
    def is_new(self):
        return all(not old for _, old, _ in self.hunks)


def changes_of(patch):
    for text in re.split(r"^diff --git .*\n", patch, flags=re.M)[1:]:
        path = re.search(r"^\+\+\+ b/(.*)$", text, re.M)[1]
        hunks = []
        for where, body in re.findall(r"^(@@ .*? @@).*\n((?:[ +-].*\n|\n)*)", text, re.M):
            lines = [(line[:1] or " ", line[1:]) for line in body.splitlines(keepends=True)]
            hunks.append((where, "".join(line for mark, line in lines if mark != "+"),
                          "".join(line for mark, line in lines if mark != "-")))
        yield Change(path, hunks)


def apply(name, patch, root):
    for change in changes_of(patch):
        path = root / change.path
        if change.is_new == path.exists():
            raise Moved(f"{name}.patch: {change.path} is {'there already' if change.is_new else 'gone'}")
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for number, (where, old, new) in enumerate(change.hunks, 1):
            if old and text.count(old) != 1:
                raise Moved(f"{name}.patch: hunk {number} of {change.path} ({where}) fits the tree "
                            f"{text.count(old)} times, not once: make the patch again for what the file is now")
            text = text.replace(old, new) if old else new
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def added_lines(change):
    return sum(len(new.splitlines()) - len(old.splitlines()) for _, old, new in change.hunks)


def violations(addition, patch):
    """What an addition edits by hand above its limit."""
    changes = [change for change in changes_of(patch)
               if not (change.is_new and change.path.startswith(addition.folders or ("\0",)))]
    if len(changes) > addition.most:
        yield (f"{addition.patch}: {len(changes)} files are edited by hand, at most {addition.most} may be: "
               f"{', '.join(change.path for change in changes)}")
    for change in changes if addition.lines else ():
        if change.path not in addition.lines:
            yield f"{addition.patch}: {change.path} is edited; only {', '.join(addition.lines)} may be"
        elif added_lines(change) != 1:
            yield f"{addition.patch}: {change.path} gets {added_lines(change)} lines, not one"


def undocumented(page, additions):
    """Files that CONTRIBUTING.md lists and no patch edits, and the other way round."""
    for noun in {addition.section for addition in additions if addition.section}:
        section = re.search(rf"^### An? {noun}\n(.*?)(?=^##|^No other file|\Z)", page, re.M | re.S)[1]
        listed = {path.replace("<name>", "example") for path in re.findall(r"`([\w<>.-]+/[\w<>./-]+|\w+\.md)`", section)}
        listed -= MENTIONED
        edited = {change.path for addition in additions if addition.section == noun
                  for change in changes_of((PATCHES / f"{addition.patch}.patch").read_text(encoding="utf-8"))}
        for path in sorted(edited):
            if not any(path == known or known.endswith("/") and path.startswith(known) for known in listed):
                yield f"{path} is edited for a {noun}, and CONTRIBUTING.md does not list it"
        for known in sorted(listed):
            if not any(path == known or known.endswith("/") and path.startswith(known) for path in edited):
                yield f"CONTRIBUTING.md lists {known} for a {noun}, which its patch does not edit"


def copy(root, to):
    for path in tree.files(root):
        (to / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / path, to / path)


def run(root, command):
    done = subprocess.run([sys.executable, "-B", *command], cwd=root, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{' '.join(command)}: {done.stdout}{done.stderr}".strip()


def contents(root):
    return {path: (root / path).read_bytes() for path in tree.files(root)}


def compile_problems(root, compilers, names):
    switches = [f"-DHMN_WITH_{name}=1" for name in
                ("SUBPROCESS", *re.findall(r"^hmn_backend\((\w+) ", tree.text(root, "cmake/options.cmake"), re.M))]
    for name in names:
        compiler, standard = (compilers[0], "c11") if name.endswith(".c") else (compilers[1], "c++20")
        done = subprocess.run([compiler, "-fsyntax-only", f"-std={standard}", "-Wall", "-Wextra", "-DHMN_BUILD=1",
                               *switches, "-Isrc", "-Iinclude", "-Ibindings/cpp", name],
                              cwd=root, capture_output=True, text=True)
        if done.returncode or "warning:" in done.stderr:
            yield f"{name} does not compile: {done.stderr}"


def rehearse(root, addition, compilers):
    patch = (PATCHES / f"{addition.patch}.patch").read_text(encoding="utf-8")
    yield from violations(addition, patch)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        copy(root, scratch)
        if addition.after:
            apply(addition.after, (PATCHES / f"{addition.after}.patch").read_text(encoding="utf-8"), scratch)
        apply(addition.patch, patch, scratch)
        before = contents(scratch)
        found = [problem for problem in (run(scratch, command) for command in GENERATORS) if problem]
        written = sorted(str(path) for path, text in contents(scratch).items() if before.get(path) != text)
        found += [problem for problem in (run(scratch, command) for command in CHECKS) if problem]
        new = [change.path for change in changes_of(patch) if change.is_new and change.path.startswith("src/")
               and change.path.endswith(".cpp")]
        found += compile_problems(scratch, compilers, [*COMPILED, *new])
    yield from (f"{addition.patch}: {problem}" for problem in found)
    by_hand = [change.path for change in changes_of(patch)]
    print(f"{addition.patch}: {len(by_hand)} by hand ({', '.join(by_hand)}), {len(written)} written")


# ---- the whole: regenerated, built, read back ----

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
# The baseline is written by scripts/abi-baseline; the last two check the gate itself.
NOT_SUITES = r"abi\.(abidiff|history|canaries|rehearsal)"


def built(build, compilers):
    """Builds all the additions in one tree; problems."""
    source, out = build / "tree", build / "out"
    machine = source / "tests/abi/machines/everything.json"
    raw = [] if not shutil.which("swig") else [["bindings/generate", "--raw", "csharp", "go", "lua", "python"]]
    for command in (*GENERATORS, *raw):
        if problem := run(source, command):
            yield problem
    launchers = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX") if shutil.which("ccache")]
    steps = (["cmake", "-S", source, "-B", out, "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_C_COMPILER={compilers[0]}",
              f"-DCMAKE_CXX_COMPILER={compilers[1]}", "-DHMN_WERROR=ON", "-DHMN_TEST_FOLDERS=unit;abi;backends",
              "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_C_FLAGS_DEBUG=-O0", "-GNinja", *launchers],
             ["cmake", "--build", out, "--target", *TARGETS],
             ["ctest", "--test-dir", out, "-j", str(2 * (os.cpu_count() or 1)), "-R", SUITES, "-E", NOT_SUITES,
              "-LE", "^(nightly|soak)$", "--no-tests=error", "--output-on-failure"],
             [compilers[1], "-std=c++17", "-x", "c++", build / "reader.cpp", f"-I{source}/include",
              f"-I{source}/bindings/cpp", f"-L{out}", f"-Wl,-rpath,{out}", "-lhypomnesis", "-o", build / "reader"])
    (build / "reader.cpp").write_text(READER, encoding="utf-8")
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode:
            yield f"{step[0]} {step[1]} fails:\n{(done.stdout + done.stderr)[-4000:]}"
            return
    yield from read_back(source, [build / "reader", machine], "C++", {})
    if shutil.which("luajit"):
        folder = source / "bindings/lua"
        (build / "reader.lua").write_text(LUA, encoding="utf-8")
        yield from read_back(source, ["luajit", build / "reader.lua", machine], "LuaJIT",
                             {"HYPOMNESIS_LIBRARY": str(out / "libhypomnesis.so"),
                              "LUA_PATH": f"{folder}/?.lua;{folder}/?/init.lua"})


def read_back(source, command, language, environment):
    done = subprocess.run(command, capture_output=True, text=True, cwd=source, env={**os.environ, **environment})
    if done.stdout != "52.5\n":
        yield f"the new field, read through {language}, is {done.stdout!r}: {done.stderr}"


def rehearse_whole(root, build, compilers):
    shutil.rmtree(build, ignore_errors=True)
    copy(root, build / "tree")
    for addition in ADDITIONS.values():
        apply(addition.patch, (PATCHES / f"{addition.patch}.patch").read_text(encoding="utf-8"), build / "tree")
    yield from built(build, compilers)


# ---- what must be seen ----

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
    assert not list(violations(backend, NEW_FILE)), "a file of the backend's own folder is counted"
    assert "README.md is edited" in "".join(violations(backend, EXTRA)), "an extra file of a backend is not seen"
    two_lines = EXTRA.replace("README.md", "docs/building.md").replace("+b\n", "+b\n+c\n")
    assert "gets 2 lines" in "".join(violations(backend, two_lines)), "an extra line of a backend is not seen"
    most = "".join(EXTRA.replace("README.md", f"{number}.md") for number in range(field.most))
    assert not list(violations(field, most)), "a field may have its files"
    assert "10 files are edited" in "".join(violations(field, most + EXTRA)), "a file too many is not seen"
    page = "### A metric\n1. `include/hypomnesis.h`, `README.md`.\n"
    found = "".join(undocumented(page, [ADDITIONS["metric"]]))
    assert "CHANGELOG.md is edited for a metric" in found and "lists README.md" in found, found
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "README.md").write_text("a\n")
        apply("x", EXTRA, root)
        assert (root / "README.md").read_text() == "a\nb\n", "a patch is not applied"
        (root / "README.md").write_text("c\n")
        try:
            apply("x", EXTRA, root)
        except Moved as moved:
            assert "x.patch: hunk 1 of README.md (@@ -1 +1,2 @@) fits the tree 0 times" in str(moved)
        else:
            raise AssertionError("a patch that does not fit is applied")


def main():
    self_test()
    root, compilers, build = pathlib.Path(sys.argv[1]), sys.argv[2:4], sys.argv[4:]
    try:
        if build:
            problems = list(rehearse_whole(root, pathlib.Path(build[0]), compilers))
        else:
            problems = list(undocumented(tree.text(root, "CONTRIBUTING.md"), ADDITIONS.values()))
            problems += [problem for addition in ADDITIONS.values() for problem in rehearse(root, addition, compilers)]
    except Moved as moved:
        problems = [str(moved)]
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
