// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/metal/counters.hpp"
#include "backends/metal/frameworks.hpp"
#include "backends/metal/registry.hpp"
#include "backends/shared/mach/kernel.hpp"
#include "source/interface.hpp"

namespace hmn::metal {

struct metal_device {
  std::uint64_t id = 0;      // registry entry of its accelerator; 0: unknown
  std::uint64_t budget = 0;  // recommendedMaxWorkingSetSize; 0: unknown
};

// Keeps Metal's devices, since creating them costs milliseconds.
class metal_devices {
 public:
  // `with_default`: create the default device if Metal lists none. On Macs with two GPUs that would
  // switch to the stronger one.
  void open(const frameworks& f, bool with_default);
  [[nodiscard]] std::vector<metal_device> read() const;
  void close() noexcept;

 private:
  const frameworks* f_ = nullptr;
  owned list_;    // all devices
  owned single_;  // else the default device
};

// The kernel's ledger of each task, which counts memory as graphics and as owned by the task.
class graphics_ledger {
 public:
  explicit graphics_ledger(const mach::kernel& k) : k_(k) {}

  // 0 is the kernel's count, not a missing value.
  result<std::uint64_t> used_by(std::uint32_t pid);
  // Lists the processes of all users.
  [[nodiscard]] result<std::vector<int>> processes() const;

 private:
  // Finds an entry's index by its name.
  result<std::size_t> find_place();

  const mach::kernel& k_;
  std::optional<std::size_t> place_;
};

// The GPUs of macOS, from the IOKit registry, Metal, the kernel's ledgers, IOReport and the
// sensors. Nothing here needs root.
class metal_source final : public device_source {
 public:
  using loader = result<frameworks> (*)();

  metal_source(const mach::kernel& k, loader load)
      : device_source(source::metal, calls::may_block), k_(k), load_(load), ledger_(k) {}

  result<void> probe() override;
  result<void> prepare(reading& r) override;
  result<void> devices(std::vector<device>& out, reading& r) override;
  result<void> memory(slot number, pools& out, reading& r) override;
  result<void> telemetry(slot number, FieldSet fields, hmn::telemetry& out,
                         reading& r) override;
  result<void> metrics(slot number, bool slow, std::vector<metric>& out, reading& r) override;
  result<void> processes(slot number, std::vector<usage>& out, reading& r) override;
  result<void> process(slot number, std::uint32_t pid, bool self, usage& out, reading& r) override;
  void close() noexcept override;

 private:
  result<void> open(reading& r);
  slot slot_of(std::uint64_t id);
  [[nodiscard]] device identity_of(const accelerator& a, std::uint32_t index) const;
  result<const accelerator*> find(slot number) const;
  // Whether the GPU's memory is host memory.
  [[nodiscard]] bool is_unified(const accelerator& a) const;
  [[nodiscard]] std::optional<std::uint64_t> budget_of(const accelerator& a) const;
  [[nodiscard]] pool unified_pool(const accelerator& a) const;
  [[nodiscard]] pool vram_pool(const accelerator& a) const;
  void explain(const pool& p, const accelerator& a, slot number, reading& r) const;

  // Reads this reading's rates on first use.
  const rates& now();
  const std::vector<thermometer>& temperatures();
  void take_telemetry(const accelerator& a, FieldSet fields, hmn::telemetry& out);
  [[nodiscard]] failure why_absent(FieldSet field, const accelerator& a);

  result<void> can_attribute() const;

  const mach::kernel& k_;
  const loader load_;
  std::optional<frameworks> frameworks_;
  std::vector<std::uint64_t> known_;  // registry entries; the index is the slot
  bool is_apple_ = false;             // an Apple SoC, not an Intel Mac
  text<96> chip_;
  std::vector<double> clocks_;
  metal_devices budgets_;
  report report_;
  sensors sensors_;
  counter_history history_;
  graphics_ledger ledger_;

  std::vector<accelerator> accelerators_;
  std::optional<rates> rates_;
  std::optional<std::vector<thermometer>> temperatures_;
};

}  // namespace hmn::metal
