// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Does nothing, or opens the driver that BENCH_DRIVER names: what hmn on such a machine is compared
// with.
#include <dlfcn.h>

#include <cstdlib>

int main() {
  const char* const driver = std::getenv("BENCH_DRIVER");
  if (driver == nullptr) return 0;
  void* const opened = dlopen(driver, RTLD_NOW | RTLD_LOCAL);
  const auto start = reinterpret_cast<int (*)(unsigned)>(
      opened != nullptr ? dlsym(opened, "nvmlInitWithFlags") : nullptr);
  return start != nullptr && start(0) == 0 ? 0 : 1;
}
