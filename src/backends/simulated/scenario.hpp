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

class scenario {
 public:
  void listed(const std::vector<device>& all);
  void reported(slot number, const result<void>& outcome, const pools& value);
  void reported(slot number, const result<void>& outcome, const telemetry& value);
  void reported(slot number, const result<void>& outcome, const std::vector<usage>& rows);
  void reported(slot number, const result<void>& outcome, const std::vector<metric>& numbers);
  void is(const source_state& now);
  // Records that the source could not be opened.
  void refused(const failure& why);

  // Writes "version", "devices" and "failures".
  void write(json::writer& to, neutral& by) const;

 private:
  struct listed_device {
    device identity;
    pools memory;
    std::optional<hmn::telemetry> load;
    std::vector<metric> numbers;
    std::vector<usage> rows;
    std::vector<std::pair<std::string_view, failure>> failures;  // by call
  };

  listed_device* find(slot number);
  void settle(listed_device& d, std::string_view call, const result<void>& outcome);
  void write_device(json::writer& to, neutral& by, const listed_device& d) const;

  mutable platform::mutex mutex_;
  bool is_asked_ = false;
  std::string version_;
  std::optional<failure> refusal_;
  std::vector<listed_device> devices_;
};

}  // namespace hmn::simulated
