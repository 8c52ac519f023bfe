// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/boot.hpp"

#include <array>
#include <string>

#include "model/process_key.hpp"
#include "model/scan.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"
#include "procfs/tree.hpp"

namespace hmn::procfs {
namespace {

constexpr std::size_t cap = 16U << 20;  // the intr line grows with the machine's interrupts

}  // namespace

std::uint64_t parse_boot_id(std::string_view text) noexcept {
  constexpr std::size_t digits = 32;
  std::uint64_t number = 0;
  std::size_t count = 0;
  for (const char c : scan::take_line(text)) {
    if (c == '-') continue;
    const unsigned digit = scan::digit_value(c);
    if (digit >= 16) return 0;
    number = mix_bits(number * 16 + digit + 1);
    ++count;
  }
  return count == digits ? number : 0;
}

std::optional<std::uint64_t> BootId::find_process_key(std::string_view root,
                                                      const Stat& stat) noexcept {
  std::uint64_t number = number_.load(std::memory_order_relaxed);
  if (number == 0) {
    std::array<char, 64> buffer;
    const auto result =
        platform::read_small(ProcPath(root, "sys/kernel/random", "boot_id").c_str(), buffer);
    if (result) number = parse_boot_id({buffer.data(), result.value});
    number_.store(number, std::memory_order_relaxed);
  }
  if (number == 0) return std::nullopt;
  return make_process_key(number, stat.starttime, stat.pid);
}

std::optional<std::uint64_t> parse_boot_time(std::string_view text) noexcept {
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    if (scan::take_word(line) == "btime") return scan::parse_number(scan::trim(line));
  }
  return std::nullopt;
}

BootTime::BootTime() noexcept : ticks_per_second_(platform::clock_ticks_per_second()) {}

std::optional<std::uint64_t> BootTime::unix_ns(std::string_view root, std::uint64_t ticks) {
  std::uint64_t boot = seconds_.load(std::memory_order_relaxed);
  if (boot == 0) boot = read(root);
  if (boot == 0 || ticks_per_second_ == 0) return std::nullopt;
  const auto boot_ns = scan::checked_multiply(boot, platform::ns_per_second);
  const auto whole_ns = scan::checked_multiply(ticks / ticks_per_second_, platform::ns_per_second);
  if (!boot_ns || !whole_ns) return std::nullopt;
  const std::uint64_t part_ns =
      ticks % ticks_per_second_ * platform::ns_per_second / ticks_per_second_;
  const auto since_boot = scan::checked_add(*whole_ns, part_ns);
  return since_boot ? scan::checked_add(*boot_ns, *since_boot) : std::nullopt;
}

std::uint64_t BootTime::read(std::string_view root) {
  std::string text;
  const auto result = platform::read_whole(ProcPath(root, "", "stat").c_str(), text, cap);
  if (!result || result.value) return 0;
  std::uint64_t existing = 0;
  const std::uint64_t seconds = parse_boot_time(text).value_or(0);
  return seconds_.compare_exchange_strong(existing, seconds) ? seconds : existing;
}

}  // namespace hmn::procfs
