// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <map>
#include <memory>
#include <vector>

#include "cli/measure/session.hpp"
#include "cli/top/rates.hpp"
#include "cli/top/reading.hpp"

namespace hmn::cli::top {

// Readings of GPUs from snapshots, with what needs more than one: rates of counters, spills.
class gpu_reader {
 public:
  explicit gpu_reader(const session& in) : in_(in) {}

  // `only`: the device to read, with its partitions; none: all.
  std::vector<gpu_reading> read(const hypomnesis::snapshot& from,
                                std::optional<std::uint32_t> only);

 private:
  // What is kept of a device.
  struct kept {
    counter_rate received, sent;
    std::unique_ptr<hypomnesis::spill> spill;
  };

  void add_rates(kept& of, const hypomnesis::snapshot& from, gpu_reading& to) const;
  void add_spill(kept& of, const hypomnesis::snapshot& from, gpu_reading& to) const;

  const session& in_;
  std::map<std::uint32_t, kept> all_;  // by device
};

}  // namespace hmn::cli::top
