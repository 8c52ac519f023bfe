# SPDX-License-Identifier: MIT OR Apache-2.0
# The addresses of the project. CMake and pkg-config read them from here; scripts/set-home sets them here and writes them
# to every other file that names them, and the suite repo.checks compares the files. An empty address is left out of the packages. Go needs a
# path for its module and Debian an address of its maintainer: a name below .invalid is reserved and never resolves.
set(HMN_HOMEPAGE "")
set(HMN_REPOSITORY "")
set(HMN_ISSUES "")
set(HMN_GO_MODULE "hypomnesis.invalid/bindings/go")
set(HMN_CONTACT "maintainers@hypomnesis.invalid")
