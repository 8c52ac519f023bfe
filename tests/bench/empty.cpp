// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Does nothing, or opens the driver named by BENCH_DRIVER: the baseline for hmn on such a
// with.
#include <dlfcn.h>

#include <cstdlib>

int main() {
  const char* const driver = std::getenv("BENCH_DRIVER");
  if (driver == nullptr) return 0;
  void* const library = dlopen(driver, RTLD_NOW | RTLD_LOCAL);
  const auto start = reinterpret_cast<int (*)(unsigned)>(
      library != nullptr ? dlsym(library, "nvmlInitWithFlags") : nullptr);
  return start != nullptr && start(0) == 0 ? 0 : 1;
}
