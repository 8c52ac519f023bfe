# SPDX-License-Identifier: MIT OR Apache-2.0
"""Dependencies point downwards only, and what differs by system stays in src/platform."""
import os.path
import pathlib
import re

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
HEADER = "hypomnesis.h"
# The command names enumerators and fields by the words of the library's own tables, reads and writes JSON and numerals
# as it does, and adds up what processes use by the library's rule.
COMMAND_MODEL = {"model/character.hpp", "model/decimal.hpp", "model/json.hpp", "model/json_writer.hpp", "model/likely_word.hpp", "model/text.hpp", "model/words.hpp", "model/usage_sum.hpp"}
BINDING = "hypomnesis.hpp"  # bindings/cpp

SYSTEM_HEADERS = re.compile(
    r"(sys|linux|asm|net|netinet|arpa)/|(unistd|dlfcn|fcntl|pthread|sched|poll|dirent|spawn|semaphore"
    r"|signal|termios|pwd|grp|windows)\.h$|csignal$")

# A folder of a source for one system alone may speak that system's own language: Windows has no files
# to be read in its place.
SYSTEM_FOLDER = re.compile(r"(?:backends/\w+|cli/system)/(windows)/")

REGISTRY = "source/registry.cpp"  # makes the sources
COMPILED_IN = "source/registry.hpp"

# Drivers of their own folders that stand in the room of the DRM drivers, and what they share.
DRM_LIST = "backends/drm/driver.cpp"
GUESTS = {"amdgpu": {"drm"}, "kfd": {"drm"}, "intel": {"drm"}, "i915": {"drm", "intel"}, "xe": {"drm", "intel"}}

# What sources of the same kind have in common: a room of its own, and who may look into it.
ROOMS = {"idle": {"nvml", "drm"}, "pci": {"nvml", "command_tool", "nvidia_smi", "amd_tool"}, "command_tool": {"nvidia_smi", "amd_tool", "macmon"},
         "sysfs": {"drm", "amdgpu", "kfd", "intel", "i915", "xe", "tegra", "pci", "nvml"},
         "mach": {"os", "metal"}, "nvidia": {"nvml", "nvidia_smi"}, "wddm": {"dxgi", "pdh"}}

# The command's folders, and what each may use; what is in none of them, all may use.
CLI_LAYERS = {"commands": {"exporter", "top", "measure", "fit", "text", "system"},
              "exporter": {"measure", "text", "system"}, "top": {"measure", "text", "system"}, "measure": {"text", "system"},
              "fit": {"measure", "text", "system"}, "text": {"system"}}
# What doctor finds by system is words, and the way in by system starts the command.
CLI_BY_SYSTEM = {"inspect": "text", "inspect_permissions": "text", "hardware": "text", "entry": "commands"}


def part_of(path):
    return pathlib.PurePath(path).parts[0]


def backend_of(path):
    """"nvml" of backends/nvml/symbols.hpp, "pci" of backends/shared/pci/pci.hpp; None of cli/units.hpp."""
    parts = [part for part in pathlib.PurePath(path).parts if part != "shared"]
    return parts[1] if len(parts) > 2 else None


def allowed_in_command(source, target):
    layer, other = backend_of(source), backend_of(target)
    by_system = layer == "system" and CLI_BY_SYSTEM.get(pathlib.PurePath(source).stem) == other
    return other in (None, layer) or by_system or other in CLI_LAYERS.get(layer, ())


def allowed(source, target):
    """Both relative to src/, or the public header."""
    part, other = part_of(source), part_of(target)
    if part == "cli":
        if other == "cli":
            return allowed_in_command(source, target)
        return other in ("procfs", "platform") or target in (HEADER, BINDING) or target in COMMAND_MODEL
    if part == "api":
        return other in ("api", "core", "model", "platform") or target in (HEADER, COMPILED_IN)
    if part == "core":
        return other in ("core", "source", "model", "platform")
    if part == "source":
        return other in ("source", "model") or (source == REGISTRY and other == "backends")
    if part == "model":
        # The tables of src/model are of the numbers and structs of the header, which needs nothing.
        return other == "model" or target == HEADER
    if part == "backends":
        if other == "backends":
            here, there = backend_of(source), backend_of(target)
            own = here is not None and here == there
            guest = there in GUESTS.get(here, ()) or (source == DRM_LIST and there in GUESTS)
            return own or guest or here in ROOMS.get(there, ())
        return other in ("source", "model", "platform", "procfs")
    if part == "procfs":
        return other in ("model", "platform", "procfs")
    return part == other


def resolve(root, source, name):
    """The project's file that an include names, relative to src/; None for any other."""
    beside = os.path.normpath(pathlib.PurePath(source).parent / name)
    for candidate in (beside, name):
        if tree.exists(root, f"src/{candidate}"):
            return candidate
    return name if name in (HEADER, BINDING) else None


def violation(root, source, quote, name):
    target = resolve(root, source, name)
    system = SYSTEM_FOLDER.match(source)
    if target is None:
        if quote == '"':
            return f'"{name}" is no file of the project'
        if system and name == f"{system[1]}.h":
            return None
        if part_of(source) in ("api", "core", "source", "backends", "model", "procfs") and SYSTEM_HEADERS.match(name):
            return f"<{name}> belongs in src/platform"
        return None
    if not allowed(source, target):
        return f"{part_of(source)} may not include {target}"
    if system and target.startswith(f"platform/{system[1]}/"):
        return None
    if len(pathlib.PurePath(target).parts) > 2 and part_of(target) == "platform" != part_of(source):
        return f"{target} is private to src/platform"
    return None


def lacks_own_header(root, path, text):
    """A build that joins files does not notice."""
    own = path.with_suffix(".hpp")
    return path.suffix == ".cpp" and tree.exists(root, own) and f'"{own.relative_to("src")}"' not in text


def violations(root):
    for path in tree.files(root, ".cpp", ".hpp", ".h", ".c", under="src"):
        source = str(path.relative_to("src"))
        text = tree.text(root, path)
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            found = match and violation(root, source, *match.groups())
            if found:
                yield f"{path}:{number}: {found}"
        if lacks_own_header(root, path, text):
            yield f"{path}:1: the header of its name is not included"


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
    ({"src/platform/x.cpp": '#include "missing.hpp"\n'}, "is no file of the project"),
    ({"src/core/plain.cpp": "#include <cmath>\n"}, "header of its name"),
]
