#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""rehearsal.py ROOT CC CXX CLANG [PATTERN]: releases 0.1 and 1.0 in a copy of the tree, and then 1.1 with each change of
the tables below. Everything is refreshed without review: generated files, registries, layouts and their hashes, export
list, baseline, changelog. Only growth passes; each break fails with the sentence given here.
1.1 grows every result and the key of a metric, and has links, profiling counters and peaks kept by the kernel. Then 1.2
grows a result again, and a client of 1.1 still works."""
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import consistency
import header as headers
import history
from scratch import Failed, build, edit, run_gate_check, run

ROOT, CC, CXX, CLANG = (pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:5])
FOLDERS = ("include", "abi", "bindings", "cmake", "debian", "docs", "scripts", "src/api", "src/model", "tests/abi", "tests/bindings")
HEADER, MAP = "include/hypomnesis.h", "abi/hypomnesis.map"
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}


@dataclasses.dataclass
class Change:
    name: str
    edits: tuple  # (path, pattern, replacement), in this order
    expected: str = ""  # part of a sentence of the check; "": the change is growth, and passes
    check: str = "history"


def in_header(pattern, replacement):
    return HEADER, pattern, replacement


SWAPPED = r"(    uint64_t free_bytes;)(.*?)(    uint64_t used_bytes;)"
V2 = in_header(r"HMN_POOL_SIZE_V1 = 104", "HMN_POOL_SIZE_V1 = 104, HMN_POOL_SIZE_V2 = 112")
LAST = r"(uint64_t age_ns; +/\* time since the driver's answer \*/)(\n\} hmn_pool;)"
FIELD = in_header(LAST, r"\1\n    uint64_t pinned_bytes; /* locked in memory. V2 */\2")
BIT = in_header(r"(#define HMN_POOL_HAS_UNATTRIBUTED HMN_PRESENCE\(6\))",
                r"\1\n#define HMN_POOL_HAS_PINNED HMN_PRESENCE(63)")
FUNCTION = in_header(r"(/\*\* Returns the time of the clock)",
                     r"/** Returns the number of features. @since 1.1 */\nHMN_FN(uint32_t) hmn_feature_count(void) HMN_NX;\n\1")
NODE = (MAP, r"\n\};\n", "\n};\nHMN_1.1 {\nglobal:\n    hmn_feature_count;\n} HMN_1.0;\n")

GROWTH = (
    Change("a field with a bit and a size", (V2, FIELD, BIT)),
    Change("a function in a node of its own", (FUNCTION, NODE)),
    Change("an enumerator", (in_header(r"HMN_SENSOR_REGULATOR = 6", "HMN_SENSOR_REGULATOR = 6,\n    HMN_SENSOR_INTAKE = 7"),)),
    Change("metrics of links and of profiling counters", (
        in_header(r"(HMN_METRIC_LINK_TX_BYTES = 64 )( +/\* count, counter; link to other devices, from 1 \*/)",
                  r"HMN_METRIC_LINK_TX_BYTES = 64,\2\n    HMN_METRIC_LINK_PEER = 65, /* count: the device at the far end; link, from 1 */\n"
                  r"    HMN_METRIC_SM_PERCENT = 66 /* 0..100 of window_ns: share of time in which a multiprocessor worked */"),)),
    Change("a key with one more member", (
        in_header(r"HMN_METRIC_KEY_SIZE_V1 = 16", "HMN_METRIC_KEY_SIZE_V1 = 16, HMN_METRIC_KEY_SIZE_V2 = 24"),
        in_header(r"(    uint32_t reserved0;\n)(\} hmn_metric_key;)",
                  r"\1    uint32_t sub_instance; /* lane of a link, from 1. V2 */\n    uint32_t reserved1;\n\2"))),
    Change("a status", (in_header(r"(HMN_E_CANCELLED = -22) ", r"\1, "),
                        in_header(r"(would have to wait \*/)", r"\1\n    HMN_E_BUSY = -23 /* another program has it */"))),
    Change("a deprecated function", (
        in_header(r"(if not or if unknown\.) (@since 0\.1 \*/\n)(HMN_FN\(uint32_t\) hmn_feature\()",
                  r'\1\n *  @deprecated 1.1: use hmn_backend_available. \2HMN_DEPRECATED("use hmn_backend_available") \3'),)),
)
BREAKS = (
    Change("two fields swapped", (in_header(SWAPPED, r"\3\2\1"),), "hmn_pool.free_bytes moved from offset 48 in 1.0"),
    Change("two fields swapped, seen in the baselines", (in_header(SWAPPED, r"\3\2\1"),),
           "the library's hmn_pool does not begin like that of 1.0"),
    Change("a field grown in place", (
        in_header(r"char name\[256\];", "char name[320];"), in_header(r"HMN_DEVICE_SIZE_V1 = 624", "HMN_DEVICE_SIZE_V1 = 688")),
        r"hmn_device.name is char\[320\] and was char\[256\] in 1.0"),
    Change("a field widened", (in_header(r"uint32_t is_main; ", "uint64_t is_main; "),
                               in_header(r"HMN_POOL_SIZE_V1 = 104", "HMN_POOL_SIZE_V1 = 112")),
           "hmn_pool.is_main is uint64_t and was uint32_t"),
    Change("a field made signed", (in_header(r"uint64_t budget_bytes;   /", "int64_t budget_bytes;    /"),),
           "hmn_pool.budget_bytes is int64_t and was uint64_t"),
    Change("a field dropped", (in_header(r"\n    uint64_t budget_bytes; +/\*.*?\*/", ""),
                               in_header(r"\n#define HMN_POOL_HAS_BUDGET HMN_PRESENCE\(5\)", ""),
                               in_header(r"HMN_POOL_SIZE_V1 = 104", "HMN_POOL_SIZE_V1 = 96")),
           "hmn_pool.budget_bytes is gone"),
    Change("a field inserted", (in_header(r"(    uint64_t total_bytes;\n    uint64_t free_bytes;)", r"    uint64_t pinned_bytes;\n\1"),
                                V2, BIT), "hmn_pool.total_bytes moved from offset 40"),
    Change("a field of another name", (in_header(r"uint32_t is_main; ", "uint32_t is_first;"),), "hmn_pool.is_main is gone"),
    Change("a field without a bit", (V2, FIELD), "hmn_pool.pinned_bytes is new and has no presence bit"),
    Change("a field without a size", (FIELD, BIT), "hmn_pool has 112 bytes and no size constant", "consistency"),
    Change("a size of another value", (FIELD, BIT, in_header(r"HMN_POOL_SIZE_V1 = 104", "HMN_POOL_SIZE_V1 = 112")),
           "HMN_POOL_SIZE_V1 is 112 and was 104"),
    Change("two presence bits swapped", (in_header(r"(HMN_POOL_HAS_FREE HMN_PRESENCE\()1", r"\g<1>2"),
                                         in_header(r"(HMN_POOL_HAS_USED HMN_PRESENCE\()2", r"\g<1>1")),
           "HMN_POOL_HAS_FREE is 4 and was 2"),
    Change("enumerators renumbered", (in_header(r"(HMN_SENSOR_HOTSPOT = )2", r"\g<1>3"),
                                      in_header(r"(HMN_SENSOR_MEMORY = )3", r"\g<1>2")), "HMN_SENSOR_HOTSPOT is 3 and was 2"),
    Change("registered enumerators renumbered", (in_header(r"(HMN_E_ASLEEP = -2)0", r"\g<1>1"),
                                                 in_header(r"(HMN_E_STATE = -2)1", r"\g<1>0")), "HMN_E_ASLEEP is -21 and was -20"),
    Change("an enumerator dropped", (in_header(r"\n    HMN_SENSOR_BOARD = 5,", ""),), "HMN_SENSOR_BOARD is gone"),
    Change("a flag of another bit", (in_header(r"(HMN_COLLECT_GROUPS = 1 << )8", r"\g<1>9"),), "HMN_COLLECT_GROUPS is 512"),
    Change("a macro of another value", (in_header(r"(HMN_NS_IMMEDIATE) 1u", r"\1 2u"),), "HMN_NS_IMMEDIATE is 2u"),
    Change("another calling convention", (in_header(r"__cdecl", "__stdcall"),), "HMN_CALL is __stdcall"),
    Change("functions with names of C++", (in_header(r'#ifdef __cplusplus\nextern "C" \{\n#endif\n', ""),
                                           in_header(r"#ifdef __cplusplus\n\}\n#endif\n", "")), 'the macro extern "C" is gone'),
    Change("a deprecation that does not warn", (in_header(r"__attribute__\(\(deprecated\(instead\)\)\)", ""),),
           "the macro HMN_DEPRECATED is .* and was .*deprecated"),
    Change("functions that may throw", (in_header(r"HMN_NX noexcept", "HMN_NX"),), "the macro HMN_NX is"),
    Change("another way to declare functions", (in_header(r"(define HMN_FN\(type\)) HMN_API type HMN_CALL", r"\1 type HMN_CALL"),),
           r"the macro HMN_FN is \(type\) type HMN_CALL and was"),
    Change("a struct that begins otherwise", (in_header(r"\{\.struct_size = sizeof\(type\)\}", "{.struct_size = sizeof(type) - 8}"),),
           "the macro HMN_INIT is"),
    Change("another status", (in_header(r"HMN_E_RANGE(: pid is 0\. HMN_E_NO_PROCESS: the driver)", r"HMN_E_ARGUMENT\1"),),
           "the statuses of hmn_usage_read: HMN_E_NO_PROCESS, HMN_E_RANGE in 1.0, HMN_E_ARGUMENT, HMN_E_NO_PROCESS now"),
    Change("a status that is not documented any more", (in_header(r"HMN_E_LIMIT: they would exceed the limit \(", "The limit ("),),
           "the statuses of hmn_tracker_allocate"),
    Change("another default of a parameter", (in_header(r"a per_thousand of 0 means 1100", "a per_thousand of 0 means 1200"),),
           "the defaults of hmn_estimate_overhead: 1100 in 1.0, 1200 now"),
    Change("another unit of a function", (in_header(r"Computes the bytes of a tensor\. `shape`", "Computes the bits of a tensor. `shape`"),),
           "the units of hmn_estimate_tensor"),
    Change("another unit of a metric", (in_header(r"(HMN_METRIC_CLOCK_LIMIT_MHZ = 27, +/\* )MHz", r"\1GHz"),),
           "the units of HMN_METRIC_CLOCK_LIMIT_MHZ: MHz in 1.0, GHz now"),
    Change("another version", (in_header(r"(a feature \(HMN_FEATURE_[^@]*@since) 0\.1", r"\1 1.1"),), "the @since of hmn_feature: 0.1 in 1.0, 1.1 now"),
    Change("a wider type of flags", (in_header(r"typedef uint32_t hmn_flags;", "typedef uint64_t hmn_flags;"),),
           "the typedef hmn_flags is uint64_t"),
    Change("structs packed", (in_header(r'(#ifdef __cplusplus\nextern "C" \{\n#endif\n)', r"#pragma pack(1)\n\1"),),
           "packs or aligns its structs", "consistency"),
    Change("a struct packed by an attribute", (in_header(r"\} hmn_pool;", "} __attribute__((packed)) hmn_pool;"),),
           "packs or aligns its structs|hmn_pool is gone", "consistency"),
    Change("parameters of one type reordered", (
        in_header(r"(hmn_pool_read\(hmn_context \*context, )(uint32_t device_index), (uint32_t kind)", r"\1\3, \2"),),
        r"hmn_pool_read takes \(hmn_context \* context, uint32_t kind, uint32_t device_index"),
    Change("a parameter more", (in_header(r"hmn_feature\(uint32_t feature\)", "hmn_feature(uint32_t feature, uint32_t fields)"),),
           "hmn_feature takes"),
    Change("a parameter widened", (in_header(r"(hmn_metric_name\()uint32_t", r"\1uint64_t"),), "hmn_metric_name takes"),
    Change("a parameter widened, seen in the baselines", (in_header(r"(hmn_metric_name\()uint32_t", r"\1uint64_t"),),
           "the library's hmn_metric_name@@HMN_1.0 does not take"),
    Change("another type of result", (in_header(r"HMN_FN\(uint32_t\) hmn_feature", "HMN_FN(uint64_t) hmn_feature"),),
           "hmn_feature returns uint64_t"),
    Change("a function dropped", (in_header(r"/\*\* Returns 1 if the library has a feature.*?HMN_NX;\n", ""),
                                  (MAP, r"    hmn_feature;\n", "")), "hmn_feature is no longer exported"),
    Change("a function no longer declared", (in_header(r"/\*\* Returns 1 if the library has a feature.*?HMN_NX;\n", ""),),
           "hmn_feature is gone from the header, and 1.0 did not deprecate it"),
    Change("a function in another node", (
        (MAP, r"    hmn_feature;\n", ""), (MAP, r"\n\};\n", "\n};\nHMN_1.1 {\nglobal:\n    hmn_feature;\n} HMN_1.0;\n")),
        "hmn_feature is in HMN_1.1 and was in HMN_1.0"),
    Change("a function in another node: a client does not start", (
        (MAP, r"    hmn_feature;\n", ""), (MAP, r"\n\};\n", "\n};\nHMN_1.1 {\nglobal:\n    hmn_feature;\n} HMN_1.0;\n")),
        r"hmn_feature.*HMN_1\.0|version", "client"),
    Change("a function in a closed node", (FUNCTION, (MAP, r"    hmn_format_bytes;\n", "    hmn_feature_count;\n    hmn_format_bytes;\n")),
           "hmn_feature_count is new and in HMN_1.0, which 1.0 closed"),
    Change("a node of a version to come", (FUNCTION, (NODE[0], NODE[1], NODE[2].replace("HMN_1.1", "HMN_1.2"))),
           "the node HMN_1.2 is of no version up to 1.1.0", "consistency"),
    Change("a default of another value", (in_header(r"drivers; 0 = 1 s\.", "drivers; 0 = 2 s."),),
           'the default of hmn_context_options.deadline_ns was "1 s" in 1.0'),
    Change("a released header edited with the newest", (
        in_header(SWAPPED, r"\3\2\1"), ("abi/headers/1.0/hypomnesis.h", SWAPPED, r"\3\2\1")),
        "abi/headers/1.0/hypomnesis.h was released and differs from abi/released"),
    Change("a released layout edited", (("tests/abi/layout_v0_1.c", r"SIZE\(hmn_pool, 104\)", "SIZE(hmn_pool, 96)"),),
           "tests/abi/layout_v0_1.c was released and differs"),
    Change("a release forgotten", (("abi/released", r"[^\n]*abi/headers/1\.0/[^\n]*\n[^\n]*\n[^\n]*\n", ""),),
           "is not in abi/released, as the rest of 1.0 is|1.0 is older than 1.1 and not in abi/released"),
    Change("a parameter that few languages can pass", (in_header(r"hmn_feature\(uint32_t feature\)", "hmn_feature(long feature)"),),
           "hmn_feature takes long feature", "consistency"),
    Change("a pointer in a struct", (V2, BIT, in_header(LAST, r"\1\n    uint64_t *pinned; /* V2 */\2")),
           "padding|pinned|is new|size constant", "consistency"),
    Change("a function named as a type", (
        in_header(r"hmn_feature\(uint32_t", "hmn_peak(uint32_t"), (MAP, "    hmn_feature;", "    hmn_peak;")),
        "hmn_peak is named like a type", "consistency"),
    Change("a struct without its size in front", (
        in_header(r"(typedef struct hmn_group \{\n)    uint32_t struct_size;\n    hmn_flags notes; ",
                  r"\1    hmn_flags notes;\n    uint32_t struct_size; "),), "hmn_group begins with", "consistency"),
    Change("padding that is not written", (in_header(r"\n    uint32_t reserved0;\n    uint64_t os_id;",
                                                     "\n    uint64_t os_id;"),), "hmn_device has padding", "consistency"),
    Change("bit 64", (V2, FIELD, in_header(r"(#define HMN_POOL_HAS_UNATTRIBUTED HMN_PRESENCE\(6\))",
                                           r"\1\n#define HMN_POOL_HAS_PINNED HMN_PRESENCE(64)")),
           "is not one of bits 0 to 63", "consistency"),
    Change("a number used again", (("abi/metrics", r"\Z", "44  HMN_METRIC_AGAIN  reserved  of nothing\n"),),
           "uses the number 44 twice", "consistency"),
    Change("a function without its version", (FUNCTION, NODE, in_header(r" @since 1\.1", "")), "has no @since", "consistency"),
    Change("a macro without the prefix", (in_header(r"(#define HMN_NS_UNLIMITED)", r"#define MS_NONE 0\n\1"),),
           "the macro MS_NONE does not begin with HMN_", "consistency"),
    Change("another include", (in_header(r"#include <stdint.h>", "#include <stdint.h>\n#include <stddef.h>"),),
           "the header includes <stddef.h>", "consistency"),
)


def copy_tree(source, target, folders=FOLDERS):
    for folder in folders:
        shutil.copytree(source / folder, target / folder,
                        ignore=shutil.ignore_patterns("__pycache__", "build", "*_test.c", "images", "man"))
    shutil.copy(source / "CHANGELOG.md", target)


def run_in_tree(tree, *command):
    run(*command, cwd=tree, env={**os.environ, "CC": CC, "PYTHONDONTWRITEBYTECODE": "1"})


def library_path(tree):
    return tree / "library.so"


def read_version(tree):
    return ".".join(headers.parse(tree / HEADER).version.split(".")[:2])


def raise_version(tree, version):
    major, minor = version.split(".")
    for part, value in (("MAJOR", major), ("MINOR", minor), ("PATCH", "0")):
        edit(tree / HEADER, rf"(#define HMN_VERSION_{part}) \d+", rf"\g<1> {value}")
    edit(tree / HEADER, r"(#define HMN_VERSION_NUMBER) \d+u", rf"\g<1> {int(major) * 1000000 + int(minor) * 1000}u")
    run(sys.executable, "-B", ROOT / "scripts/set-soname", tree)
    with (tree / "CHANGELOG.md").open("a") as log:
        log.write(f"\n## [{version}.0]\n\n")


def refresh_registries(tree, header):
    for name in consistency.REGISTRIES:
        path, rows = tree / "abi" / name, []
        for line in path.read_text().splitlines():
            words = line.split()
            if not line.startswith("#") and words[2] != "reserved":
                if words[1] not in header.constants:
                    continue
                line = re.sub(r"^ *\S+", f"{header.constants[words[1]]:>{len(line) - len(line.lstrip()) + len(words[0])}}", line)
            rows.append(line)
        path.write_text("\n".join(rows) + "\n")


def refresh_layouts(tree, header):
    """Drops outdated lines; bindings/generate writes them again, into the newest layout."""
    places = {f"{struct.name}, {field.name}": f"{field.offset}, {field.count or field.type}"
              for struct in header.structs.values() for field in struct.fields}
    functions = {name: ", ".join([function.result, *([p.type for p in function.parameters] or ["void"])])
                 for name, function in header.functions.items()}

    def is_current(kind, subject, rest):
        if kind == "SIZE":
            return subject in header.structs and int(rest) <= header.structs[subject].size
        if kind == "NUMBER":
            return subject in header.constants and eval(rest.removesuffix("ull")) == header.constants[subject]  # pylint: disable=eval-used
        return {**places, **functions}.get(subject) == rest

    def keep_current(match):
        words = re.sub(r"\s+", " ", match[2])
        subject, rest = words.rsplit(", ", 2)[0:1] + [", ".join(words.rsplit(", ", 2)[1:])] if match[1] in (
            "FIELD", "TEXT") else words.split(", ", 1)
        return match[0] if is_current(match[1], subject, rest) else ""

    for path in (tree / "tests/abi").glob("layout_v*.c"):
        path.write_text(re.sub(r"^(SIZE|FIELD|TEXT|NUMBER|FUNCTION)\(([^;]*)\);\n", keep_current, path.read_text(),
                               flags=re.M))


def refresh(tree):
    """Updates everything that scripts and a careless developer would update to the header and the map."""
    header = headers.parse(tree / HEADER)
    nodes = consistency.read_map(tree / MAP)
    (tree / "abi/exports.txt").write_text("".join(sorted(f"{name}@@{node}\n" for node, names in nodes.items() for name in names)))
    refresh_registries(tree, header)
    refresh_layouts(tree, header)
    with (tree / "CHANGELOG.md").open("a") as log:
        log.write("".join(f"`{name}`\n" for name in sorted(consistency.list_names(header))))
    run_in_tree(tree, sys.executable, "-B", "bindings/generate")
    build(tree, CC, library_path(tree))
    run_in_tree(tree, "scripts/abi-baseline", library_path(tree))


def release(tree, version, client=None):
    word = version.replace(".", "_")
    if read_version(tree) != version:
        raise_version(tree, version)
    path = tree / f"tests/abi/clients/client_v{word}.c"
    if not path.exists():
        path.write_text(client or next(path.parent.glob("client_v*.c")).read_text())
    if not (tree / f"tests/abi/layout_v{word}.c").exists():  # the next minor version became the next major one
        newest = max((tree / "tests/abi").glob("layout_v*.c"),
                     key=lambda path: history.parse_version(path.stem[8:].replace("_", ".")))
        newest.rename(tree / f"tests/abi/layout_v{word}.c")
    refresh(tree)
    run_in_tree(tree, "scripts/abi-baseline", "--release")


# ---- the checks ----


def check_client(tree):
    """Runs the client of 1.0 with the current library: it must start, and notice that the stub does nothing."""
    shutil.copy(library_path(tree), tree / "libhypomnesis.so.1")
    result = subprocess.run([tree / "tests/abi/clients/bin/client_v1_0.x86_64.bin", "/machine.json"], check=False,
                            **QUIET, env={"LD_LIBRARY_PATH": str(tree), "LD_BIND_NOW": "1"})
    return (result.returncode != 1, result.stderr)


def list_results(header):
    return [struct for struct in header.structs.values() if any(field.name == "present" for field in struct.fields)]


def grow_results(tree):
    """Appends a field with a presence bit to each result that has not grown yet."""
    for struct in list_results(headers.parse(tree / HEADER)):
        word = struct.name.upper()
        if f"{word}_SIZE_V2" in (tree / HEADER).read_text():
            continue
        edit(tree / HEADER, rf"enum \{{ {word}_SIZE_V1 = (\d+)",
             f"#define {word}_HAS_LATER HMN_PRESENCE(62)\nenum {{ {word}_SIZE_V1 = \\1, {word}_SIZE_V2 = {struct.size + 8}")
        edit(tree / HEADER, rf"(\n\}} {struct.name};)", r"\n    uint64_t later_bytes; /* of a later version. V2 */\1")


GROWN_PROGRAM = """#include "api/sized.hpp"
#include <cstdio>
#include <cstring>
static int problems;
// Writes a result with all bits: to a caller of 1.0 and to one of today.
template <class T> static void check(const char* name, std::uint32_t v1, hmn_fields later) {{
  struct {{ T it; unsigned char behind[64]; }} out;
  T full{{}};
  full.present = ~hmn_fields(0);
  for (const std::uint32_t size : {{v1, std::uint32_t(sizeof(T))}}) {{
    std::memset(&out, 0xA5, sizeof out);
    out.it.struct_size = size;
    hmn::api::SizedOut::wrap(&out.it).write(&full);
    const unsigned char* const past = reinterpret_cast<unsigned char*>(&out) + size;
    const bool has_later = (out.it.present & later) != 0;
    if (has_later == (size == sizeof(T)) && *past == 0xA5) continue;
    std::printf("%s of %u bytes\\n", name, size);
    ++problems;
  }}
}}
int main() {{
{calls}
  return problems;
}}
"""


def run_grown_program(tree):
    """Returns the number of results and the mistakes of the library's code with grown results."""
    header = headers.parse(tree / HEADER)
    calls = [(struct.name, f"{struct.name.upper()}_HAS_{'PINNED' if struct.name == 'hmn_pool' else 'LATER'}")
             for struct in list_results(header)]
    (tree / "grown.cpp").write_text(GROWN_PROGRAM.format(calls="\n".join(
        f'  check<{name}>("{name}", {name.upper()}_SIZE_V1, {bit});' for name, bit in calls)))
    run(CXX, "-std=c++20", "-O1", f"-I{tree}/include", f"-I{tree}/src", "-o", tree / "grown", tree / "grown.cpp", tree / SIZED,
        tree / "src/model/failure.cpp", tree / "src/model/message_text.cpp")
    result = subprocess.run([tree / "grown"], check=False, stdout=subprocess.PIPE, text=True)
    return len(calls), result.stdout.splitlines()


def try_results(tree):
    count, mistakes = run_grown_program(tree)
    yield from (f"a result that has grown: {line}" for line in mistakes)
    original = (tree / SIZED).read_text()
    edit(tree / SIZED, r"present &= ~field\.bit;", "")
    if len(run_grown_program(tree)[1]) != count:
        yield f"a bit of a field that does not fit is not found in each of {count} results"
    (tree / SIZED).write_text(original)


def run_check(tree, name):
    layouts = sorted((tree / "tests/abi").glob("layout_v*.c"))
    version = read_version(tree)
    return {"history": lambda: run_gate_check("history.py", tree),
            "consistency": lambda: run_gate_check("consistency.py", tree),
            "layout": lambda: run_gate_check("layout.sh", tree / "include", CLANG, *layouts),
            "exports": lambda: run_gate_check("exports.sh", library_path(tree), tree / "abi/exports.txt"),
            "needed": lambda: run_gate_check("needed.sh", library_path(tree), "libhypomnesis.so.1"),
            "abidiff": lambda: run_gate_check("abidiff.sh", library_path(tree), tree / "include",
                                              tree / f"abi/baselines/{version}/x86_64.abi",
                                              tree / f"abi/headers/{version}", tree / "abi/suppressions"),
            "client": lambda: check_client(tree)}[name]()


def apply_edits(tree, edits):
    for path, pattern, replacement in edits:
        edit(tree / path, pattern, replacement)


def try_break(base, change):
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch)
        copy_tree(base, tree)
        try:
            apply_edits(tree, change.edits)
        except AssertionError as reason:
            yield f"{change.name}: {reason}"
            return
        try:
            refresh(tree)
            failed, report = run_check(tree, change.check)
        except Failed as reason:
            failed, report = run_check(tree, change.check)
            report = f"{report}{reason}"
        if not failed:
            yield f"{change.name}: abi.{change.check} passes"
        elif not re.search(change.expected, report):
            yield f"{change.name}: abi.{change.check} does not say \"{change.expected}\": {report}"


def try_growth(tree):
    """Adds all growth to the tree; every check must pass."""
    for change in GROWTH:
        apply_edits(tree, change.edits)
    grow_results(tree)
    refresh(tree)
    for name in ("history", "consistency", "layout", "exports", "needed", "abidiff", "client"):
        failed, report = run_check(tree, name)
        if failed:
            yield f"growth: abi.{name} fails: {report}"
    yield from try_results(tree)


# ---- a result that grows twice ----

MIDDLE_CLIENT = """/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <hypomnesis.h>
#include <string.h>
int main(void) {
  struct { hmn_pool it; unsigned char behind[64]; } pool;
  hmn_status status;
  memset(&pool, 0xA5, sizeof pool);
  pool.it.struct_size = HMN_POOL_SIZE_V2;
  status = hmn_pool_read(0, 0, HMN_POOL_MAIN, 0, 0, &pool.it, 0);
  if (status != HMN_OK || pool.it.struct_size != HMN_POOL_SIZE_V2) return 1;
  if (!(pool.it.present & HMN_POOL_HAS_PINNED) || pool.it.pinned_bytes != 11 || pool.it.age_ns != 10) return 2;
  if (pool.it.present & ~((hmn_fields)255 | HMN_POOL_HAS_PINNED)) return 3;
  return pool.behind[0] == 0xA5 && pool.behind[63] == 0xA5 ? 0 : 4;
}
"""
FILL_LIBRARY = """#include "api/sized.hpp"
extern "C" __attribute__((visibility("default")))
hmn_status hmn_pool_read(hmn_context*, uint32_t, uint32_t, uint32_t, hmn_fields, hmn_pool* out, hmn_error*) noexcept {
  hmn_pool full{};
  full.present = 255 | HMN_POOL_HAS_PINNED | HMN_POOL_HAS_MOVED;
  full.age_ns = 10;
  full.pinned_bytes = 11;
  full.moved_bytes = 12;
  if (!hmn::api::is_struct_size(out->struct_size, HMN_POOL_SIZE_V1)) return HMN_E_STRUCT_SIZE;
  hmn::api::SizedOut::wrap(out).write(&full);
  return HMN_OK;
}
"""
SECOND_GROWTH = (in_header(r"HMN_POOL_SIZE_V2 = 112", "HMN_POOL_SIZE_V2 = 112, HMN_POOL_SIZE_V3 = 120"),
                 in_header(r"(#define HMN_POOL_HAS_PINNED HMN_PRESENCE\(63\))", r"\1\n#define HMN_POOL_HAS_MOVED HMN_PRESENCE(8)"),
                 in_header(r"(in memory\. V2 \*/)", r"\1\n    uint64_t moved_bytes; /* moved since the last reading. V3 */"))
SIZED = "src/api/sized.cpp"
MIDDLE_BREAKS = (
    Change("a bit of a field that does not fit", ((SIZED, r"present &= ~field\.bit;", ""),), "3"),
    Change("a field that the middle version has, left out", ((SIZED, r"std::min\(size\(\), known_size\)", "std::min(size(), first_size)"),), "2"),
    Change("a byte past the struct", ((SIZED, r"size\(\) - common_size\);", "size() - common_size + 8);"),), "4"),
    Change("the middle version's size refused", (("src/api/sized.hpp", r"size >= v1 &&", "size > v1 + 8 &&"),), "1"),
)


def run_middle(tree):
    """Returns the exit code of the client of 1.1 with a library that writes results with the library's code."""
    library = tree / "libhypomnesis.so.1"
    (tree / "fill.cpp").write_text(FILL_LIBRARY)
    run(CXX, "-std=c++20", "-shared", "-fPIC", "-O1", "-fvisibility=hidden", f"-I{tree}/include", f"-I{tree}/src",
        f"-Wl,-soname,{library.name}", f"-Wl,--version-script={tree}/abi/hypomnesis.map", "-o", library,
        tree / "fill.cpp", tree / SIZED)
    result = subprocess.run([tree / "tests/abi/clients/bin/client_v1_1.x86_64.bin"], check=False, **QUIET,
                            env={"LD_LIBRARY_PATH": str(tree)})
    return result.returncode


def try_second_growth(tree):
    """Lets a result grow again in the tree of 1.0 with its growth."""
    release(tree, "1.1", MIDDLE_CLIENT)
    raise_version(tree, "1.2")
    apply_edits(tree, SECOND_GROWTH)
    refresh(tree)
    failed, report = run_check(tree, "history")
    if failed:
        yield f"a second growth: abi.history fails: {report}"
    if (code := run_middle(tree)) != 0:
        yield f"a second growth: the client of 1.1 ends with {code}"
    for change in MIDDLE_BREAKS:
        originals = {path: (tree / path).read_text() for path, _, _ in change.edits}
        apply_edits(tree, change.edits)
        if (code := run_middle(tree)) != int(change.expected):
            yield f"{change.name}: the client of 1.1 ends with {code}, not {change.expected}"
        for path, text in originals.items():
            (tree / path).write_text(text)
    edit(tree / HEADER, r"(\n    uint64_t pinned_bytes;[^\n]*)(\n    uint64_t moved_bytes;[^\n]*)", r"\2\1")
    refresh(tree)
    failed, report = run_check(tree, "history")
    if not failed or "hmn_pool.pinned_bytes moved from offset 104 in 1.1" not in report:
        yield f"a field inserted before one of 1.1: {report or 'abi.history passes'}"


def main():
    pattern = sys.argv[5] if len(sys.argv) > 5 else ""
    with tempfile.TemporaryDirectory() as scratch:
        base, grown_tree = pathlib.Path(scratch) / "base", pathlib.Path(scratch) / "grown"
        copy_tree(ROOT, base)
        refresh(base)
        release(base, read_version(base))
        release(base, "1.0")
        raise_version(base, "1.1")
        refresh(base)
        copy_tree(base, grown_tree)
        breaks = [change for change in BREAKS if re.search(pattern, change.name)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            growth = pool.submit(lambda: [*try_growth(grown_tree), *try_second_growth(grown_tree)])
            results = pool.map(lambda change: list(try_break(base, change)), breaks)
            problems = [problem for result in results for problem in result]
            problems += growth.result()
    print(f"{len(breaks)} breaks tried, and growth")
    for problem in problems:
        print(f"rehearsal: {problem}", file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
