# SPDX-License-Identifier: MIT OR Apache-2.0
"""The version in the header equals all copies of it."""
import re

import tree

# A name with the number of a soname before 1.0. Numbers from 0.90 on are used in tests.
NAME = re.compile(r"((?:hypomnesis-?|hypomnesis\.so\.|hypomnesis\.|\bHMN_)(0(?:\.\d+)?))(?!\d|\.[\dN{])")
# Released files and the changelog.
HISTORY = ("abi/baselines/", "abi/headers/", "tests/abi/clients/bin/", "CHANGELOG.md")


def find_versions(root):
    """Yields (place, version in it)."""
    heading = re.search(r"^## \[(\d+\.\d+\.\d+)\]", tree.text(root, "CHANGELOG.md"), re.M)
    yield "CHANGELOG.md's newest heading", heading and heading.group(1)
    for place, pattern in (("debian/changelog", r"^hypomnesis \((\S+)-\S+\)"),
                           ("contrib/rpm/hypomnesis.spec", r"^Version: +(\S+)$")):
        match = re.search(pattern, tree.text(root, place), re.M)
        yield place, match and match.group(1)
    for path in tree.files(root, ".1", ".3", under="docs/man"):
        footer = re.search(r"^\.Os hypomnesis (\S+)$", tree.text(root, path), re.M)
        yield f"{path}'s .Os line", footer and footer.group(1)
    for path in tree.files(root, ".md"):
        for version in re.findall(r"find_package\(hypomnesis (\S+)", tree.text(root, path)):
            yield f"{path}'s find_package", version


def find_old_sonames(root):
    """Yields names whose soname number differs from the header's version."""
    version = tree.read_version(root)
    soversion = re.match(r"0\.\d+|\d+", version)[0]
    for path in tree.files(root):
        if not str(path).startswith(HISTORY):
            for name, number in NAME.findall(f"{path}\n{tree.text(root, path)}"):
                if number != soversion and not number.startswith("0.9"):
                    yield f"{path} has {name}, the soname's number is {soversion}: run scripts/set-soname"


def find_violations(root):
    version = tree.read_version(root)
    major, minor, patch = (int(part) for part in version.split("."))
    number = re.search(r"^#define HMN_VERSION_NUMBER +(\d+)u", tree.text(root, "include/hypomnesis.h"),
                       re.M)
    if not number or int(number.group(1)) != major * 1000000 + minor * 1000 + patch:
        yield f"include/hypomnesis.h: HMN_VERSION_NUMBER is not that of {version}"
    for place, found_version in find_versions(root):
        if found_version not in (version, f"{major}.{minor}"):
            yield f"{place} says {found_version}, the header {version}"
    newest_node = re.findall(r"^(HMN_[\d.]+) \{", tree.text(root, "abi/hypomnesis.map"), re.M)[-1:]
    if newest_node != [f"HMN_{major}.{minor}"]:
        yield f"abi/hypomnesis.map's newest node is {newest_node}, the header says {version}"
    yield from find_old_sonames(root)


CLEAN = {
    "include/hypomnesis.h": "#define HMN_VERSION_MAJOR 0\n#define HMN_VERSION_MINOR 90\n"
                            "#define HMN_VERSION_PATCH 2\n#define HMN_VERSION_NUMBER 90002u\n",
    "CHANGELOG.md": "# Changelog\n\n## [Unreleased]\n\n## [0.90.2] - 2030-01-01\n\n## [0.90.1]\n",
    "README.md": "find_package(hypomnesis 0.90 CONFIG REQUIRED)\n",
    "abi/hypomnesis.map": "HMN_0.90 {\n};\n",
    "contrib/rpm/hypomnesis.spec": "Version:        0.90.2\n",
    "debian/changelog": "hypomnesis (0.90.2-1) unstable; urgency=medium\n",
    "docs/man/hmn.1": ".Dd May 1, 2030\n.Dt HMN 1\n.Os hypomnesis 0.90.2\n",
}
PLANTED = [
    ({"CHANGELOG.md": "## [0.2.0]\n"}, "CHANGELOG.md's newest heading says 0.2.0"),
    ({"CHANGELOG.md": "## [Unreleased]\n"}, "CHANGELOG.md's newest heading says None"),
    ({"contrib/rpm/hypomnesis.spec": "Version: 0.1.1\n"}, "contrib/rpm/hypomnesis.spec says 0.1.1"),
    ({"debian/changelog": "hypomnesis (0.1.1-1) unstable\n"}, "debian/changelog says 0.1.1"),
    ({"docs/man/hmn.1": ".Os hypomnesis 0.1.1\n"}, "hmn.1's .Os line says 0.1.1"),
    ({"docs/man/new.3": ".Os\n"}, "new.3's .Os line says None"),
    ({"README.md": "find_package(hypomnesis 0.2)\n"}, "README.md's find_package says 0.2"),
    ({"abi/hypomnesis.map": "HMN_1.0 {\n};\n"}, "newest node"),
    ({"docs/page.md": f"`libhypomnesis.so.{0}`\n"}, "docs/page.md has hypomnesis.so."),
    ({"page.md": f"hypomnesis-{0.7}.dll\n"}, "page.md has hypomnesis-"),
    ({f"debian/libhypomnesis{0.7}.symbols": "\n"}, "the soname's number is 0.90"),
    ({"include/hypomnesis.h": CLEAN["include/hypomnesis.h"].replace("90002u", "90001u")},
     "HMN_VERSION_NUMBER"),
]
