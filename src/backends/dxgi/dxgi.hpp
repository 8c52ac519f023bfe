// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/dxgi/adapters.hpp"
#include "backends/shared/wddm/counters.hpp"

namespace hmn {

// `counters` reports usage; it may be null.
std::unique_ptr<DeviceSource> make_dxgi(std::unique_ptr<wddm::Counters> counters);

}  // namespace hmn

namespace hmn::dxgi {

// The adapters of the Windows display driver model: identity and budget from DXGI, usage from the
// performance counters.
class DxgiSource final : public DeviceSource {
 public:
  explicit DxgiSource(std::unique_ptr<wddm::Counters> counters, CreateFactory create = nullptr,
                      const std::optional<KernelFunctions>& fn = {});

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
  SourceState describe(Source source) const override;

 private:
  // Index is the slot.
  struct KnownAdapter {
    wddm::Luid id = 0;
    KernelFacts facts;
  };

  Slot find_or_add_slot(wddm::Luid id);
  [[nodiscard]] Device make_device(Slot slot, const Adapter& adapter) const;
  Result<Adapter*> find(Slot slot);
  Result<OwnMemory> read_own_memory(const Adapter& adapter) const;
  [[nodiscard]] bool is_unified(const Adapter& adapter) const;
  Result<void> read_own_usage(const Adapter& adapter, Usage& out);
  Result<void> read_listed_usage(const Adapter& adapter, std::uint32_t pid, Usage& out);
  Result<wddm::LoadReading> read_loads(const Adapter& adapter);

  std::unique_ptr<wddm::Counters> counters_;
  AdapterList adapters_;
  std::optional<Kernel> kernel_;
  std::vector<KnownAdapter> known_adapters_;
  std::optional<Failure> failure_;
};

}  // namespace hmn::dxgi
