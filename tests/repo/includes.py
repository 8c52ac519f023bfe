# SPDX-License-Identifier: MIT OR Apache-2.0
"""Dependencies point only downwards, and system-specific code stays in src/platform."""
import os.path
import pathlib
import re

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
HEADER = "hypomnesis.h"
# The command shares the library's names of enumerators and fields, its JSON and numerals, and its rule to add up what
# processes use.
COMMAND_MODEL = {"model/character.hpp", "model/decimal.hpp", "model/json.hpp", "model/json_writer.hpp", "model/similar_word.hpp", "model/text.hpp", "model/words.hpp", "model/usage_sum.hpp"}
BINDING = "hypomnesis.hpp"  # bindings/cpp

SYSTEM_HEADERS = re.compile(
    r"(sys|linux|asm|net|netinet|arpa)/|(unistd|dlfcn|fcntl|pthread|sched|poll|dirent|spawn|semaphore"
    r"|signal|termios|pwd|grp|windows)\.h$|csignal$")

# The folder of a source for Windows may include its headers: Windows has no files that could be read instead.
SYSTEM_FOLDER = re.compile(r"(?:backends/\w+|cli/system)/(windows)/")

REGISTRY = "source/registry.cpp"  # creates the sources
COMPILED_IN = "source/registry.hpp"

# DRM drivers with their own folders, and the folders that they may use.
DRM_LIST = "backends/drm/driver.cpp"
DRM_DRIVERS = {"amdgpu": {"drm"}, "kfd": {"drm"}, "intel": {"drm"}, "i915": {"drm", "intel"}, "xe": {"drm", "intel"}}

# Shared folders of src/backends/shared, and the sources that may use them.
SHARED_FOLDERS = {"idle": {"nvml", "drm"}, "pci": {"nvml", "command_tool", "nvidia_smi", "amd_tool"},
                  "command_tool": {"nvidia_smi", "amd_tool", "macmon"},
                  "sysfs": {"drm", "amdgpu", "kfd", "intel", "i915", "xe", "tegra", "pci", "nvml"},
                  "mach": {"os", "metal"}, "nvidia": {"nvml", "nvidia_smi"}, "wddm": {"dxgi", "pdh"}}

# The command's folders, and the folders that each may use; files outside of them may be used by all.
CLI_LAYERS = {"commands": {"exporter", "top", "measure", "fit", "text", "system"},
              "exporter": {"measure", "text", "system"}, "top": {"measure", "text", "system"}, "measure": {"text", "system"},
              "fit": {"measure", "text", "system"}, "text": {"system"}}
# System-specific files that may use a higher folder: those of doctor produce text, and the entry starts the command.
CLI_BY_SYSTEM = {"inspect": "text", "inspect_permissions": "text", "hardware": "text", "entry": "commands"}


def find_part(path):
    return pathlib.PurePath(path).parts[0]


def find_backend(path):
    """Returns "nvml" for backends/nvml/symbols.hpp, "pci" for backends/shared/pci/pci.hpp, None for cli/units.hpp."""
    parts = [part for part in pathlib.PurePath(path).parts if part != "shared"]
    return parts[1] if len(parts) > 2 else None


def is_allowed_in_command(source, target):
    layer, target_layer = find_backend(source), find_backend(target)
    is_allowed_by_system = layer == "system" and CLI_BY_SYSTEM.get(pathlib.PurePath(source).stem) == target_layer
    return target_layer in (None, layer) or is_allowed_by_system or target_layer in CLI_LAYERS.get(layer, ())


def is_allowed(source, target):
    """Both paths are relative to src/, or the public header."""
    part, target_part = find_part(source), find_part(target)
    if part == "cli":
        if target_part == "cli":
            return is_allowed_in_command(source, target)
        return target_part in ("procfs", "platform") or target in (HEADER, BINDING) or target in COMMAND_MODEL
    if part == "api":
        return target_part in ("api", "core", "model", "platform") or target in (HEADER, COMPILED_IN)
    if part == "core":
        return target_part in ("core", "source", "model", "platform")
    if part == "source":
        return target_part in ("source", "model") or (source == REGISTRY and target_part == "backends")
    if part == "model":
        # The tables of src/model use numbers and structs of the header, which includes nothing.
        return target_part == "model" or target == HEADER
    if part == "backends":
        if target_part == "backends":
            source_backend, target_backend = find_backend(source), find_backend(target)
            is_own = source_backend is not None and source_backend == target_backend
            is_guest = (target_backend in DRM_DRIVERS.get(source_backend, ())
                        or (source == DRM_LIST and target_backend in DRM_DRIVERS))
            return is_own or is_guest or source_backend in SHARED_FOLDERS.get(target_backend, ())
        return target_part in ("source", "model", "platform", "procfs")
    if part == "procfs":
        return target_part in ("model", "platform", "procfs")
    return part == target_part


def resolve_include(root, source, name):
    """Returns the project's file that an include names, relative to src/; None for any other."""
    sibling = os.path.normpath(pathlib.PurePath(source).parent / name)
    for candidate in (sibling, name):
        if tree.exists(root, f"src/{candidate}"):
            return candidate
    return name if name in (HEADER, BINDING) else None


def find_violation(root, source, quote, name):
    target = resolve_include(root, source, name)
    system = SYSTEM_FOLDER.match(source)
    if target is None:
        if quote == '"':
            return f'"{name}" is not a file of the project'
        if system and name == f"{system[1]}.h":
            return None
        if find_part(source) in ("api", "core", "source", "backends", "model", "procfs") and SYSTEM_HEADERS.match(name):
            return f"<{name}> belongs in src/platform"
        return None
    if not is_allowed(source, target):
        return f"{find_part(source)} may not include {target}"
    if system and target.startswith(f"platform/{system[1]}/"):
        return None
    if len(pathlib.PurePath(target).parts) > 2 and find_part(target) == "platform" != find_part(source):
        return f"{target} is private to src/platform"
    return None


def lacks_own_header(root, path, text):
    """True if a source does not include its own header, which a unity build would not notice."""
    header = path.with_suffix(".hpp")
    return path.suffix == ".cpp" and tree.exists(root, header) and f'"{header.relative_to("src")}"' not in text


def find_violations(root):
    for path in tree.files(root, ".cpp", ".hpp", ".h", ".c", under="src"):
        source = str(path.relative_to("src"))
        text = tree.text(root, path)
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            violation = match and find_violation(root, source, *match.groups())
            if violation:
                yield f"{path}:{number}: {violation}"
        if lacks_own_header(root, path, text):
            yield f"{path}:1: its own header is not included"


CLEAN = {
    "include/hypomnesis.h": "",
    "src/model/reading.hpp": "#include <cstdint>\n",
    "src/platform/file.hpp": "",
    "src/platform/linux/file.cpp": '#include "platform/file.hpp"\n#include <unistd.h>\n',
    "src/platform/linux/handle.hpp": "",
    "src/procfs/process.hpp": '#include "model/reading.hpp"\n#include "platform/file.hpp"\n',
    "src/source/interface.hpp": '#include "model/reading.hpp"\n',
    "src/backends/nvml/nvml.hpp": '#include "source/interface.hpp"\n#include "platform/file.hpp"\n',
    "src/backends/os/os.hpp": '#include "../../source/interface.hpp"\n',
    "src/backends/os/linux/host.cpp": '#include "backends/os/os.hpp"\n#include "procfs/process.hpp"\n',
    "src/backends/os/windows/host.cpp": '#include <windows.h>\n#include "platform/windows/system.hpp"\n',
    "src/platform/windows/system.hpp": "",
    "src/cli/system/windows/child.cpp": '#include <windows.h>\n#include "platform/windows/system.hpp"\n',
    "src/backends/drm/driver.hpp": "",
    "src/backends/drm/driver.cpp": '#include "backends/drm/driver.hpp"\n#include "backends/xe/xe.hpp"\n',
    "src/backends/xe/xe.hpp": '#include "backends/drm/driver.hpp"\n',
    "src/backends/shared/pci/pci.hpp": "",
    "src/backends/nvml/device.cpp": '#include "backends/shared/pci/pci.hpp"\n',
    "src/source/registry.hpp": "",
    "src/source/registry.cpp": '#include "source/registry.hpp"\n#include "backends/nvml/nvml.hpp"\n',
    "src/core/context.hpp": '#include "source/registry.hpp"\n',
    "src/core/plain.hpp": "",
    "src/api/context.cpp": '#include "core/context.hpp"\n#include "hypomnesis.h"\n',
    "src/cli/commands/main.hpp": "",
    "src/cli/commands/ps.cpp": '#include <hypomnesis.hpp>\n#include <unistd.h>\n#include "cli/text/words.hpp"\n'
                               '#include "procfs/process.hpp"\n#include "platform/file.hpp"\n',
    "src/cli/expected.hpp": "",
    "src/cli/system/file.hpp": '#include "cli/expected.hpp"\n',
    "src/cli/system/linux/inspect.cpp": '#include "cli/text/words.hpp"\n',
    "src/cli/system/posix/entry.cpp": '#include "cli/commands/main.hpp"\n',
    "src/cli/text/words.hpp": '#include "cli/system/file.hpp"\n#include "model/words.hpp"\n',
    "src/model/words.hpp": "",
}
PLANTED = [
    ({"src/cli/commands/ps.cpp": '\n#include "core/context.hpp"\n'}, "src/cli/commands/ps.cpp:2: cli may not"),
    ({"src/cli/commands/ps.cpp": '#include "model/reading.hpp"\n'}, "cli may not"),
    ({"src/cli/commands/ps.cpp": '#include "platform/windows/system.hpp"\n'}, "private to src/platform"),
    ({"src/cli/text/x.cpp": '#include "cli/commands/main.hpp"\n'}, "cli may not include cli/commands"),
    ({"src/cli/system/x.cpp": '#include "cli/text/words.hpp"\n'}, "cli may not include cli/text"),
    ({"src/cli/system/posix/inspect.cpp": '#include "cli/commands/main.hpp"\n'}, "cli may not include cli/commands"),
    ({"src/cli/expected.hpp": '#include "cli/text/words.hpp"\n'}, "cli may not include cli/text"),
    ({"src/procfs/x.cpp": '#include "source/interface.hpp"\n'}, "procfs may not include"),
    ({"src/source/x.cpp": '#include "backends/nvml/nvml.hpp"\n'}, "source may not include"),
    ({"src/source/x.cpp": '#include "core/plain.hpp"\n'}, "source may not include"),
    ({"src/procfs/x.cpp": "#include <unistd.h>\n"}, "<unistd.h> belongs in src/platform"),
    ({"src/core/x.cpp": '#include "procfs/process.hpp"\n'}, "core may not include"),
    ({"src/api/context.cpp": '#include "source/interface.hpp"\n'}, "api may not include"),
    ({"src/api/context.cpp": "#include <dlfcn.h>\n"}, "<dlfcn.h> belongs in src/platform"),
    ({"src/core/x.cpp": '#include "backends/nvml/nvml.hpp"\n'}, "core may not include"),
    ({"src/core/x.cpp": '#include "api/context.cpp"\n'}, "core may not include"),
    ({"src/core/x.cpp": '#include "platform/linux/handle.hpp"\n'}, "private to src/platform"),
    ({"src/backends/nvml/x.cpp": '#include "platform/windows/system.hpp"\n'}, "private to src/platform"),
    ({"src/backends/nvml/x.cpp": "#include <windows.h>\n"}, "<windows.h> belongs in src/platform"),
    ({"src/backends/os/windows/x.cpp": '#include "platform/linux/handle.hpp"\n'}, "private to src/platform"),
    ({"src/backends/nvml/x.cpp": '#include "backends/os/os.hpp"\n'}, "backends may not include"),
    ({"src/backends/nvml/x.cpp": '#include "../os/os.hpp"\n'}, "backends may not include"),
    ({"src/backends/drm/x.cpp": '#include "backends/xe/xe.hpp"\n'}, "backends may not include"),
    ({"src/backends/nvml/x.cpp": '#include "backends/drm/driver.hpp"\n'}, "backends may not include"),
    ({"src/backends/xe/x.cpp": '#include "backends/shared/pci/pci.hpp"\n'}, "backends may not include"),
    ({"src/backends/nvml/x.cpp": "#include <core/plain.hpp>\n"}, "backends may not include"),
    ({"src/backends/nvml/x.cpp": '#include "hypomnesis.h"\n'}, "backends may not include"),
    ({"src/api/x.cpp": "#include <hypomnesis.hpp>\n"}, "api may not include hypomnesis.hpp"),
    ({"src/model/x.cpp": '#include "platform/file.hpp"\n'}, "model may not include"),
    ({"src/model/x.cpp": "#include <sys/stat.h>\n"}, "<sys/stat.h> belongs in src/platform"),
    ({"src/platform/x.cpp": '#include "model/reading.hpp"\n'}, "platform may not include"),
    ({"src/platform/x.cpp": '#include "missing.hpp"\n'}, "is not a file of the project"),
    ({"src/core/plain.cpp": "#include <cmath>\n"}, "its own header is not included"),
]
