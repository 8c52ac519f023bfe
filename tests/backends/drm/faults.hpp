// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Wraps calls of the C library: one of the calls that open, read, list or get
// a status fails.
#pragma once

namespace faults {

// Makes call number `index` from now, counted from 0, fail with `error`.
void arm(int index, int error);
// Makes read number `index` of an fdinfo file return one half, then the end of the file.
void arm_torn(int index);
// Returns whether that call was made.
bool disarm();

}  // namespace faults
