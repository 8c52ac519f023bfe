#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""unit.py ASSEMBLY CLASS...: runs the test classes; none that ran is a failure."""
import re
import subprocess
import sys


def main():
    assembly, *classes = sys.argv[1:]
    chosen = "|".join(f"FullyQualifiedName~.{name}." for name in classes)
    done = subprocess.run(["dotnet", "test", assembly, "--nologo", "--filter", chosen], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    passed = re.search(r"Passed: +(\d+)", done.stdout)
    if done.returncode == 0 and passed and int(passed[1]) > 0:
        print(f"{passed[1]} passed")
        return 0
    print(done.stdout)
    return done.returncode or 1


if __name__ == "__main__":
    sys.exit(main())
