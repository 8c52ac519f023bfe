# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every package names the home page, repository and issues of cmake/home.cmake, and omits those that are empty there.
Go's module and the maintainers' address are the same in every file."""
import dataclasses
import re

import tree

CONSTANTS = "cmake/home.cmake"
# Split, so that this file does not contain the name, which no file may contain once a home is set.
RESERVED = "hypomnesis" + ".invalid"


@dataclasses.dataclass
class Place:
    """A line of a file with an address; the line is omitted if the address is empty."""
    path: str
    name: str
    line: str
    predecessor: str  # beginning of the line before it

    def pattern(self):
        return "^" + re.escape(self.line).replace(re.escape("{}"), "((?!man:).*)")


PLACES = [
    Place("bindings/csharp/Hypomnesis/Hypomnesis.csproj", "REPOSITORY", "    <RepositoryUrl>{}</RepositoryUrl>", "    <Authors>"),
    Place("bindings/csharp/Hypomnesis/Hypomnesis.csproj", "HOMEPAGE", "    <PackageProjectUrl>{}</PackageProjectUrl>", "    <Authors>"),
    Place("bindings/lua/*.rockspec", "ISSUES", '  issues_url = "{}",', "  license = "),
    Place("bindings/lua/*.rockspec", "HOMEPAGE", '  homepage = "{}",', "  license = "),
    Place("bindings/python/pyproject.toml", "ISSUES", 'urls.Issues = "{}"', "requires-python"),
    Place("bindings/python/pyproject.toml", "REPOSITORY", 'urls.Repository = "{}"', "requires-python"),
    Place("bindings/python/pyproject.toml", "HOMEPAGE", 'urls.Homepage = "{}"', "requires-python"),
    Place("contrib/container/Containerfile", "REPOSITORY", "LABEL org.opencontainers.image.source={}", "FROM debian:12-slim"),
    Place("contrib/rpm/hypomnesis.spec", "HOMEPAGE", "URL:            {}", "License:"),
    Place("contrib/systemd/hypomnesis-exporter.service", "HOMEPAGE", "Documentation={}", "Documentation=man:"),
    Place("debian/control", "HOMEPAGE", "Homepage: {}", "Standards-Version:"),
    Place("debian/copyright", "REPOSITORY", "Source: {}", "Upstream-Name:"),
    Place("docs/man/hmn.1", "HOMEPAGE", ".Pp\n.Lk {}", r"\.Xr hypomnesis 3$"),
]


def find_files(root, place):
    return [path for path in tree.files(root) if path.match(place.path)]


def read_home(root):
    return dict(re.findall(r'^set\(HMN_(\w+) "(.*)"\)$', tree.text(root, CONSTANTS), re.M))


def read_module(root):
    return re.search(r"^module (\S+)$", tree.text(root, "bindings/go/go.mod"), re.M)[1]


def read_contact(root):
    return re.search(r"^Maintainer: .* <(\S+)>$", tree.text(root, "debian/control"), re.M)[1]


def find_violations(root):
    values = read_home(root)
    for place in PLACES:
        for path in find_files(root, place):
            values_found = re.findall(place.pattern() + "$", tree.text(root, path), re.M)
            if values_found != [values[place.name]] * bool(values[place.name]):
                yield (f"{path} has {values_found or 'no'} {place.name}, {CONSTANTS} {values[place.name]!r}: "
                       f"run scripts/set-home")
    for file, value, name in (("bindings/go/go.mod", read_module(root), "GO_MODULE"),
                              ("debian/control", read_contact(root), "CONTACT")):
        if value != values[name]:
            yield f"{file} is {value}, {CONSTANTS} {values[name]}"
    if RESERVED not in values["GO_MODULE"]:
        for path in tree.files(root):
            if RESERVED in tree.text(root, path):
                yield f"{path} has the reserved name, though there is a home"


CLEAN = {
    CONSTANTS: 'set(HMN_HOMEPAGE "https://a.invalid")\nset(HMN_REPOSITORY "")\nset(HMN_ISSUES "")\n'
               'set(HMN_GO_MODULE "a.invalid/go")\nset(HMN_CONTACT "b@a.invalid")\n',
    "bindings/csharp/Hypomnesis/Hypomnesis.csproj": "    <PackageProjectUrl>https://a.invalid</PackageProjectUrl>\n",
    "bindings/lua/hypomnesis-1.rockspec": '  homepage = "https://a.invalid",\n',
    "bindings/python/pyproject.toml": 'urls.Homepage = "https://a.invalid"\n',
    "bindings/go/go.mod": "module a.invalid/go\n",
    "contrib/systemd/hypomnesis-exporter.service": "Documentation=man:a(1)\nDocumentation=https://a.invalid\n",
    "debian/control": "Maintainer: A <b@a.invalid>\nHomepage: https://a.invalid\n",
}
PLANTED = [
    ({"bindings/python/pyproject.toml": "\n"}, "pyproject.toml has no HOMEPAGE"),
    ({"bindings/lua/hypomnesis-1.rockspec": CLEAN["bindings/lua/hypomnesis-1.rockspec"] + '  issues_url = "x",\n'},
     "rockspec has ['x'] ISSUES"),
    ({"bindings/csharp/Hypomnesis/Hypomnesis.csproj": "    <PackageProjectUrl>b</PackageProjectUrl>\n"}, "csproj has ['b'] HOMEPAGE"),
    ({"contrib/systemd/hypomnesis-exporter.service": "Documentation=man:a(1)\n"}, "exporter.service has no HOMEPAGE"),
    ({"bindings/go/go.mod": "module other\n"}, "go.mod is other"),
    ({"debian/control": "Maintainer: A <c@a.invalid>\nHomepage: https://a.invalid\n"}, "debian/control is c@a.invalid"),
    ({"docs/page.md": f"See {RESERVED}.\n"}, "docs/page.md has the reserved name"),
]
