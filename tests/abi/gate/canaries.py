#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""canaries.py ROOT CC CXX CLANG CLANGXX: each check of the gate passes a sound library and fails on a
broken one. A gate that lets one of these through is broken itself."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import header as headers
import stub
from scratch import Tree, passes, run

ROOT, CC, CXX, CLANG, CLANGXX = (pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:6])
SONAME = stub.soname(headers.parse(ROOT / "include/hypomnesis.h"))
WRONG_ANSWER, DAMAGED = 1, 3  # exit codes of tests/abi/clients


class Canary(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.tree = Tree(scratch.name, ROOT, CC)

    def compiles(self):
        return passes("header_compiles.sh", self.tree.folder / "include", CC, CXX)

    def users(self, mode, *tools):
        return passes("header_users.py", mode, self.tree.folder / "include", *tools)

    def layout(self):
        return passes("layout.sh", self.tree.folder / "include", CLANG,
                      *(self.tree.folder / "tests/abi").glob("layout_v*.c"))

    def abidiff(self):
        tree = self.tree
        return passes("abidiff.sh", tree.library, tree.folder / "include", tree.baseline,
                      tree.folder / "before", tree.suppressions)

    def exports(self):
        return passes("exports.sh", self.tree.library, self.tree.folder / "abi/exports.txt")

    def needed(self, *mode):
        return passes("needed.sh", self.tree.library, SONAME, *mode)

    def hardening(self):
        return passes("hardening.sh", self.tree.library)

    def consistency(self):
        return passes("consistency.py", self.tree.folder)

    def versions(self, limits, *mode):
        path = self.tree.folder / "limits"
        path.write_text(limits)
        return passes("symbol_versions.sh", self.tree.library, path, *mode)


class Sound(Canary):
    def test_the_untouched_copy_passes_everything(self):
        self.tree.remember()
        for check in (self.compiles, self.layout, self.abidiff, self.exports, self.needed,
                      self.hardening, self.consistency):
            self.assertTrue(check(), check.__name__)
        self.assertTrue(self.needed("static-runtime"))


class Header(Canary):
    def test_swapped_fields(self):
        self.tree.remember()
        self.tree.edit("include/hypomnesis.h", r"(uint64_t free_bytes;)(\s+)(uint64_t used_bytes;)", r"\3\2\1")
        self.tree.build()
        self.assertFalse(self.layout())
        self.assertFalse(self.abidiff())

    def test_widened_parameter(self):
        self.tree.remember()
        self.tree.edit("include/hypomnesis.h", r"(hmn_pool_read\([^;]*)uint32_t kind", r"\1uint64_t kind")
        self.tree.build()
        self.assertFalse(self.layout())
        self.assertFalse(self.abidiff())

    def test_removed_function(self):
        self.tree.remember()
        self.tree.edit("include/hypomnesis.h", r"HMN_FN\(uint32_t\) hmn_feature\(uint32_t feature\) HMN_NX;", "")
        self.assertFalse(self.layout())
        self.assertFalse(self.consistency())
        self.tree.edit("abi/hypomnesis.map", "    hmn_feature;\n", "")
        self.tree.build()
        self.assertFalse(self.exports())
        self.assertFalse(self.abidiff())

    def test_function_without_a_line_in_the_map(self):
        self.tree.edit("abi/hypomnesis.map", "    hmn_feature;\n", "")
        self.tree.build()
        self.assertFalse(self.exports())
        self.assertFalse(self.consistency())

    def test_renumbered_constant(self):
        self.tree.edit("include/hypomnesis.h", r"HMN_E_RANGE = -4,", "HMN_E_RANGE = -40,")
        self.assertFalse(self.layout())
        self.assertFalse(self.consistency())

    def test_appended_field_keeps_the_layout_and_asks_for_the_rest(self):
        self.tree.remember()
        self.tree.edit("include/hypomnesis.h", r"(uint64_t age_ns;[^;]*)\} hmn_pool;", r"\1 uint64_t more; } hmn_pool;")
        self.tree.build()
        self.assertTrue(self.layout())
        self.assertFalse(self.abidiff())
        self.assertFalse(self.consistency())

    def test_padding(self):
        self.tree.edit("include/hypomnesis.h", r"    uint32_t reserved0; *\n    uint64_t os_id;", "    uint64_t os_id;")
        self.assertFalse(self.compiles())
        self.assertFalse(self.layout())
        self.assertFalse(self.consistency())

    def test_a_type_that_c89_lacks(self):
        self.tree.edit("include/hypomnesis.h", r"hmn_feature\(uint32_t feature\)", "hmn_feature(bool feature)")
        self.assertFalse(self.compiles())
        self.assertFalse(self.consistency())

    def test_a_comment_that_c89_lacks(self):
        self.tree.edit("include/hypomnesis.h", r"(struct hmn_snapshot;\n|hmn_snapshot hmn_snapshot;\n)", r"\1// text\n")
        self.assertFalse(self.compiles())

    def test_unregistered_status(self):
        self.tree.edit("include/hypomnesis.h", r"HMN_E_CANCELLED = -22", "HMN_E_CANCELLED = -22, HMN_E_NEW = -23")
        self.assertFalse(self.consistency())

    def test_reused_number(self):
        self.tree.edit("abi/status-codes", r"\n-20  HMN_E_ASLEEP", "\n-19  HMN_E_ASLEEP")
        self.assertFalse(self.consistency())

    def test_new_function_without_a_line_in_the_changelog(self):
        for path in ("include/hypomnesis.h", "abi/hypomnesis.map", "abi/exports.txt"):
            self.tree.edit(path, r"(?<=[ \n])hmn_feature(?=[(;@])", "hmn_capability")
        self.assertFalse(self.consistency())

    def test_what_the_documentation_lacks(self):
        for pattern, replacement in (
                (r" @since 0\.1 \*/\nHMN_FN\(uint32_t\) hmn_feature", r" */\nHMN_FN(uint32_t) hmn_feature"),
                (r"HMN_FN\(uint32_t\) hmn_feature", r'HMN_DEPRECATED("hmn_more") HMN_FN(uint32_t) hmn_feature'),
                (r"if the library has a feature \(HMN_FEATURE_\*\)", "if it has it"),
                (r"uint32_t vendor; +/\*[^/]*\*/", "uint32_t vendor;"),
                (r"HMN_POOL_HAS_BUDGET HMN_PRESENCE", "HMN_POOL_HAS_GRANT HMN_PRESENCE"),
                (r"(HMN_TELEMETRY_HAS_WINDOW HMN_PRESENCE\()\d+", r"\g<1>64"),
                (r"HMN_HYPOMNESIS_H", "HYPOMNESIS_H"),
                (r"#include <stdint.h>", "#include <stdint.h>\n#include <stddef.h>")):
            original = self.tree.header.read_text()
            with self.subTest(pattern):
                self.tree.edit("include/hypomnesis.h", pattern, replacement, len(re.findall(pattern, original, re.S)))
                self.assertNotEqual(self.tree.header.read_text(), original)
                self.assertFalse(self.consistency())
            self.tree.header.write_text(original)

    def test_an_initial_value_that_warns(self):
        self.tree.edit("include/hypomnesis.h", r"\{\.struct_size = sizeof\(type\)\}", "{sizeof(type), 0}")
        self.assertFalse(self.compiles())
        self.assertFalse(self.users("msvc", CLANG))

    def test_packed_structs(self):
        self.tree.edit("include/hypomnesis.h", r'(#ifdef __cplusplus\nextern "C" \{\n#endif\n)', r"#pragma pack(1)\n\1")
        self.assertFalse(self.users("libclang", CLANG))

    def test_a_macro_of_another_name(self):
        self.tree.edit("include/hypomnesis.h", r"(#define HMN_NS_UNLIMITED)", r"#define MS_NONE 0\n\1")
        self.assertFalse(self.users("macros", CC))

    def test_what_a_warning_is_for(self):
        self.tree.edit("include/hypomnesis.h", r"(#define HMN_NS_UNLIMITED)", r"#if HMN_NOT_DEFINED\n#endif\n\1")
        self.assertFalse(self.users("everything", CLANG, CLANGXX))


class Library(Canary):
    def test_stripped(self):
        self.tree.remember()
        run("strip", "--strip-all", self.tree.library)
        self.assertFalse(self.abidiff())

    def test_without_a_baseline(self):
        self.tree.remember()
        self.tree.baseline.unlink()
        self.assertFalse(self.abidiff())

    def test_a_suppression(self):
        self.tree.remember()
        self.tree.suppressions.write_text("[suppress_type]\n  name = hmn_pool\n")
        self.assertFalse(self.abidiff())

    def test_extra_export(self):
        self.tree.edit("abi/hypomnesis.map", "    hmn_feature;\n", "    hmn_feature;\n    leaked;\n")
        self.tree.build(extra='__attribute__((visibility("default"))) void leaked(void) {}')
        self.assertFalse(self.exports())

    def test_exported_data(self):
        self.tree.edit("abi/hypomnesis.map", "    hmn_feature;\n", "    hmn_feature;\n    leaked;\n")
        self.tree.edit("abi/exports.txt", r"hmn_feature(@@\S+\n)", r"hmn_feature\1leaked\1")
        self.tree.build(extra='__attribute__((visibility("default"))) int leaked;')
        self.assertFalse(self.exports())

    def test_renamed_node(self):
        self.tree.edit("abi/hypomnesis.map", r"HMN_[\d.]+ {", "HMN_9 {")
        self.tree.build()
        self.assertFalse(self.exports())

    def test_linked_vendor_library(self):
        vendor = self.tree.folder / "libnvidia-ml.so.1"
        (self.tree.folder / "vendor.c").write_text("int nvmlInit_v2(void); int nvmlInit_v2(void) { return 0; }\n")
        run(CC, "-shared", "-fPIC", f"-Wl,-soname,{vendor.name}", "-o", vendor, self.tree.folder / "vendor.c")
        self.tree.build(flags=["-Wl,--no-as-needed", vendor])
        self.assertFalse(self.needed())

    def test_runtime_that_should_be_inside(self):
        self.tree.build(flags=["-Wl,--no-as-needed", "-lstdc++"])
        self.assertTrue(self.needed())
        self.assertFalse(self.needed("static-runtime"))

    def test_other_soname(self):
        self.tree.build(soname="libhypomnesis.so.9")
        self.assertFalse(self.needed())

    def test_search_path(self):
        self.tree.build(flags=["-Wl,-rpath,/opt/lib"])
        self.assertFalse(self.needed())

    def test_lazy_binding(self):
        self.tree.build(link=["-Wl,-z,relro,-z,lazy,-z,nodelete"])
        self.assertFalse(self.hardening())

    def test_without_relro(self):
        self.tree.build(link=["-Wl,-z,norelro,-z,now,-z,nodelete"])
        self.assertFalse(self.hardening())

    def test_unloadable(self):
        self.tree.build(link=["-Wl,-z,relro,-z,now"])
        self.assertFalse(self.hardening())

    def test_executable_stack(self):
        self.tree.build(flags=["-Wl,-z,execstack"])
        self.assertFalse(self.hardening())

    def test_text_relocation(self):
        self.tree.build(extra='__asm__(".text\\n.balign 8\\n.quad hmn_feature\\n");', flags=["-Wl,-z,notext"])
        self.assertFalse(self.hardening())

    def test_destructor(self):
        self.tree.build(extra="static volatile int ended;\n"
                              "__attribute__((destructor)) static void end(void) { ended = 1; }")
        self.assertFalse(self.hardening())

    def test_exit_handler(self):
        self.tree.build(extra="int __cxa_atexit(void (*)(void *), void *, void *);\n"
                              "__attribute__((constructor)) static void begin(void) { __cxa_atexit(0, 0, 0); }")
        self.assertFalse(self.hardening())

    def test_new_runtime(self):
        self.tree.build(extra="int getentropy(void *, unsigned long); int used(void *);\n"
                              "int used(void *p) { return getentropy(p, 1); }")
        self.assertTrue(self.versions("GLIBC 2.34\n"))
        self.assertFalse(self.versions("GLIBC 2.24\n"))
        self.assertFalse(self.versions("GLIBCXX 3.4.29\n"))
        self.assertTrue(self.versions("GLIBC 2.24\nGLIBC:static-runtime 2.34\n", "static-runtime"))
        self.assertFalse(self.versions("GLIBC 2.34\nGLIBC:static-runtime 2.24\n", "static-runtime"))

    def test_mark_of_the_loader(self):
        pointer = ("int rand(void); static int here; int *const used[] = {&here, &here, &here, &here};\n"
                   "int called(void); int called(void) { return rand(); }")
        self.tree.build(extra=pointer)
        self.assertTrue(self.versions("GLIBC 2.34\n"))
        self.tree.build(extra=pointer, flags=["-Wl,-z,pack-relative-relocs"])
        if b"DT_RELR" in self.tree.library.read_bytes():
            self.assertFalse(self.versions("GLIBC 2.34\n"))

    def test_starts_programs(self):
        self.tree.build()
        self.assertTrue(passes("no_subprocess.sh", self.tree.library))
        self.tree.build(extra="int fork(void); int used(void);\nint used(void) { return fork(); }")
        self.assertFalse(passes("no_subprocess.sh", self.tree.library))


class Client(Canary):
    """A client of an older header, on a library that answers OK to everything."""

    def run_client(self, extra=""):
        newest = sorted((ROOT / "tests/abi/clients").glob("client_v*.c"))[-1]
        self.tree.build(extra)
        client = self.tree.folder / "client"
        run(CC, f"-I{self.tree.folder}/include", "-o", client, newest, self.tree.library)
        done = subprocess.run([client, "/machine.json"], capture_output=True, check=False,
                              env={"LD_LIBRARY_PATH": str(self.tree.folder)})
        return done.returncode

    def test_a_library_that_reports_nothing(self):
        self.assertEqual(self.run_client(), WRONG_ANSWER)

    def test_a_library_that_writes_behind_a_struct(self):
        writes = ("memset((char *)out + 4, 0, sizeof *out - 4); "
                  "*((char *)out + sizeof *out) = 0;")
        stub.BODIES["hmn_process_memory_read_self"] = writes
        try:
            self.assertEqual(self.run_client("#include <string.h>"), DAMAGED)
        finally:
            stub.BODIES.clear()


class Archive(Canary):
    def names(self, text):
        source, archive = self.tree.folder / "part.cpp", self.tree.folder / "part.a"
        source.write_text(text)
        run(CXX, "-c", "-o", source.with_suffix(".o"), source)
        run("ar", "qcD", archive, source.with_suffix(".o"))
        return passes("static_names.sh", archive)

    def test_names_of_its_own(self):
        self.assertTrue(self.names('namespace hmn { struct a { void b() const; }; void a::b() const {} int c; } extern "C" void hmn_d() {}'))

    def test_name_that_collides(self):
        self.assertFalse(self.names("void parse() {}"))

    def test_static_object_with_a_destructor(self):
        self.assertFalse(self.names("namespace hmn { struct a { ~a(); }; a::~a() {} a b; }"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
