// SPDX-License-Identifier: MIT OR Apache-2.0
module hypomnesis_tests

go 1.19

require hypomnesis.invalid/bindings/go v0.0.0

replace hypomnesis.invalid/bindings/go => ../../../bindings/go
