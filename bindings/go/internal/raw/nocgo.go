// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build !cgo

package raw

var _ = hypomnesis_needs_cgo__set_CGO_ENABLED_1_and_install_a_C_compiler
