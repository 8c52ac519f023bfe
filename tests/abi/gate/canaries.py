#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""canaries.py ROOT CC CXX CLANG CLANGXX: each check of the gate passes a sound library and fails on a
broken one. If one of these tests fails, the gate is broken."""
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
    def test_an_untouched_copy_passes_every_check(self):
        self.tree.save_baseline()
        for check in (self.compiles, self.layout, self.abidiff, self.exports, self.needed,
                      self.hardening, self.consistency):
            self.assertTrue(check(), check.__name__)
        self.assertTrue(self.needed("static-runtime"))


class Header(Canary):
    def test_swapped_fields_are_reported(self):
        self.tree.save_baseline()
        self.tree.edit("include/hypomnesis.h", r"(uint64_t free_bytes;)(\s+)(uint64_t used_bytes;)", r"\3\2\1")
        self.tree.build()
        self.assertFalse(self.layout())
        self.assertFalse(self.abidiff())

    def test_a_widened_parameter_is_reported(self):
        self.tree.save_baseline()
        self.tree.edit("include/hypomnesis.h", r"(hmn_pool_read\([^;]*)uint32_t kind", r"\1uint64_t kind")
        self.tree.build()
        self.assertFalse(self.layout())
        self.assertFalse(self.abidiff())

    def test_a_removed_function_is_reported(self):
        self.tree.save_baseline()
        self.tree.edit("include/hypomnesis.h", r"HMN_FN\(uint32_t\) hmn_feature\(uint32_t feature\) HMN_NX;", "")
        self.assertFalse(self.layout())
        self.assertFalse(self.consistency())
        self.tree.edit("abi/hypomnesis.map", "    hmn_feature;\n", "")
        self.tree.build()
        self.assertFalse(self.exports())
        self.assertFalse(self.abidiff())

    def test_a_function_missing_from_the_map_is_reported(self):
        self.tree.edit("abi/hypomnesis.map", "    hmn_feature;\n", "")
        self.tree.build()
        self.assertFalse(self.exports())
        self.assertFalse(self.consistency())

    def test_a_renumbered_constant_is_reported(self):
        self.tree.edit("include/hypomnesis.h", r"HMN_E_RANGE = -4,", "HMN_E_RANGE = -40,")
        self.assertFalse(self.layout())
        self.assertFalse(self.consistency())

    def test_an_appended_field_keeps_the_layout_and_needs_a_size(self):
        self.tree.save_baseline()
        self.tree.edit("include/hypomnesis.h", r"(uint64_t age_ns;[^;]*)\} hmn_pool;", r"\1 uint64_t more; } hmn_pool;")
        self.tree.build()
        self.assertTrue(self.layout())
        self.assertFalse(self.abidiff())
        self.assertFalse(self.consistency())

    def test_padding_is_reported(self):
        self.tree.edit("include/hypomnesis.h", r"    uint32_t reserved0; *\n    uint64_t os_id;", "    uint64_t os_id;")
        self.assertFalse(self.compiles())
        self.assertFalse(self.layout())
        self.assertFalse(self.consistency())

    def test_a_type_that_c89_lacks_is_reported(self):
        self.tree.edit("include/hypomnesis.h", r"hmn_feature\(uint32_t feature\)", "hmn_feature(bool feature)")
        self.assertFalse(self.compiles())
        self.assertFalse(self.consistency())

    def test_a_comment_that_c89_lacks_is_reported(self):
        self.tree.edit("include/hypomnesis.h", r"(struct hmn_snapshot;\n|hmn_snapshot hmn_snapshot;\n)", r"\1// text\n")
        self.assertFalse(self.compiles())

    def test_an_unregistered_status_is_reported(self):
        self.tree.edit("include/hypomnesis.h", r"HMN_E_CANCELLED = -22", "HMN_E_CANCELLED = -22, HMN_E_NEW = -23")
        self.assertFalse(self.consistency())

    def test_a_reused_number_is_reported(self):
        self.tree.edit("abi/status-codes", r"\n-20  HMN_E_ASLEEP", "\n-19  HMN_E_ASLEEP")
        self.assertFalse(self.consistency())

    def test_a_new_function_missing_from_the_changelog_is_reported(self):
        for path in ("include/hypomnesis.h", "abi/hypomnesis.map", "abi/exports.txt"):
            self.tree.edit(path, r"(?<=[ \n])hmn_feature(?=[(;@])", "hmn_capability")
        self.assertFalse(self.consistency())

    def test_gaps_in_the_documentation_are_reported(self):
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

    def test_an_initializer_with_a_warning_is_reported(self):
        self.tree.edit("include/hypomnesis.h", r"\{\.struct_size = sizeof\(type\)\}", "{sizeof(type), 0}")
        self.assertFalse(self.compiles())
        self.assertFalse(self.users("msvc", CLANG))

    def test_packed_structs_are_reported(self):
        self.tree.edit("include/hypomnesis.h", r'(#ifdef __cplusplus\nextern "C" \{\n#endif\n)', r"#pragma pack(1)\n\1")
        self.assertFalse(self.users("libclang", CLANG))

    def test_a_macro_without_the_prefix_is_reported(self):
        self.tree.edit("include/hypomnesis.h", r"(#define HMN_NS_UNLIMITED)", r"#define MS_NONE 0\n\1")
        self.assertFalse(self.users("macros", CC))

    def test_an_undefined_macro_is_reported(self):
        self.tree.edit("include/hypomnesis.h", r"(#define HMN_NS_UNLIMITED)", r"#if HMN_NOT_DEFINED\n#endif\n\1")
        self.assertFalse(self.users("everything", CLANG, CLANGXX))


class Library(Canary):
    def test_a_stripped_library_is_reported(self):
        self.tree.save_baseline()
        run("strip", "--strip-all", self.tree.library)
        self.assertFalse(self.abidiff())

    def test_a_missing_baseline_is_reported(self):
        self.tree.save_baseline()
        self.tree.baseline.unlink()
        self.assertFalse(self.abidiff())

    def test_a_suppression_is_reported(self):
        self.tree.save_baseline()
        self.tree.suppressions.write_text("[suppress_type]\n  name = hmn_pool\n")
        self.assertFalse(self.abidiff())

    def test_an_extra_export_is_reported(self):
        self.tree.edit("abi/hypomnesis.map", "    hmn_feature;\n", "    hmn_feature;\n    leaked;\n")
        self.tree.build(extra='__attribute__((visibility("default"))) void leaked(void) {}')
        self.assertFalse(self.exports())

    def test_exported_data_is_reported(self):
        self.tree.edit("abi/hypomnesis.map", "    hmn_feature;\n", "    hmn_feature;\n    leaked;\n")
        self.tree.edit("abi/exports.txt", r"hmn_feature(@@\S+\n)", r"hmn_feature\1leaked\1")
        self.tree.build(extra='__attribute__((visibility("default"))) int leaked;')
        self.assertFalse(self.exports())

    def test_a_renamed_node_is_reported(self):
        self.tree.edit("abi/hypomnesis.map", r"HMN_[\d.]+ {", "HMN_9 {")
        self.tree.build()
        self.assertFalse(self.exports())

    def test_a_linked_vendor_library_is_reported(self):
        vendor = self.tree.folder / "libnvidia-ml.so.1"
        (self.tree.folder / "vendor.c").write_text("int nvmlInit_v2(void); int nvmlInit_v2(void) { return 0; }\n")
        run(CC, "-shared", "-fPIC", f"-Wl,-soname,{vendor.name}", "-o", vendor, self.tree.folder / "vendor.c")
        self.tree.build(flags=["-Wl,--no-as-needed", vendor])
        self.assertFalse(self.needed())

    def test_a_shared_runtime_is_reported_if_it_should_be_static(self):
        self.tree.build(flags=["-Wl,--no-as-needed", "-lstdc++"])
        self.assertTrue(self.needed())
        self.assertFalse(self.needed("static-runtime"))

    def test_another_soname_is_reported(self):
        self.tree.build(soname="libhypomnesis.so.9")
        self.assertFalse(self.needed())

    def test_a_search_path_is_reported(self):
        self.tree.build(flags=["-Wl,-rpath,/opt/lib"])
        self.assertFalse(self.needed())

    def test_lazy_binding_is_reported(self):
        self.tree.build(link=["-Wl,-z,relro,-z,lazy,-z,nodelete"])
        self.assertFalse(self.hardening())

    def test_missing_relro_is_reported(self):
        self.tree.build(link=["-Wl,-z,norelro,-z,now,-z,nodelete"])
        self.assertFalse(self.hardening())

    def test_an_unloadable_library_is_reported(self):
        self.tree.build(link=["-Wl,-z,relro,-z,now"])
        self.assertFalse(self.hardening())

    def test_an_executable_stack_is_reported(self):
        self.tree.build(flags=["-Wl,-z,execstack"])
        self.assertFalse(self.hardening())

    def test_a_text_relocation_is_reported(self):
        self.tree.build(extra='__asm__(".text\\n.balign 8\\n.quad hmn_feature\\n");', flags=["-Wl,-z,notext"])
        self.assertFalse(self.hardening())

    def test_a_destructor_is_reported(self):
        self.tree.build(extra="static volatile int ended;\n"
                              "__attribute__((destructor)) static void end(void) { ended = 1; }")
        self.assertFalse(self.hardening())

    def test_an_exit_handler_is_reported(self):
        self.tree.build(extra="int __cxa_atexit(void (*)(void *), void *, void *);\n"
                              "__attribute__((constructor)) static void begin(void) { __cxa_atexit(0, 0, 0); }")
        self.assertFalse(self.hardening())

    def test_a_newer_runtime_than_allowed_is_reported(self):
        self.tree.build(extra="int getentropy(void *, unsigned long); int used(void *);\n"
                              "int used(void *p) { return getentropy(p, 1); }")
        self.assertTrue(self.versions("GLIBC 2.34\n"))
        self.assertFalse(self.versions("GLIBC 2.24\n"))
        self.assertFalse(self.versions("GLIBCXX 3.4.29\n"))
        self.assertTrue(self.versions("GLIBC 2.24\nGLIBC:static-runtime 2.34\n", "static-runtime"))
        self.assertFalse(self.versions("GLIBC 2.34\nGLIBC:static-runtime 2.24\n", "static-runtime"))

    def test_relative_relocations_need_a_newer_loader(self):
        pointer = ("int rand(void); static int here; int *const used[] = {&here, &here, &here, &here};\n"
                   "int called(void); int called(void) { return rand(); }")
        self.tree.build(extra=pointer)
        self.assertTrue(self.versions("GLIBC 2.34\n"))
        self.tree.build(extra=pointer, flags=["-Wl,-z,pack-relative-relocs"])
        if b"DT_RELR" in self.tree.library.read_bytes():
            self.assertFalse(self.versions("GLIBC 2.34\n"))

    def test_a_library_that_forks_is_reported(self):
        self.tree.build()
        self.assertTrue(passes("no_subprocess.sh", self.tree.library))
        self.tree.build(extra="int fork(void); int used(void);\nint used(void) { return fork(); }")
        self.assertFalse(passes("no_subprocess.sh", self.tree.library))


class Client(Canary):
    """A client of an older header, with a library that returns OK from every call."""

    def run_client(self, extra=""):
        source = sorted((ROOT / "tests/abi/clients").glob("client_v*.c"))[-1]
        self.tree.build(extra)
        client = self.tree.folder / "client"
        run(CC, f"-I{self.tree.folder}/include", "-o", client, source, self.tree.library)
        result = subprocess.run([client, "/machine.json"], capture_output=True, check=False,
                                env={"LD_LIBRARY_PATH": str(self.tree.folder)})
        return result.returncode

    def test_a_client_notices_a_library_that_does_nothing(self):
        self.assertEqual(self.run_client(), WRONG_ANSWER)

    def test_a_client_notices_a_write_past_a_struct(self):
        writes = ("memset((char *)out + 4, 0, sizeof *out - 4); "
                  "*((char *)out + sizeof *out) = 0;")
        stub.BODIES["hmn_process_memory_read_self"] = writes
        try:
            self.assertEqual(self.run_client("#include <string.h>"), DAMAGED)
        finally:
            stub.BODIES.clear()


class Archive(Canary):
    def passes_names(self, text):
        source, archive = self.tree.folder / "part.cpp", self.tree.folder / "part.a"
        source.write_text(text)
        run(CXX, "-c", "-o", source.with_suffix(".o"), source)
        run("ar", "qcD", archive, source.with_suffix(".o"))
        return passes("static_names.sh", archive)

    def test_names_in_the_namespace_pass(self):
        self.assertTrue(self.passes_names('namespace hmn { struct a { void b() const; }; void a::b() const {} int c; } '
                                          'extern "C" void hmn_d() {}'))

    def test_a_global_name_is_reported(self):
        self.assertFalse(self.passes_names("void parse() {}"))

    def test_a_static_object_with_a_destructor_is_reported(self):
        self.assertFalse(self.passes_names("namespace hmn { struct a { ~a(); }; a::~a() {} a b; }"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
