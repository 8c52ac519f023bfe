// SPDX-License-Identifier: MIT OR Apache-2.0
module examples

go 1.19

require hypomnesis v0.0.0

replace hypomnesis => ../../bindings/go
