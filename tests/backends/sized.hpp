// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

// A struct of the interface whose fields are zero but for its size.
template <class T>
T sized() {
  T t{};
  t.struct_size = sizeof t;
  return t;
}
