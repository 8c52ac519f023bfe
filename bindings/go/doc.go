// SPDX-License-Identifier: MIT OR Apache-2.0

// Package hypomnesis measures memory: of a process on the host, of a process on a GPU, of the GPU as a
// whole; and a GPU's load, temperature and power. It uses libhypomnesis, which pkg-config finds;
// with the build tag hypomnesis_dlopen the library is opened at run time instead, and need not be installed to compile.
//
// Numbers are exact: bytes are uint64. What is unknown is an absent Optional, and a snapshot's
// Diagnostics have the reason; no number means "unknown". An error is an *Error (errors.As) that wraps one of
// the Err values (errors.Is). Records are plain values: nothing in them belongs to C.
//
// Contexts and snapshots may be used by any number of goroutines at the same time, and closed by any of them
// at any time and in any order: calls in progress end first, later ones return ErrClosed. No method panics,
// not even of a nil Context or Snapshot.
package hypomnesis
