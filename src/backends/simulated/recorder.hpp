// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "backends/simulated/device_recording.hpp"
#include "platform/recording.hpp"
#include "source/interface.hpp"

namespace hmn::simulated {

// Records what the sources of one context read, and writes it as a machine file.
class Recorder final : public MachineRecorder {
 public:
  explicit Recorder(const Settings& settings)
      : settings_(settings),
        recording_(std::make_shared<platform::Recording>(platform::Recording::Mode::record)),
        device_recording_(std::make_shared<DeviceRecording>()) {}

  [[nodiscard]] const std::shared_ptr<platform::Recording>& recording() const { return recording_; }
  [[nodiscard]] const std::shared_ptr<DeviceRecording>& device_recording() const {
    return device_recording_;
  }
  Result<void> write_machine_file(std::string& out) const override;

 private:
  const Settings settings_;
  const std::shared_ptr<platform::Recording> recording_;
  const std::shared_ptr<DeviceRecording> device_recording_;  // of sources that read no files: NVML
};

}  // namespace hmn::simulated
