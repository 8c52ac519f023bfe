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
  // `use_default`: create the default device if Metal lists none. On Macs with two GPUs that would
  // switch to the stronger one.
  void open(const Frameworks& frameworks, bool use_default);
  [[nodiscard]] std::vector<MetalDevice> read() const;
  void close() noexcept;

 private:
  const Frameworks* frameworks_ = nullptr;
  OwnedRef list_;            // all devices
  OwnedRef default_device_;  // else the default device
};

// The kernel's ledger of each task, which counts memory as graphics and as owned by the task.
class GraphicsLedger {
 public:
  explicit GraphicsLedger(const mach::Kernel& kernel) : kernel_(kernel) {}

  // 0 is the kernel's count, not a missing value.
  Result<std::uint64_t> read_used_bytes(std::uint32_t pid);
  // Lists the processes of all users.
  [[nodiscard]] Result<std::vector<int>> list_processes() const;

 private:
  // Finds an entry's index by its name.
  Result<std::size_t> find_entry_index();

  const mach::Kernel& kernel_;
  std::optional<std::size_t> entry_index_;
};

// The GPUs of macOS, from the IOKit registry, Metal, the kernel's ledgers, IOReport and the
// sensors. Nothing here needs root.
class MetalSource final : public DeviceSource {
 public:
  using Loader = Result<Frameworks> (*)();

  MetalSource(const mach::Kernel& kernel, Loader load)
      : DeviceSource(Source::metal, CallBehavior::may_block),
        kernel_(kernel),
        load_(load),
        ledger_(kernel) {}

  Result<void> probe() override;
  Result<void> prepare(Reading& reading) override;
  Result<void> devices(std::vector<Device>& out, Reading& reading) override;
  Result<void> memory(Slot slot, PoolList& out, Reading& reading) override;
  Result<void> telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                         Reading& reading) override;
  Result<void> metrics(Slot slot, bool include_slow, std::vector<Metric>& out, Reading& reading) override;
  Result<void> processes(Slot slot, std::vector<Usage>& out, Reading& reading) override;
  Result<void> process(Slot slot, std::uint32_t pid, bool self, Usage& out,
                       Reading& reading) override;
  void close() noexcept override;

 private:
  Result<void> open(Reading& reading);
  Slot find_or_add_slot(std::uint64_t id);
  [[nodiscard]] Device describe_device(const Accelerator& accelerator, std::uint32_t index) const;
  Result<const Accelerator*> find(Slot slot) const;
  // Whether the GPU's memory is host memory.
  [[nodiscard]] bool is_unified(const Accelerator& accelerator) const;
  [[nodiscard]] std::optional<std::uint64_t> find_budget(const Accelerator& accelerator) const;
  [[nodiscard]] Pool make_unified_pool(const Accelerator& accelerator) const;
  [[nodiscard]] Pool make_vram_pool(const Accelerator& accelerator) const;
  void explain_missing_values(const Pool& pool, const Accelerator& accelerator, Slot slot,
                              Reading& reading) const;

  // Reads this reading's rates on first use.
  const Rates& current_rates();
  const std::vector<Thermometer>& read_temperatures();
  void read_telemetry(const Accelerator& accelerator, FieldSet fields, hmn::Telemetry& out);
  [[nodiscard]] Failure explain_missing_field(FieldSet field, const Accelerator& accelerator);

  Result<void> check_attribution() const;

  const mach::Kernel& kernel_;
  const Loader load_;
  std::optional<Frameworks> frameworks_;
  std::vector<std::uint64_t> accelerator_ids_;  // registry entries; the index is the slot
  bool is_apple_ = false;                       // an Apple SoC, not an Intel Mac
  Text<96> chip_;
  std::vector<double> clocks_;
  MetalDevices metal_devices_;
  ChannelReader channel_reader_;
  Sensors sensors_;
  CounterHistory history_;
  GraphicsLedger ledger_;

  std::vector<Accelerator> accelerators_;
  std::optional<Rates> rates_;
  std::optional<std::vector<Thermometer>> temperatures_;
};

}  // namespace hmn::metal
