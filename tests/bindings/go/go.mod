// SPDX-License-Identifier: MIT OR Apache-2.0
module hypomnesis_tests

go 1.19

require hypomnesis v0.0.0

replace hypomnesis => ../../../bindings/go
