# SPDX-License-Identifier: MIT OR Apache-2.0
"""The packages of the languages name the homepage, the repository and the issues of cmake/home.cmake; what is empty there
is in none of them."""
import re

import tree

NONE = ""
# Where a name is needed: no host will ever have it (RFC 2606).
RESERVED = "hypomnesis.invalid"
# Of each file, what it calls them.
PLACES = {
    "bindings/csharp/Hypomnesis/Hypomnesis.csproj": {
        "HOMEPAGE": r"<PackageProjectUrl>(.*?)</", "REPOSITORY": r"<RepositoryUrl>(.*?)</"},
    "bindings/lua/*.rockspec": {"HOMEPAGE": r'^ *homepage = "(.*?)"', "ISSUES": r'^ *issues_url = "(.*?)"'},
    "bindings/python/pyproject.toml": {
        "HOMEPAGE": r'^Homepage = "(.*?)"', "REPOSITORY": r'^Repository = "(.*?)"', "ISSUES": r'^Issues = "(.*?)"'},
}


def home(root):
    return dict(re.findall(r'^set\(HMN_(\w+) "(.*)"\)$', tree.text(root, "cmake/home.cmake"), re.M))


def violations(root):
    wanted = home(root)
    for pattern, names in PLACES.items():
        for path in tree.files(root, pattern.split("*")[-1] if "*" in pattern else pattern.rsplit("/", 1)[1],
                               under=pattern.rsplit("/", 1)[0]):
            for name, place in names.items():
                found = re.search(place, tree.text(root, path), re.M)
                if (found[1] if found else NONE) != wanted[name]:
                    yield f"{path} has {found[1] if found else 'no'} {name}, cmake/home.cmake {wanted[name]!r}"
    module = re.search(r"^module (\S+)$", tree.text(root, "bindings/go/go.mod"), re.M)[1]
    expected = f"{(wanted['REPOSITORY'] or RESERVED).split('://')[-1]}/bindings/go"
    if module != expected:
        yield f"bindings/go/go.mod is {module}, not {expected}"


CLEAN = {
    "cmake/home.cmake": 'set(HMN_HOMEPAGE "https://a.invalid")\nset(HMN_REPOSITORY "")\nset(HMN_ISSUES "")\n',
    "bindings/csharp/Hypomnesis/Hypomnesis.csproj": "<PackageProjectUrl>https://a.invalid</PackageProjectUrl>\n",
    "bindings/lua/hypomnesis-1.rockspec": '  homepage = "https://a.invalid",\n',
    "bindings/python/pyproject.toml": '[project.urls]\nHomepage = "https://a.invalid"\n',
    "bindings/go/go.mod": "module hypomnesis.invalid/bindings/go\n",
}
PLANTED = [
    ({"bindings/python/pyproject.toml": "\n"}, "pyproject.toml has no HOMEPAGE"),
    ({"bindings/lua/hypomnesis-1.rockspec": CLEAN["bindings/lua/hypomnesis-1.rockspec"] + ' issues_url = "x",\n'},
     "rockspec has x ISSUES"),
    ({"bindings/csharp/Hypomnesis/Hypomnesis.csproj": "<PackageProjectUrl>b</PackageProjectUrl>"}, "csproj has b HOMEPAGE"),
    ({"bindings/go/go.mod": "module other\n"}, "go.mod is other"),
]
