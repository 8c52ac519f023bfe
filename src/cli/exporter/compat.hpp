// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <hypomnesis.hpp>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/exporter/samples.hpp"

namespace hmn::cli {

enum class Transfer : std::uint8_t { pcie_sent, pcie_received, links };

// Bytes in a second between two readings, for the names of exporters that have no counters of them.
// Unknown at the first reading, where a counter was reset, and where the driver's counter is too
// short to be followed.
class TransferRates {
 public:
  void update(const hypomnesis::snapshot_values& snapshot);
  std::optional<double> find(std::uint32_t device_index, Transfer transfer) const;

 private:
  struct Counter {
    std::uint64_t bytes = 0;
    std::uint32_t parts = 0;  // links that are added up; 0: unknown
    bool is_exact = true;
    std::uint64_t time_ns = 0;
    std::uint64_t suspended_ns = 0;  // at that time: cli::suspended_ns()
  };
  struct CounterHistory {
    Counter last;
    std::optional<double> rate;
  };
  static void update_rate(CounterHistory& history, const Counter& now);

  std::map<std::uint32_t, std::array<CounterHistory, 3>> histories_;
};

// Names of other exporters.
enum class Dialect : std::uint8_t { dcgm, nvidia_smi };

constexpr std::string_view dialect_words[] = {"dcgm", "nvidia-smi"};

// Adds the samples of the families in compat.def.
void collect_compatible(Dialect dialect, const std::vector<hypomnesis::snapshot_device>& devices,
                        const TransferRates& rates, Samples& samples);

}  // namespace hmn::cli
