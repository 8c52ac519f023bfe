// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Values of a source that reads no files, recorded as the devices of a machine file.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "backends/simulated/neutral.hpp"
#include "model/json_writer.hpp"
#include "platform/mutex.hpp"
#include "source/interface.hpp"

namespace hmn::simulated {

class Scenario {
 public:
  void listed(const std::vector<Device>& all);
  void reported(Slot number, const Result<void>& outcome, const Pools& value);
  void reported(Slot number, const Result<void>& outcome, const Telemetry& value);
  void reported(Slot number, const Result<void>& outcome, const std::vector<Usage>& rows);
  void reported(Slot number, const Result<void>& outcome, const std::vector<Metric>& numbers);
  void is(const SourceState& now);
  // Records that the source could not be opened.
  void refused(const Failure& why);

  // Writes "version", "devices" and "failures".
  void write(json::Writer& to, Neutral& by) const;

 private:
  struct ListedDevice {
    Device identity;
    Pools memory;
    std::optional<hmn::Telemetry> load;
    std::vector<Metric> numbers;
    std::vector<Usage> rows;
    std::vector<std::pair<std::string_view, Failure>> failures;  // by call
  };

  ListedDevice* find(Slot number);
  void settle(ListedDevice& d, std::string_view call, const Result<void>& outcome);
  void write_device(json::Writer& to, Neutral& by, const ListedDevice& d) const;

  mutable platform::Mutex mutex_;
  bool is_asked_ = false;
  std::string version_;
  std::optional<Failure> refusal_;
  std::vector<ListedDevice> devices_;
};

}  // namespace hmn::simulated
