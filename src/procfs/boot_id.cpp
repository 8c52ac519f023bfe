// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/boot_id.hpp"

#include <array>

#include "model/process_key.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"
#include "procfs/path.hpp"

namespace hmn::procfs {

std::uint64_t parse_boot_id(std::string_view text) noexcept {
  constexpr std::size_t digits = 32;
  std::uint64_t number = 0;
  std::size_t count = 0;
  for (const char c : scan::take_line(text)) {
    if (c == '-') continue;
    const unsigned digit = scan::value_of_digit(c);
    if (digit >= 16) return 0;
    number = mixed(number * 16 + digit + 1);
    ++count;
  }
  return count == digits ? number : 0;
}

std::optional<std::uint64_t> boot_id::key_of(std::string_view root, const stat& s) noexcept {
  std::uint64_t number = number_.load(std::memory_order_relaxed);
  if (number == 0) {
    std::array<char, 64> buffer;
    const auto got =
        platform::read_small(proc_path(root, "sys/kernel/random", "boot_id").c_str(), buffer);
    if (got) number = parse_boot_id({buffer.data(), got.value});
    number_.store(number, std::memory_order_relaxed);
  }
  if (number == 0) return std::nullopt;
  return process_key(number, s.starttime, s.pid);
}

}  // namespace hmn::procfs
