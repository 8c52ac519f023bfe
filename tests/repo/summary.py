# SPDX-License-Identifier: MIT OR Apache-2.0
"""summary.py SCRIPT: scripts/test-summary counts what ctest reports, and is strict where CI=true."""
import pathlib
import subprocess
import sys
import tempfile

REPORT = """<?xml version="1.0"?>
<testsuite>
<testcase name="unit.good" status="run"><system-out>skipped: unit.good: one case</system-out></testcase>
<testcase name="unit.bad" status="fail"><failure message=""/><system-out/></testcase>
<testcase name="unit.slow" status="fail"><failure message="Timeout"/><system-out/></testcase>
<testcase name="live.gpu" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>
<system-out>noise
skipped: live.gpu: no GPU
</system-out></testcase>
<testcase name="unit.gone" status="notrun"><skipped message="Unable to find executable"/></testcase>
<testcase name="unit.off" status="disabled"><system-out>Disabled</system-out></testcase>
</testsuite>
"""
GOOD = '<testsuite><testcase name="unit.good" status="run"/></testsuite>'
MUTE = ('<testsuite><testcase name="unit.mute" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>'
        '</testcase></testsuite>')
BARE = ('<testsuite><testcase name="cli.schema" status="notrun">'
        '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'
        "<system-out>ModuleNotFoundError: No module named 'jsonschema'</system-out></testcase></testsuite>")

# (files of the results folder, required, CI, stages, last line, exit status, a line among the others)
CASES = [
    ({"a.xml": REPORT}, "", False, "a", "1 passed, 4 failed, 1 skipped", 1, "failed: unit.gone (a)"),
    ({"a.xml": REPORT}, "", False, "a", "1 passed, 4 failed, 1 skipped", 1,
     "skipped: live.gpu: no GPU (a)"),
    ({"a.xml": REPORT}, "", False, "a", "1 passed, 4 failed, 1 skipped", 1,
     "skipped: unit.good: one case (a)"),
    ({"a.xml": GOOD, "b.xml": GOOD}, "", False, "a b", "2 passed, 0 failed, 0 skipped", 0, None),
    ({"a.xml": MUTE}, "", False, "a", "0 passed, 0 failed, 1 skipped", 0,
     "skipped: unit.mute: gave no reason (a)"),
    ({"a.xml": BARE}, "", False, "a", "0 passed, 0 failed, 1 skipped", 0,
     "skipped: cli.schema: no Python module jsonschema (a)"),
    ({"a.xml": GOOD, "b.failed": "no build"}, "", False, "a b", "1 passed, 1 failed, 0 skipped", 1,
     "failed: b: no build"),
    ({"a.xml": GOOD, "b.skipped": "no clang"}, "", False, "a b", "1 passed, 0 failed, 1 skipped", 0,
     "skipped: b: no clang"),
    ({"a.xml": GOOD}, "", False, "a b", "1 passed, 1 failed, 0 skipped", 1, "failed: b: left no results"),
    ({"a.xml": GOOD}, "a unit.other", False, "a", "1 passed, 0 failed, 0 skipped", 0, None),
    ({"a.xml": GOOD}, "a unit.other", True, "a", "1 passed, 1 failed, 0 skipped", 1,
     "failed: unit.other is required and did not run (a)"),
    ({"a.xml": GOOD}, "a unit.other sh", True, "a", "1 passed, 1 failed, 0 skipped", 1,
     "failed: unit.other is required and did not run (a)"),
    ({"a.xml": GOOD}, "a unit.other no-such-program", True, "a", "1 passed, 0 failed, 0 skipped", 0, None),
    ({"a.xml": MUTE}, "a unit.mute # x", True, "a", "0 passed, 1 failed, 1 skipped", 1, None),
    ({"a.xml": GOOD}, "# none\nb unit.b\na unit.good", True, "a", "1 passed, 0 failed, 0 skipped", 0, None),
]


def main():
    for content, required, ci, stages, last, status, among in CASES:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in (content | {"required": required}).items():
                (root / name).write_text(text)
            done = subprocess.run([sys.executable, sys.argv[1], folder, folder + "/required", *stages.split()],
                                  capture_output=True, text=True,
                                  env={"CI": "true" if ci else "false"})
            lines = done.stdout.splitlines()
            assert (lines[-1], done.returncode) == (last, status), (content, done)
            assert among is None or among in lines, (among, lines)


if __name__ == "__main__":
    main()
