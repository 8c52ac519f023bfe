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
Code set_sizes(Pool& of, std::uint64_t total, std::uint64_t free, std::uint64_t used,
               bool agree) noexcept {
  if (!is_total(total)) return total == 0 ? success : contradictory;
  of.total = total;
  if (!agree) return contradictory;
  of.free = free;
  of.used = used;
  return success;
}

bool is_refusal(Code c) noexcept {
  return c == argument_version_mismatch || has_no_function(c) || c == invalid_argument;
}

// Whether two totals of RAM are the same, of which one may lack the kernel's part.
bool is_about(std::uint64_t a, std::uint64_t b) noexcept {
  return (a > b ? a - b : b - a) <= b / 64;
}

template <class Memory>
Code ask(const Topic& t, const Function<Code(Handle, Memory*)>& f, Handle h, Memory reported,
         Pool& out) {
  out = own_pool();
  const Code c = call(t, f, h, &reported);
  return c == success ? set_sizes(out, reported) : c;
}

bool is_host_side(const MemoryTraits& of) noexcept {
  return of.address_translation || of.chip_to_chip || of.numa_node;
}

}  // namespace

Pool own_pool() noexcept {
  Pool p;
  p.kind = PoolKind::vram;
  p.from = Source::nvml;
  p.accounting = Accounting::allocated;
  p.is_main = true;
  return p;
}

Code set_sizes(Pool& of, const MemoryV2& reported) noexcept {
  const auto& [version, total, reserved, free, used] = reported;
  const bool is_apart = reserved <= total && adds_up(total - reserved, free, used);
  const bool is_used = !is_apart && adds_up(total, free, used) && reserved <= used;
  const Code c = set_sizes(of, total, free, is_used ? used - reserved : used, is_apart || is_used);
  if (of.used) of.reserved = reserved;
  return c;
}

Code set_sizes(Pool& of, const MemoryV1& reported) noexcept {
  const auto& [total, free, used] = reported;
  return set_sizes(of, total, free, used, adds_up(total, free, used));
}

Code ask_memory(const Topic& t, Session& s, KnownDevice& of, Pool& out, const char*& from) {
  Code newer = no_symbol;
  if (!s.refuses_memory_v2 && !of.only_memory_v1) {
    from = s.fn.memory_v2.name();
    newer = ask(t, s.fn.memory_v2, of.h, {memory_v2_version, 0, 0, 0, 0}, out);
    if (newer == contradictory) {
      Pool older;
      if (ask(t, s.fn.memory_v1, of.h, {}, older) != success || !older.total) return newer;
      out = older;
      return success;
    }
    if (!is_refusal(newer) && newer != not_supported) return newer;
    s.refuses_memory_v2 = newer == argument_version_mismatch || has_no_function(newer);
  }
  const Code c = ask(t, s.fn.memory_v1, of.h, {}, out);
  if (has_no_function(c) && !has_no_function(newer)) return newer;
  from = s.fn.memory_v1.name();
  of.only_memory_v1 = of.only_memory_v1 || has_answered(c);
  return c;
}

MemoryKind kind_of_memory(const MemoryTraits& traits, Code answer,
                          std::optional<std::uint64_t> total,
                          std::optional<std::uint64_t> shared_total) noexcept {
  if (traits.system_on_chip) return MemoryKind::unified;
  if (!total) {
    const bool has_none = answer == not_supported || answer == success;
    // A card with memory of its own may lack sizes, too: during a reset, under a hypervisor, with
    // an old driver.
    const bool is_host_ram = traits.address_translation && !traits.numa_node;
    return has_none && is_host_ram ? MemoryKind::unified : MemoryKind::unknown;
  }
  if (shared_total && is_about(*total, *shared_total)) return MemoryKind::unified;
  return is_host_side(traits) ? MemoryKind::coherent : MemoryKind::dedicated;
}

MemoryTraits ask_traits(const Topic& t, const Session& s, Handle h, const Device& of) {
  MemoryTraits traits;
  AddressingMode mode{addressing_version, 0};
  if (call(t, s.fn.addressing, h, &mode) == success) {
    traits.address_translation = mode.value == addressing_ats;
    if (mode.value > addressing_ats) traits.unknown_mode_from = s.fn.addressing.name();
  }
  C2cMode c2c{};
  if (call(t, s.fn.c2c, h, &c2c) == success) {
    traits.chip_to_chip = c2c.enabled == feature_enabled;
    if (c2c.enabled > feature_enabled) traits.unknown_mode_from = s.fn.c2c.name();
  }
  unsigned node = 0;
  if (call(t, s.fn.numa_node, h, &node) == success && node < most_nodes) {
    traits.numa_node = node;
  }
  Bar1Memory bar1{};
  traits.off_bus = call(t, s.fn.bar1, h, &bar1) == not_supported && of.pci_bus_id.empty();
  traits.system_on_chip = pci::is_integrated_nvidia(of);
  return traits;
}

std::optional<std::uint64_t> read_shared_total(const MemoryTraits& of,
                                               const std::string& proc_root) {
  const bool may_share = is_host_side(of) || (of.off_bus && !of.virtual_gpu);
  if (!may_share) return std::nullopt;
  std::array<char, 256> buffer;
  const auto got = platform::read_small((proc_root + "/meminfo").c_str(), buffer);
  if (!got) return std::nullopt;
  return procfs::parse_meminfo({buffer.data(), got.value}).total.value();
}

}  // namespace hmn::nvml
