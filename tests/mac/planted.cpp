// SPDX-License-Identifier: MIT OR Apache-2.0
#include <new>

extern "C" void* MTLCopyAllDevices();
extern "C" void* stranger();

void* stranger() {
  try {
    return MTLCopyAllDevices();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
