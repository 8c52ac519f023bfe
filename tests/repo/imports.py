# SPDX-License-Identifier: MIT OR Apache-2.0
"""imports.py NM LIBRARY...: the built library does not import forbidden functions."""
import subprocess
import sys

FORBIDDEN = {
    "system", "popen", "execlp", "execvp", "posix_spawnp",
    "printf", "puts", "putchar", "perror", "__printf_chk", "__vprintf_chk", "stdout", "stderr",
    "setlocale", "newlocale", "uselocale", "localeconv", "signal", "abort", "exit", "quick_exit",
    "__cxa_atexit", "atexit", "strerror", "localtime", "gmtime", "atoi", "strtod", "strtol", "strtoul",
    "__isoc99_sscanf", "opendir", "fopen", "dup2", "creat", "_ZNSt8ios_base4InitC1Ev",
}


def read_imports(nm, library):
    output = subprocess.run([nm, "--dynamic", "--undefined-only", library], check=True,
                            capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in output.splitlines() if line.strip()}


def main():
    nm, *libraries = sys.argv[1:]
    failed = False
    for library in libraries:
        names = read_imports(nm, library)
        assert names & {"memcpy", "strlen", "memmove", "__memcpy_chk"}, f"{library}: nm sees nothing"
        for name in sorted(names & FORBIDDEN):
            failed = True
            print(f"{library} imports {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
