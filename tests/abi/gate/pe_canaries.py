#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""pe_canaries.py ROOT CC OBJDUMP: each check of a DLL passes a sound DLL and fails on a broken one."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import header as headers
import stub

GATE = pathlib.Path(__file__).resolve().parent
ROOT, CC, OBJDUMP = (pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:4])
HEADER, LIST = ROOT / "include/hypomnesis.h", ROOT / "abi/exports.txt"
NAME = "hypomnesis-0.1.dll"
SHIPPED_FLAGS = ("--dynamicbase", "--high-entropy-va", "--nxcompat", "--no-insert-timestamp")
OPPOSITE_FLAGS = {"--dynamicbase": "--disable-dynamicbase", "--nxcompat": "--disable-nxcompat",
                  "--high-entropy-va": "--disable-high-entropy-va",
                  "--no-insert-timestamp": "--insert-timestamp"}


class Canary(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.header = headers.parse(HEADER)
        self.dll = self.folder / NAME

    def build(self, exports=None, name=NAME, flags=SHIPPED_FLAGS, extra="", libraries=()):
        source, definition = self.folder / "stub.c", self.folder / "stub.def"
        source.write_text(stub.source(self.header, extra))
        exports = list(self.header.functions) if exports is None else exports
        definition.write_text(f'LIBRARY "{name}"\nEXPORTS\n' + "".join(f"    {e}\n" for e in exports))
        subprocess.run([CC, "-shared", "-static", "-O1", "-DHMN_BUILD", f"-I{HEADER.parent}", "-o", self.dll,
                        source, definition, *(f"-Wl,{flag}" for flag in flags), *libraries], check=True)

    def passes(self, script, *arguments):
        result = subprocess.run(["sh", GATE / script, OBJDUMP, self.dll, *arguments],
                                capture_output=True, text=True, check=False)
        self.errors = result.stderr
        return result.returncode == 0

    def exports(self):
        return self.passes("pe_exports.sh", LIST, NAME)

    def needed(self):
        return self.passes("pe_needed.sh")

    def hardening(self):
        return self.passes("pe_hardening.sh")

    def test_a_sound_dll_passes_every_check(self):
        self.build()
        for check in (self.exports, self.needed, self.hardening):
            self.assertTrue(check(), f"{check.__name__}: {self.errors}")

    def test_a_missing_export_is_reported(self):
        self.build(exports=[f for f in self.header.functions if f != "hmn_feature"])
        self.assertFalse(self.exports())
        self.assertIn("hmn_feature", self.errors)

    def test_an_undeclared_export_is_reported(self):
        self.build(exports=[*self.header.functions, "stray"], extra="int stray(void) { return 1; }")
        self.assertFalse(self.exports())
        self.assertIn("stray", self.errors)

    def test_another_dll_name_is_reported(self):
        self.build(name="libhypomnesis.dll")
        self.assertFalse(self.exports())

    def test_an_import_of_a_vendors_library_is_reported(self):
        self.build(extra='__declspec(dllimport) long __stdcall CreateDXGIFactory1(const void*, void**);\n'
                         'void* called = (void*)CreateDXGIFactory1;', libraries=["-ldxgi"])
        self.assertFalse(self.needed())
        self.assertIn("dxgi.dll", self.errors)

    def test_each_missing_flag_is_reported(self):
        for flag, opposite in OPPOSITE_FLAGS.items():
            with self.subTest(flag):
                self.build(flags=[*(f for f in SHIPPED_FLAGS if f != flag), opposite])
                self.assertFalse(self.hardening())

    def test_a_moved_field_is_reported(self):
        text, count = re.subn(r"(uint64_t free_bytes;)(\s+)(uint64_t used_bytes;)", r"\3\2\1",
                              HEADER.read_text(), count=1)
        self.assertEqual(count, 1)
        (self.folder / HEADER.name).write_text(text)
        layouts = sorted((ROOT / "tests/abi").glob("layout_v*.c"))
        self.assertTrue(layouts)
        for include, expected in ((HEADER.parent, True), (self.folder, False)):
            result = subprocess.run(["sh", GATE / "pe_layout.sh", CC, include, *layouts],
                                    capture_output=True, check=False)
            self.assertEqual(result.returncode == 0, expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
