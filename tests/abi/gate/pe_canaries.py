#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""pe_canaries.py ROOT CC OBJDUMP: each check of a DLL passes a sound one and fails on a broken one."""
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
AS_SHIPPED = ("--dynamicbase", "--high-entropy-va", "--nxcompat", "--no-insert-timestamp")
LEAVES_OUT = {"--dynamicbase": "--disable-dynamicbase", "--nxcompat": "--disable-nxcompat",
              "--high-entropy-va": "--disable-high-entropy-va",
              "--no-insert-timestamp": "--insert-timestamp"}


class Canary(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.header = headers.parse(HEADER)
        self.dll = self.folder / NAME

    def build(self, exported=None, name=NAME, flags=AS_SHIPPED, extra="", libraries=()):
        source, definition = self.folder / "stub.c", self.folder / "stub.def"
        source.write_text(stub.source(self.header, extra))
        exported = list(self.header.functions) if exported is None else exported
        definition.write_text(f'LIBRARY "{name}"\nEXPORTS\n' + "".join(f"    {e}\n" for e in exported))
        subprocess.run([CC, "-shared", "-static", "-O1", "-DHMN_BUILD", f"-I{HEADER.parent}", "-o", self.dll,
                        source, definition, *(f"-Wl,{flag}" for flag in flags), *libraries], check=True)

    def passes(self, script, *arguments):
        done = subprocess.run(["sh", GATE / script, OBJDUMP, self.dll, *arguments],
                              capture_output=True, text=True, check=False)
        self.reported = done.stderr
        return done.returncode == 0

    def exports(self):
        return self.passes("pe_exports.sh", LIST, NAME)

    def needed(self):
        return self.passes("pe_needed.sh")

    def hardening(self):
        return self.passes("pe_hardening.sh")

    def test_a_sound_one_passes(self):
        self.build()
        for check in (self.exports, self.needed, self.hardening):
            self.assertTrue(check(), f"{check.__name__}: {self.reported}")

    def test_a_function_that_is_not_exported(self):
        self.build(exported=[f for f in self.header.functions if f != "hmn_feature"])
        self.assertFalse(self.exports())
        self.assertIn("hmn_feature", self.reported)

    def test_a_function_that_nobody_declared(self):
        self.build(exported=[*self.header.functions, "stray"], extra="int stray(void) { return 1; }")
        self.assertFalse(self.exports())
        self.assertIn("stray", self.reported)

    def test_a_name_that_no_client_asks_for(self):
        self.build(name="libhypomnesis.dll")
        self.assertFalse(self.exports())

    def test_an_import_of_a_vendors_library(self):
        self.build(extra='__declspec(dllimport) long __stdcall CreateDXGIFactory1(const void*, void**);\n'
                         'void* called = (void*)CreateDXGIFactory1;', libraries=["-ldxgi"])
        self.assertFalse(self.needed())
        self.assertIn("dxgi.dll", self.reported)

    def test_each_flag_that_is_left_out(self):
        for flag, without in LEAVES_OUT.items():
            with self.subTest(flag):
                self.build(flags=[*(f for f in AS_SHIPPED if f != flag), without])
                self.assertFalse(self.hardening())

    def test_a_field_that_moved(self):
        text, done = re.subn(r"(uint64_t free_bytes;)(\s+)(uint64_t used_bytes;)", r"\3\2\1",
                             HEADER.read_text(), count=1)
        self.assertEqual(done, 1)
        (self.folder / HEADER.name).write_text(text)
        layouts = sorted((ROOT / "tests/abi").glob("layout_v*.c"))
        self.assertTrue(layouts)
        for include, expected in ((HEADER.parent, True), (self.folder, False)):
            done = subprocess.run(["sh", GATE / "pe_layout.sh", CC, include, *layouts],
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode == 0, expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
