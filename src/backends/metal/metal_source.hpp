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

struct MetalDevice {
  std::uint64_t id = 0;      // registry entry of its accelerator; 0: unknown
  std::uint64_t budget = 0;  // recommendedMaxWorkingSetSize; 0: unknown
};

// Keeps Metal's devices, since creating them costs milliseconds.
class MetalDevices {
 public:
  // `with_default`: create the default device if Metal lists none. On Macs with two GPUs that would
  // switch to the stronger one.
  void open(const Frameworks& f, bool with_default);
  [[nodiscard]] std::vector<MetalDevice> read() const;
  void close() noexcept;

 private:
  const Frameworks* f_ = nullptr;
  Owned list_;    // all devices
  Owned single_;  // else the default device
};

// The kernel's ledger of each task, which counts memory as graphics and as owned by the task.
class GraphicsLedger {
 public:
  explicit GraphicsLedger(const mach::Kernel& k) : k_(k) {}

  // 0 is the kernel's count, not a missing value.
  Result<std::uint64_t> used_by(std::uint32_t pid);
  // Lists the processes of all users.
  [[nodiscard]] Result<std::vector<int>> processes() const;

 private:
  // Finds an entry's index by its name.
  Result<std::size_t> find_place();

  const mach::Kernel& k_;
  std::optional<std::size_t> place_;
};

// The GPUs of macOS, from the IOKit registry, Metal, the kernel's ledgers, IOReport and the
// sensors. Nothing here needs root.
class MetalSource final : public DeviceSource {
 public:
  using Loader = Result<Frameworks> (*)();

  MetalSource(const mach::Kernel& k, Loader load)
      : DeviceSource(Source::metal, Calls::may_block), k_(k), load_(load), ledger_(k) {}

  Result<void> probe() override;
  Result<void> prepare(Reading& r) override;
  Result<void> devices(std::vector<Device>& out, Reading& r) override;
  Result<void> memory(Slot number, Pools& out, Reading& r) override;
  Result<void> telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) override;
  Result<void> metrics(Slot number, bool slow, std::vector<Metric>& out, Reading& r) override;
  Result<void> processes(Slot number, std::vector<Usage>& out, Reading& r) override;
  Result<void> process(Slot number, std::uint32_t pid, bool self, Usage& out, Reading& r) override;
  void close() noexcept override;

 private:
  Result<void> open(Reading& r);
  Slot slot_of(std::uint64_t id);
  [[nodiscard]] Device identity_of(const Accelerator& a, std::uint32_t index) const;
  Result<const Accelerator*> find(Slot number) const;
  // Whether the GPU's memory is host memory.
  [[nodiscard]] bool is_unified(const Accelerator& a) const;
  [[nodiscard]] std::optional<std::uint64_t> budget_of(const Accelerator& a) const;
  [[nodiscard]] Pool unified_pool(const Accelerator& a) const;
  [[nodiscard]] Pool vram_pool(const Accelerator& a) const;
  void explain(const Pool& p, const Accelerator& a, Slot number, Reading& r) const;

  // Reads this reading's rates on first use.
  const Rates& now();
  const std::vector<Thermometer>& temperatures();
  void take_telemetry(const Accelerator& a, FieldSet fields, hmn::Telemetry& out);
  [[nodiscard]] Failure why_absent(FieldSet field, const Accelerator& a);

  Result<void> can_attribute() const;

  const mach::Kernel& k_;
  const Loader load_;
  std::optional<Frameworks> frameworks_;
  std::vector<std::uint64_t> known_;  // registry entries; the index is the slot
  bool is_apple_ = false;             // an Apple SoC, not an Intel Mac
  Text<96> chip_;
  std::vector<double> clocks_;
  MetalDevices budgets_;
  Report report_;
  Sensors sensors_;
  CounterHistory history_;
  GraphicsLedger ledger_;

  std::vector<Accelerator> accelerators_;
  std::optional<Rates> rates_;
  std::optional<std::vector<Thermometer>> temperatures_;
};

}  // namespace hmn::metal
