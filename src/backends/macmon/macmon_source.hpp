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
class MacmonSource final : public DeviceSource {
 public:
  // `is_root`: the caller has all privileges.
  MacmonSource(const std::string& path, bool is_root);

  Result<void> probe() override;
  Result<void> prepare(Reading& reading) override;
  Result<void> devices(std::vector<Device>& out, Reading& reading) override;
  Result<void> memory(Slot slot, PoolList& out, Reading& reading) override;
  Result<void> telemetry(Slot slot, FieldSet fields, hmn::Telemetry& out,
                         Reading& reading) override;
  Result<void> metrics(Slot slot, bool include_slow, std::vector<Metric>& out, Reading& reading) override;
  void close() noexcept override { sample_.reset(); }

 private:
  // Runs the command unless this reading already did.
  Result<void> load(Reading& reading);
  Result<void> run(Reading& reading);
  Result<const Sample*> find(Slot slot, Reading& reading);

  command_tool::Program program_;
  const bool may_be_planted_;
  bool is_plain_ = false;  // the version has no option for the chip's name
  Text<96> chip_;

  std::optional<Result<void>> load_result_;
  std::optional<Sample> sample_;
};

}  // namespace hmn::macmon
