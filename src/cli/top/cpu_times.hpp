// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>

#include "cli/system/environment.hpp"
#include "cli/top/rates.hpp"
#include "cli/top/reading.hpp"

namespace hmn::cli::top {

// Processor load of processes, from their counters.
class cpu_times {
 public:
  // Time between two counts: each costs a file that is opened.
  static constexpr std::uint64_t least_window_ns = 2'900'000'000;

  // Stores the load of each process of this system, at least over the time above.
  void add_to(process_readings& rows, std::uint64_t at_ns);

 private:
  using process = std::pair<std::uint32_t, std::uint64_t>;  // pid, start

  roots roots_ = roots_from_environment();
  // Count of a process, and the rate since the one before.
  struct kept {
    counter_rate rate;
    std::optional<double> percent;
    std::uint64_t counted_ns = 0;
    bool is_counted = false;
  };
  void count(kept& of, std::uint32_t pid, std::uint64_t at_ns) const;

  std::map<process, kept> all_;
};

}  // namespace hmn::cli::top
