# SPDX-License-Identifier: MIT OR Apache-2.0
"""manual.py ROOT: scripts/manual --check passes, and fails once the header has changed."""
import pathlib
import shutil
import subprocess
import sys
import tempfile


def check(root):
    return subprocess.run([sys.executable, "-B", root / "scripts/manual", "--check"],
                          capture_output=True, text=True)


def main():
    root = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for part in ("include", "scripts", "docs/man"):
            shutil.copytree(root / part, copy / part)
        header = copy / "include/hypomnesis.h"
        header.write_text(header.read_text().replace("Identity of a device.", "Its identity."))
        assert "docs/man/hmn_device.3" in check(copy).stdout, "a changed header is not seen"
    done = check(root)
    print(done.stdout, done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
