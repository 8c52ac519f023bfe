// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/memory.hpp"

#include <algorithm>
#include <array>

#include "backends/shared/pci/pci.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"
#include "procfs/meminfo.hpp"

namespace hmn::nvml {
namespace {

constexpr unsigned most_nodes = 1U << 16;

// Checks a + b == whole, without wrapping.
bool adds_up(std::uint64_t whole, std::uint64_t a, std::uint64_t b) noexcept {
  return a <= whole && whole - a == b;
}

bool is_total(std::uint64_t reported) noexcept {
  return reported != 0 && reported != value_not_available;
}

// A total of 0 is consistent with a device without memory of its own.
memory_values values_of(std::uint64_t total, std::uint64_t free, std::uint64_t used,
                        bool agree) noexcept {
  memory_values f;
  f.agree = is_total(total) ? agree : total == 0;
  if (!is_total(total)) return f;
  f.total = total;
  if (!agree) return f;
  f.free = free;
  f.used = used;
  return f;
}

bool is_refusal(code c) noexcept {
  return c == argument_version_mismatch || has_no_function(c) || c == invalid_argument;
}

// The kernel's part of RAM is missing from one of the two.
bool is_about(std::uint64_t a, std::uint64_t b) noexcept {
  return (a > b ? a - b : b - a) <= b / 64;
}

code ask_v2(const topic& t, const session& s, known_device& of, memory_answer& out) {
  memory_v2 reported{};
  reported.version = memory_v2_version;
  out.from = s.fn.memory_v2.name();
  out.result = call(t, s.fn.memory_v2, of.h, &reported);
  if (out.result == success) out.values = check(reported);
  return out.result;
}

code ask_v1(const topic& t, const session& s, known_device& of, memory_answer& out) {
  memory_v1 reported{};
  out.from = s.fn.memory_v1.name();
  out.result = call(t, s.fn.memory_v1, of.h, &reported);
  if (out.result == success) out.values = check(reported);
  return out.result;
}

bool is_host_side(const memory_traits& of) noexcept {
  return of.address_translation || of.chip_to_chip || of.numa_node;
}

}  // namespace

memory_values check(const memory_v2& reported) noexcept {
  const auto& [version, total, reserved, free, used] = reported;
  const bool is_apart = reserved <= total && adds_up(total - reserved, free, used);
  const bool is_used = !is_apart && adds_up(total, free, used) && reserved <= used;
  memory_values f = values_of(total, free, is_used ? used - reserved : used, is_apart || is_used);
  if (f.used) f.reserved = reserved;
  return f;
}

memory_values check(const memory_v1& reported) noexcept {
  const auto& [total, free, used] = reported;
  return values_of(total, free, used, adds_up(total, free, used));
}

memory_answer ask_memory(const topic& t, session& s, known_device& of) {
  memory_answer answer;
  if (!s.refuses_memory_v2 && !of.only_memory_v1) {
    const code c = ask_v2(t, s, of, answer);
    if (c == success && !answer.values.agree) {
      memory_answer older;
      const bool adds_up = ask_v1(t, s, of, older) == success && older.values.agree;
      return adds_up && older.values.total ? older : answer;
    }
    if (!is_refusal(c) && c != not_supported) return answer;
    s.refuses_memory_v2 = c == argument_version_mismatch || has_no_function(c);
  }
  const memory_answer newer = answer;
  const code c = ask_v1(t, s, of, answer);
  if (c == success) {
    of.only_memory_v1 = true;
  } else if (has_no_function(c) && !has_no_function(newer.result)) {
    return newer;
  }
  return answer;
}

memory_kind kind_of_memory(const memory_traits& traits, const memory_answer& answer,
                           std::optional<std::uint64_t> shared_total) noexcept {
  const bool has_none =
      answer.result == not_supported || (answer.result == success && answer.values.agree);
  if (answer.result != success || !answer.values.total) {
    // A card of its own may lack them, too: in a reset, under a hypervisor, by an old driver.
    const bool is_host_ram =
        traits.system_on_chip || (traits.address_translation && !traits.numa_node);
    return has_none && is_host_ram ? memory_kind::unified : memory_kind::unknown;
  }
  if (shared_total && is_about(*answer.values.total, *shared_total)) return memory_kind::unified;
  return is_host_side(traits) ? memory_kind::coherent : memory_kind::dedicated;
}

memory_traits ask_traits(const topic& t, const session& s, handle h, const device& of) {
  memory_traits traits;
  addressing_mode mode{addressing_version, 0};
  if (call(t, s.fn.addressing, h, &mode) == success) {
    traits.address_translation = mode.value == addressing_ats;
    if (mode.value > addressing_ats) traits.unknown_mode_from = s.fn.addressing.name();
  }
  c2c_mode c2c{};
  if (call(t, s.fn.c2c, h, &c2c) == success) {
    traits.chip_to_chip = c2c.enabled == feature_enabled;
    if (c2c.enabled > feature_enabled) traits.unknown_mode_from = s.fn.c2c.name();
  }
  unsigned node = 0;
  if (call(t, s.fn.numa_node, h, &node) == success && node < most_nodes) {
    traits.numa_node = node;
  }
  bar1_memory bar1{};
  traits.off_bus = call(t, s.fn.bar1, h, &bar1) == not_supported && of.pci_bus_id.empty();
  traits.system_on_chip = pci::is_integrated_nvidia(of);
  return traits;
}

std::optional<std::uint64_t> read_shared_total(const memory_traits& of,
                                               const std::string& proc_root) {
  const bool may_share = is_host_side(of) || of.system_on_chip || (of.off_bus && !of.virtual_gpu);
  if (!may_share) return std::nullopt;
  std::array<char, 256> buffer;
  const auto got = platform::read_small((proc_root + "/meminfo").c_str(), buffer);
  if (!got) return std::nullopt;
  return procfs::parse_meminfo({buffer.data(), got.value}).total.value();
}

pool to_pool(const memory_values& values) noexcept {
  pool p;
  p.kind = pool_kind::vram;
  p.from = source::nvml;
  p.accounting = accounting::allocated;
  p.is_main = true;
  p.total = values.total;
  p.free = values.free;
  p.used = values.used;
  p.reserved = values.reserved;
  return p;
}

}  // namespace hmn::nvml
