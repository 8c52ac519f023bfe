// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/process_memory.hpp"

#include <doctest/doctest.h>

using namespace hmn;

TEST_CASE("file_time: a file time is converted to nanoseconds since 1970") {
  // 1970-01-01 00:00:00, and 2009-02-13 23:31:30, second 1234567890.
  CHECK(os::convert_file_time({0xD53E8000, 0x019DB1DE}) == 0U);
  CHECK(os::convert_file_time({0xD53E8001, 0x019DB1DE}) == 100U);
  constexpr std::uint64_t ticks = 11'644'473'600ULL * 10'000'000 + 1'234'567'890ULL * 10'000'000;
  const FILETIME time{static_cast<DWORD>(ticks), static_cast<DWORD>(ticks >> 32)};
  CHECK(os::convert_file_time(time) == 1'234'567'890'000'000'000U);
}

TEST_CASE("file_time: a time before 1970 yields none") {
  CHECK_FALSE(os::convert_file_time({0xD53E7FFF, 0x019DB1DE}));
  CHECK_FALSE(os::convert_file_time({0, 0}));
}
