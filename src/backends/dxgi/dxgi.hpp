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
std::unique_ptr<device_source> make_dxgi(std::unique_ptr<wddm::counters> counters);

}  // namespace hmn

namespace hmn::dxgi {

// The adapters of the Windows display driver model: identity and budget from DXGI, usage from the
// performance counters.
class dxgi_source final : public device_source {
 public:
  explicit dxgi_source(std::unique_ptr<wddm::counters> counters, create_factory create = nullptr,
                       const std::optional<kernel_functions>& fn = {});

  result<void> prepare(reading& r) override;
  result<void> devices(std::vector<device>& out, reading& r) override;
  result<void> memory(slot number, pools& out, reading& r) override;
  result<void> telemetry(slot number, FieldSet fields, hmn::telemetry& out, reading& r) override;
  result<void> metrics(slot number, bool slow, std::vector<metric>& out, reading& r) override;
  result<void> processes(slot number, std::vector<usage>& out, reading& r) override;
  result<void> process(slot number, std::uint32_t pid, bool self, usage& out, reading& r) override;
  void close() noexcept override;
  source_state describe(source which) const override;

 private:
  // Index is the slot.
  struct known {
    wddm::luid id = 0;
    kernel_facts facts;
  };

  slot number_of(wddm::luid id);
  [[nodiscard]] device who(slot number, const adapter& a) const;
  result<adapter*> find(slot number);
  result<own_memory> own_memory_of(const adapter& a) const;
  [[nodiscard]] bool is_unified(const adapter& a) const;
  result<void> own_usage(const adapter& a, usage& out);
  result<void> listed_usage(const adapter& a, std::uint32_t pid, usage& out);
  result<wddm::loads> loads_of(const adapter& a);

  std::unique_ptr<wddm::counters> counters_;
  adapters adapters_;
  std::optional<kernel> kernel_;
  std::vector<known> known_;
  std::optional<failure> why_;
};

}  // namespace hmn::dxgi
