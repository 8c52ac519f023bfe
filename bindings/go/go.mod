// SPDX-License-Identifier: MIT OR Apache-2.0
module hypomnesis

go 1.19
