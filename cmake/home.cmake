# SPDX-License-Identifier: MIT OR Apache-2.0
# Where the project is found, for all that names it: CMake and pkg-config take it from here, and the suite repo.checks
# compares the packages of the languages. What is empty is left out of them; where a name is needed (the path of Go's module,
# an address in debian/) hypomnesis.invalid stands, a name that is reserved and never resolves.
set(HMN_HOMEPAGE "")
set(HMN_REPOSITORY "")
set(HMN_ISSUES "")
