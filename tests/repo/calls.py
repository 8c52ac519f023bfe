# SPDX-License-Identifier: MIT OR Apache-2.0
"""Calls that the library must not make: it never prints, runs a shell, reads the environment, depends on the
locale, keeps objects with destructors at exit, tests for the system outside src/platform, loads a vendor's library
other than NVML, or names /dev/kfd, which makes a process a compute client when it is opened."""
import re

import tree

CALL = r"(?<![\w.>:])(?:std::|::)?"

# `type name(` declares a function of ours with the same name.
DECLARATION = re.compile(r"(?<!\breturn)(?<!\belse)(?<=[\w>*&])\s+$")

# Files that start children: they reset signals and set up descriptors.
CHILDREN = tuple(f"platform/{name}.cpp" for name in
                 ("posix/subprocess", "linux/supervisor", "linux/child"))

# macOS has no call that creates such a descriptor atomically.
TWO_STEP_DESCRIPTORS = ("platform/macos/child.cpp", "platform/macos/file.cpp", "platform/macos/thread.cpp")

CLI_SPAWN = ("cli/system/posix/spawn.cpp",)

# (pattern, label, paths below src/ where it is allowed)
SYSTEM_TEST = "a test for the system outside src/platform"
EVERYWHERE = [
    (CALL + r"(?:system|popen)\s*\(", "a shell", ()),
    # A program named on the command line is searched in PATH, as a shell does.
    (CALL + r"(?:execlp|execvp|execvpe|posix_spawnp)\s*\(", "a search in PATH", CLI_SPAWN),
    (r"\b__(?:DATE|TIME|TIMESTAMP)__\b", "the time of the build", ()),
]
LIBRARY = EVERYWHERE + [
    (CALL + r"(?:printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|putc|fputc|perror|psignal)\s*\(",
     "printing", ()),
    (r"\bstd::(?:cout|cerr|clog|print|println)\b|<iostream>", "printing", ()),
    (CALL + r"(?:setlocale|newlocale|uselocale|localeconv)\s*\(|\bstd::locale\b", "the locale", ()),
    (CALL + r"(?:ato[ifl]|atoll|strto[dfl]|strtold|strtou?ll?|sscanf|stoi|stou?ll?|stof|stod)\s*\(",
     "a conversion that depends on the locale", ()),
    (r"\bstd::[io]?stringstream\b|\bstd::[io]?fstream\b|\bstd::regex\b", "streams and regex", ()),
    (CALL + r"(?:getenv|secure_getenv)\s*\(|\benviron\b", "the environment",
     ("platform/posix/process.cpp",)),
    (CALL + r"(?:signal|sigaction|sigignore)\s*\(", "signal handlers",
     CHILDREN),
    (CALL + r"(?:exit|abort|quick_exit|atexit|at_quick_exit|terminate)\s*\(", "ending the program", ()),
    (CALL + r"(?:fopen|fdopen|creat|tmpfile|opendir|pipe|dup|dup2|socket|accept)\s*\(",
     "a descriptor without O_CLOEXEC", CHILDREN + TWO_STEP_DESCRIPTORS),
    (CALL + r"(?:strerror|strtok|localtime|gmtime|ctime|getpwuid|readdir_r|inet_ntoa)\s*\(",
     "a call that is not thread-safe", ()),
    (r"(?<!\w)new\s+(?!\()[\w:<]", "a raw new", ()),
    (r"(?<!operator )(?<!= )\bdelete\b\s*(?:\[\])?\s*[\w*(]", "a raw delete", ()),
    (r"^\s*#\s*(?:el)?if.*\b(?:_WIN32|__linux__|__APPLE__|__ANDROID__|_MSC_VER)\b",
     SYSTEM_TEST, ()),
]

# The system's libraries and NVIDIA's, which reports what no file does. The libraries of AMD and Intel change their
# ABI or end the program, and report no more than the kernel's files.
LIBRARIES = {
    "libnvidia-ml.so.1", "nvml.dll", "dxgi.dll", "gdi32.dll", "kernel32.dll", "kernelbase.dll", "ntdll.dll", "pdh.dll",
    "CoreFoundation", "IOKit", "Metal", "libobjc.A.dylib", "libIOReport.dylib",
}
LIBRARY_NAME = re.compile(r"\.(?:so|dll|dylib|framework)\b")

OPEN = re.compile(CALL + r"open(?:at)?\s*\((?=[^;]*\bO_)[^;]*;")


def find_literals(root, path):
    for match in tree.TOKEN.finditer(tree.text(root, path)):
        if match.group(0).startswith('"'):
            yield match.group(0)[1:-1]


def find_names(root, path):
    for literal in find_literals(root, path):
        name = re.split(r"[/\\]+", literal)[-1]
        if LIBRARY_NAME.search(literal) and " " not in name and name not in LIBRARIES:
            yield f"{path}: an unknown library: {literal}"
        if re.search(r"dev/kfd\b", literal):
            yield f"{path}: a node that counts as use of the GPU when opened: {literal}"


def find_violations(root):
    for path in tree.files(root, ".cpp", ".hpp", ".h", ".c", under="src"):
        source = str(path.relative_to("src"))
        rules = EVERYWHERE if source.startswith("cli/") else LIBRARY
        code = tree.code(root, path)
        matching_rules = [rule for rule in rules if re.search(rule[0], code, re.M)]
        for number, line in enumerate(code.splitlines() if matching_rules else (), 1):
            for pattern, label, exceptions in matching_rules:
                match = re.search(pattern, line)
                is_declaration = match and match.group(0).endswith("(") and \
                    DECLARATION.search(line[:match.start()])
                if match and not is_declaration and source not in exceptions \
                        and not (label == SYSTEM_TEST and source.startswith("platform/")):
                    yield f"{path}:{number}: {label}: {line.strip()}"
        for match in OPEN.finditer(code):
            if "O_CLOEXEC" not in match.group(0) and not source.startswith("cli/"):
                yield f"{path}: an open without O_CLOEXEC: {match.group(0)}"
        yield from find_names(root, path)


CLEAN = {
    "src/core/a.cpp": '// printf("x")\nconst char* text = "system(1)"; int n = snprintf(b, 1, "");\n'
                      "file.open(name); ecosystem(2); x.exit(3); std::from_chars(a, b, c);\n"
                      "result<void> system(system_memory& out); a host::system() {} std::optional<b> system() const;\n"
                      "auto p = new (std::nothrow) int; a(const a&) = delete; renewal r;\n",
    "src/platform/posix/process.cpp": "char* v = secure_getenv(name);\n",
    "src/platform/posix/file.cpp": "int d = ::open(path, O_RDONLY | O_CLOEXEC);\n",
    "src/backends/a/a.cpp": '// "libamd_smi.so"\nopen("libnvidia-ml.so.1", "class/kfd");\n'
                            'load("C:\\\\Program Files\\\\nvml.dll", "x.dll lacks a function");\n',
    "src/cli/system/posix/spawn.cpp": "return posix_spawnp(&pid, name);\n",
    "src/cli/commands/main.cpp": 'std::printf("x"); setlocale(0, ""); getenv("NO_COLOR");\n',
}
PLANTED = [({"src/core/b.cpp": f"int x;\n{line}\n"}, f"src/core/b.cpp:2: {label}") for line, label in (
    ('printf("x");', "printing"),
    ("#include <iostream>", "printing"),
    ("std::cerr << 1;", "printing"),
    ("std::system(command);", "a shell"),
    ("return system(command);", "a shell"),
    ("::popen(command);", "a shell"),
    ("setlocale(LC_ALL, 0);", "the locale"),
    ("double d = strtod(a, b);", "a conversion"),
    ("std::ostringstream out;", "streams"),
    ("auto v = std::getenv(name);", "the environment"),
    ("signal(SIGPIPE, SIG_IGN);", "signal handlers"),
    ("std::abort();", "ending"),
    ("auto f = fopen(a, b);", "a descriptor"),
    ("auto e = strerror(5);", "a call that is not thread-safe"),
    ("auto p = new thing(1);", "a raw new"),
    ("delete p;", "a raw delete"),
    ("#ifdef __linux__", "a test for the system"),
    ("#if defined(_WIN32)", "a test for the system"),
    ("auto d = __DATE__;", "the time of the build"),
)] + [
    ({"src/cli/commands/main.cpp": "system(x);\n"}, "src/cli/commands/main.cpp:1: a shell"),
    ({"src/cli/commands/main.cpp": "execvp(a, b);\n"}, "src/cli/commands/main.cpp:1: a search in PATH"),
    ({"src/platform/posix/file.cpp": "int d = ::open(path, O_RDONLY);\n"}, "an open without"),
    ({"src/backends/a/b.cpp": 'open("/opt/lib/librocm_smi64.so.7");\n'}, "an unknown library"),
    ({"src/backends/a/b.cpp": 'load("ze_loader.dll");\n'}, "an unknown library"),
    ({"src/backends/a/b.cpp": 'open("/dev/kfd");\n'}, "a node that counts as use"),
]
