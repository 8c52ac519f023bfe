// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

// A struct of the C interface with all fields zero except struct_size.
template <class T>
T sized() {
  T record{};
  record.struct_size = sizeof record;
  return record;
}
