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

  Result<void> prepare(Reading& r) override;
  Result<void> devices(std::vector<Device>& out, Reading& r) override;
  Result<void> memory(Slot number, Pools& out, Reading& r) override;
  Result<void> telemetry(Slot number, FieldSet fields, hmn::Telemetry& out, Reading& r) override;
  Result<void> metrics(Slot number, bool slow, std::vector<Metric>& out, Reading& r) override;
  Result<void> processes(Slot number, std::vector<Usage>& out, Reading& r) override;
  Result<void> process(Slot number, std::uint32_t pid, bool self, Usage& out, Reading& r) override;
  void close() noexcept override;
  SourceState describe(Source which) const override;

 private:
  // Index is the slot.
  struct Known {
    wddm::Luid id = 0;
    KernelFacts facts;
  };

  Slot number_of(wddm::Luid id);
  [[nodiscard]] Device who(Slot number, const Adapter& a) const;
  Result<Adapter*> find(Slot number);
  Result<OwnMemory> own_memory_of(const Adapter& a) const;
  [[nodiscard]] bool is_unified(const Adapter& a) const;
  Result<void> own_usage(const Adapter& a, Usage& out);
  Result<void> listed_usage(const Adapter& a, std::uint32_t pid, Usage& out);
  Result<wddm::Loads> loads_of(const Adapter& a);

  std::unique_ptr<wddm::Counters> counters_;
  Adapters adapters_;
  std::optional<Kernel> kernel_;
  std::vector<Known> known_;
  std::optional<Failure> why_;
};

}  // namespace hmn::dxgi
