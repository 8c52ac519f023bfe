// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fmt/format.h>

#include <array>

#include "cli/system/process_facts.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"
#include "procfs/stat.hpp"

namespace hmn::cli {

std::optional<std::uint64_t> process_cpu_ns(const roots& in, std::uint32_t pid) {
  std::array<char, 4096> buffer;
  const auto path = fmt::format("{}/{}/stat", in.proc, pid);
  const auto got = platform::read_small(path.c_str(), buffer);
  if (!got) return std::nullopt;
  const auto ticks = procfs::parse_processor_ticks({buffer.data(), got.value});
  if (!ticks) return std::nullopt;
  return *ticks * (std::uint64_t{1'000'000'000} / platform::clock_ticks_per_second());
}

}  // namespace hmn::cli
