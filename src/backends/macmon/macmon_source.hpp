// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/macmon/sample.hpp"
#include "backends/shared/command_tool/command_source.hpp"
#include "source/interface.hpp"

namespace hmn::macmon {

// GPU of an Apple SoC, read from a command that runs once per reading.
class macmon_source final : public device_source {
 public:
  // `is_root`: the caller has all privileges.
  macmon_source(const std::string& path, bool is_root);

  result<void> probe() override;
  result<void> prepare(reading& r) override;
  result<void> devices(std::vector<device>& out, reading& r) override;
  result<void> memory(slot number, pools& out, reading& r) override;
  result<void> telemetry(slot number, FieldSet fields, hmn::telemetry& out,
                         reading& r) override;
  result<void> metrics(slot number, bool slow, std::vector<metric>& out, reading& r) override;
  void close() noexcept override { now_.reset(); }

 private:
  // Runs the command unless this reading already did.
  result<void> load(reading& r);
  result<void> ask(reading& r);
  result<const sample*> find(slot number, reading& r);

  command_tool::program program_;
  const bool may_be_planted_;
  bool is_plain_ = false;  // the version has no option for the chip's name
  text<96> chip_;

  std::optional<result<void>> loaded_;
  std::optional<sample> now_;
};

}  // namespace hmn::macmon
