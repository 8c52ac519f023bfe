// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Stands between this program and the C library: one call of those that open, read, list or ask for
// a status fails.
#pragma once

namespace faults {

// The `n`th call from now, from 0, fails with `error`.
void arm(int n, int error);
// The `n`th read of a fdinfo file gives a half, and then its end.
void arm_torn(int n);
// Whether it came to that.
bool disarm();

}  // namespace faults
