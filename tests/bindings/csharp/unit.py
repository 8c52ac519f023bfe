#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""unit.py ASSEMBLY CLASS...: runs the test classes; fails if no test ran."""
import re
import subprocess
import sys


def main():
    assembly, *classes = sys.argv[1:]
    test_filter = "|".join(f"FullyQualifiedName~.{name}." for name in classes)
    result = subprocess.run(["dotnet", "test", assembly, "--nologo", "--filter", test_filter], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    passed = re.search(r"Passed: +(\d+)", result.stdout)
    if result.returncode == 0 and passed and int(passed[1]) > 0:
        print(f"{passed[1]} passed")
        return 0
    print(result.stdout)
    return result.returncode or 1


if __name__ == "__main__":
    sys.exit(main())
