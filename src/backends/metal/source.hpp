// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "backends/mach/kernel.hpp"
#include "backends/metal/budget.hpp"
#include "backends/metal/counters.hpp"
#include "backends/metal/frameworks.hpp"
#include "backends/metal/ledger.hpp"
#include "backends/metal/registry.hpp"
#include "backends/metal/sensors.hpp"

namespace hmn::metal {

// GPUs of macOS, from the IOKit registry, Metal, the kernel's ledgers, IOReport and the sensors.
// Nothing needs root.
class metal_source final : public device_source {
 public:
  using loader = result<frameworks> (*)();

  metal_source(const mach::kernel& k, loader load) : k_(k), load_(load), ledger_(k) {}

  source id() const noexcept override { return source::metal; }
  bool can_block() const noexcept override { return true; }

  result<void> probe() override;
  result<void> prepare(reading& r) override;
  result<void> devices(std::vector<device>& out, reading& r) override;
  result<void> memory(slot number, pools& out, reading& r) override;
  result<void> telemetry(slot number, std::uint32_t fields, hmn::telemetry& out,
                         reading& r) override;
  result<void> metrics(slot number, bool slow, std::vector<metric>& out, reading& r) override;
  result<void> processes(slot number, std::vector<usage>& out, reading& r) override;
  result<void> process(slot number, std::uint32_t pid, bool self, usage& out, reading& r) override;
  void close() noexcept override;
  source_state describe(source which) const override;

 private:
  result<void> open(reading& r);
  slot slot_of(std::uint64_t id);
  [[nodiscard]] device identity_of(const accelerator& a, std::uint32_t index) const;
  result<const accelerator*> find(slot number) const;
  // Whether its memory is host memory.
  [[nodiscard]] bool is_unified(const accelerator& a) const;
  [[nodiscard]] std::optional<std::uint64_t> budget_of(const accelerator& a) const;
  [[nodiscard]] pool unified_pool(const accelerator& a) const;
  [[nodiscard]] pool vram_pool(const accelerator& a) const;
  void explain(const pool& p, const accelerator& a, slot number, reading& r) const;

  // Rates of this reading, read on first use.
  const rates& now();
  const std::vector<thermometer>& temperatures();
  void take_telemetry(const accelerator& a, std::uint32_t fields, hmn::telemetry& out);
  [[nodiscard]] failure why_absent(std::uint32_t field, const accelerator& a);

  result<void> can_tell_processes() const;

  const mach::kernel& k_;
  const loader load_;
  std::optional<frameworks> frameworks_;
  std::vector<std::uint64_t> known_;  // registry entries; the index is the slot
  bool is_apple_ = false;             // an Apple SoC, not an Intel Mac
  text<96> chip_;
  text<96> system_;
  std::vector<double> clocks_;
  metal_devices budgets_;
  report report_;
  sensors sensors_;
  counter_history history_;
  graphics_ledger ledger_;
  failure condition_{status::empty, source::metal, {}, {}};

  std::vector<accelerator> accelerators_;
  std::optional<rates> rates_;
  std::optional<std::vector<thermometer>> temperatures_;
};

}  // namespace hmn::metal
