# SPDX-License-Identifier: MIT OR Apache-2.0
# Where the project is found, for all that names it: CMake and pkg-config take it from here, and the suite repo.home
# compares the packages of the languages. What is empty is left out of them. Go needs a name: without a repository it is
# `hypomnesis`, which the go command never fetches, since it has no dot.
set(HMN_HOMEPAGE "")
set(HMN_REPOSITORY "")
set(HMN_ISSUES "")
