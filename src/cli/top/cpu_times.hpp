// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>

#include "cli/system/roots.hpp"
#include "cli/top/rates.hpp"
#include "cli/top/reading.hpp"

namespace hmn::cli::top {

// Processor load of processes, from their counters.
class cpu_times {
 public:
  // Stores the load of each process of this system since the last call.
  void add_to(process_readings& rows, std::uint64_t at_ns);

 private:
  using process = std::pair<std::uint32_t, std::uint64_t>;  // pid, start

  roots roots_ = roots_from_environment();
  std::map<process, counter_rate> all_;
};

}  // namespace hmn::cli::top
