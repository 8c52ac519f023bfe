// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "backends/tegra/nvmap.hpp"
#include "backends/tegra/sensors.hpp"

namespace hmn::tegra {

// An SoC has one GPU.
class tegra_source final : public device_source {
 public:
  explicit tegra_source(const settings& s);

  source id() const noexcept override { return source::tegra; }
  bool can_block() const noexcept override { return false; }  // files of sysfs

  result<void> probe() override;
  result<void> prepare(reading& r) override;
  result<void> devices(std::vector<device>& out, reading& r) override;
  result<void> memory(slot number, pools& out, reading& r) override;
  result<void> telemetry(slot number, std::uint32_t fields, hmn::telemetry& out,
                         reading& r) override;
  result<void> metrics(slot number, bool slow, std::vector<metric>& out, reading& r) override;
  result<void> processes(slot number, std::vector<usage>& out, reading& r) override;
  result<void> process(slot number, std::uint32_t pid, bool self, usage& out, reading& r) override;
  void close() noexcept override { gpu_ = {}; }
  source_state describe(source which) const override;

 private:
  [[nodiscard]] result<void> find(slot number) const;
  void look();
  void find_sensors();
  // Fails where the file is for root alone, or not there.
  [[nodiscard]] result<nvmap_clients> read_clients() const;

  std::string sys_root_;
  std::string proc_root_;
  bool may_wake_;
  bool is_asleep_ = false;
  gpu gpu_;
  rail rail_;
  bool is_sure_ = false;     // of both places
  std::string thermometer_;  // folder of the thermal zone; empty: none
};

}  // namespace hmn::tegra
