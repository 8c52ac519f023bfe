// SPDX-License-Identifier: MIT OR Apache-2.0
module hypomnesis.invalid/bindings/go

go 1.19
