// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "backends/simulated/scenario.hpp"
#include "platform/recording.hpp"
#include "source/interface.hpp"

namespace hmn::simulated {

// Records what the sources of one context read, and writes it as a machine file.
class Recorder final : public MachineRecorder {
 public:
  explicit Recorder(const Settings& s)
      : settings_(s),
        answers_(std::make_shared<platform::Recording>(platform::Recording::Use::keep)),
        reported_(std::make_shared<Scenario>()) {}

  [[nodiscard]] const std::shared_ptr<platform::Recording>& answers() const { return answers_; }
  [[nodiscard]] const std::shared_ptr<Scenario>& reported() const { return reported_; }
  Result<void> text(std::string& out) const override;

 private:
  const Settings settings_;
  const std::shared_ptr<platform::Recording> answers_;
  const std::shared_ptr<Scenario> reported_;  // of sources that read no files: NVML
};

}  // namespace hmn::simulated
