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

constexpr unsigned max_numa_nodes = 1U << 16;

// Checks a + b == whole, without wrapping.
bool adds_up(std::uint64_t whole, std::uint64_t a, std::uint64_t b) noexcept {
  return a <= whole && whole - a == b;
}

bool is_total(std::uint64_t total) noexcept {
  return total != 0 && total != value_not_available;
}

// A total of 0 is consistent with a device without memory of its own.
Code set_sizes(Pool& pool, std::uint64_t total, std::uint64_t free, std::uint64_t used,
               bool is_consistent) noexcept {
  if (!is_total(total)) return total == 0 ? success : contradictory;
  pool.total = total;
  if (!is_consistent) return contradictory;
  pool.free = free;
  pool.used = used;
  return success;
}

bool is_refusal(Code c) noexcept {
  return c == argument_version_mismatch || has_no_function(c) || c == invalid_argument;
}

// Whether two totals of RAM are the same, of which one may lack the kernel's part.
bool is_close(std::uint64_t a, std::uint64_t b) noexcept {
  return (a > b ? a - b : b - a) <= b / 64;
}

template <class Memory>
Code query_sizes(const CallContext& context, const Function<Code(Handle, Memory*)>& function,
                 Handle handle, Memory memory, Pool& pool) {
  pool = make_own_pool();
  const Code code = call(context, function, handle, &memory);
  return code == success ? set_sizes(pool, memory) : code;
}

bool is_host_side(const MemoryTraits& traits) noexcept {
  return traits.has_address_translation || traits.has_chip_to_chip || traits.numa_node;
}

}  // namespace

Pool make_own_pool() noexcept {
  Pool pool;
  pool.kind = PoolKind::vram;
  pool.source = Source::nvml;
  pool.accounting = Accounting::allocated;
  pool.is_main = true;
  return pool;
}

Code set_sizes(Pool& pool, const MemoryV2& memory) noexcept {
  const auto& [version, total, reserved, free, used] = memory;
  const bool excludes_reserved = reserved <= total && adds_up(total - reserved, free, used);
  const bool includes_reserved =
      !excludes_reserved && adds_up(total, free, used) && reserved <= used;
  const Code code = set_sizes(pool, total, free, includes_reserved ? used - reserved : used,
                              excludes_reserved || includes_reserved);
  if (pool.used) pool.reserved = reserved;
  return code;
}

Code set_sizes(Pool& pool, const MemoryV1& memory) noexcept {
  const auto& [total, free, used] = memory;
  return set_sizes(pool, total, free, used, adds_up(total, free, used));
}

Code query_memory(const CallContext& context, Session& session, KnownDevice& device, Pool& pool,
                  const char*& function_name) {
  Code newer_code = no_symbol;
  if (!session.refuses_memory_v2 && !device.has_only_memory_v1) {
    function_name = session.fn.memory_v2.name();
    newer_code = query_sizes(context, session.fn.memory_v2, device.handle,
                             {memory_v2_version, 0, 0, 0, 0}, pool);
    if (newer_code == contradictory) {
      Pool older_pool;
      if (query_sizes(context, session.fn.memory_v1, device.handle, {}, older_pool) != success ||
          !older_pool.total)
        return newer_code;
      pool = older_pool;
      return success;
    }
    if (!is_refusal(newer_code) && newer_code != not_supported) return newer_code;
    session.refuses_memory_v2 =
        newer_code == argument_version_mismatch || has_no_function(newer_code);
  }
  const Code code = query_sizes(context, session.fn.memory_v1, device.handle, {}, pool);
  if (has_no_function(code) && !has_no_function(newer_code)) return newer_code;
  function_name = session.fn.memory_v1.name();
  device.has_only_memory_v1 = device.has_only_memory_v1 || has_memory_total(code);
  return code;
}

MemoryKind derive_memory_kind(const MemoryTraits& traits, Code answer,
                              std::optional<std::uint64_t> total,
                              std::optional<std::uint64_t> shared_total) noexcept {
  if (traits.is_system_on_chip) return MemoryKind::unified;
  if (!total) {
    const bool has_no_sizes = answer == not_supported || answer == success;
    // A card with memory of its own may lack sizes, too: during a reset, under a hypervisor, with
    // an old driver.
    const bool is_host_ram = traits.has_address_translation && !traits.numa_node;
    return has_no_sizes && is_host_ram ? MemoryKind::unified : MemoryKind::unknown;
  }
  if (shared_total && is_close(*total, *shared_total)) return MemoryKind::unified;
  return is_host_side(traits) ? MemoryKind::coherent : MemoryKind::dedicated;
}

MemoryTraits query_traits(const CallContext& context, const Session& session, Handle handle,
                          const Device& device) {
  MemoryTraits traits;
  AddressingMode mode{addressing_version, 0};
  if (call(context, session.fn.addressing, handle, &mode) == success) {
    traits.has_address_translation = mode.value == addressing_ats;
    if (mode.value > addressing_ats) traits.unknown_mode_function = session.fn.addressing.name();
  }
  C2cMode c2c{};
  if (call(context, session.fn.c2c, handle, &c2c) == success) {
    traits.has_chip_to_chip = c2c.enabled == feature_enabled;
    if (c2c.enabled > feature_enabled) traits.unknown_mode_function = session.fn.c2c.name();
  }
  unsigned node = 0;
  if (call(context, session.fn.numa_node, handle, &node) == success && node < max_numa_nodes) {
    traits.numa_node = node;
  }
  Bar1Memory bar1{};
  traits.is_off_bus =
      call(context, session.fn.bar1, handle, &bar1) == not_supported && device.pci_bus_id.empty();
  traits.is_system_on_chip = pci::is_integrated_nvidia(device);
  return traits;
}

std::optional<std::uint64_t> read_shared_total(const MemoryTraits& traits,
                                               const std::string& proc_root) {
  const bool may_share = is_host_side(traits) || (traits.is_off_bus && !traits.is_virtual_gpu);
  if (!may_share) return std::nullopt;
  std::array<char, 256> buffer;
  const auto size = platform::read_small((proc_root + "/meminfo").c_str(), buffer);
  if (!size) return std::nullopt;
  return procfs::parse_meminfo({buffer.data(), size.value}).total.value();
}

}  // namespace hmn::nvml
