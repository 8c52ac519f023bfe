// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Values of a source that reads no files, recorded as the devices of a machine file.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "backends/simulated/anonymizer.hpp"
#include "model/json_writer.hpp"
#include "platform/mutex.hpp"
#include "source/interface.hpp"

namespace hmn::simulated {

class DeviceRecording {
 public:
  void record_devices(const std::vector<Device>& devices);
  void record(Slot slot, const Result<void>& outcome, const PoolList& value);
  void record(Slot slot, const Result<void>& outcome, const Telemetry& value);
  void record(Slot slot, const Result<void>& outcome, const std::vector<Usage>& rows);
  void record(Slot slot, const Result<void>& outcome, const std::vector<Metric>& metrics);
  void set_state(const SourceState& state);
  // Records that the source could not be opened.
  void record_open_failure(const Failure& failure);

  // Writes "version", "devices" and "failures".
  void write(json::Writer& writer, Anonymizer& anonymizer) const;

 private:
  struct ListedDevice {
    Device identity;
    PoolList memory;
    std::optional<hmn::Telemetry> telemetry;
    std::vector<Metric> metrics;
    std::vector<Usage> rows;
    std::vector<std::pair<std::string_view, Failure>> failures;  // by call
  };

  ListedDevice* find(Slot slot);
  void store_outcome(ListedDevice& device, std::string_view call, const Result<void>& outcome);
  void write_device(json::Writer& writer, Anonymizer& anonymizer, const ListedDevice& device) const;

  mutable platform::Mutex mutex_;
  bool was_queried_ = false;
  std::string version_;
  std::optional<Failure> open_failure_;
  std::vector<ListedDevice> devices_;
};

}  // namespace hmn::simulated
