// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>

#include "cli/top/history.hpp"
#include "cli/top/reading.hpp"

namespace hmn::cli::top {

struct gpu_history {
  history load, memory, power, temperature, received, sent;
};

struct process_history {
  static constexpr std::size_t slots = 60;
  history load{slots}, vram{slots}, ram{slots}, cpu{slots};
  std::uint64_t last_ns = 0;  // last reading with the process
};

// Curves of everything that was read. Of processes at most a fixed number is kept: one that is
// there is never dropped for another.
class histories {
 public:
  static constexpr std::size_t most_processes = 256;

  void add(const machine_reading& now);
  const gpu_history* of_gpu(std::uint32_t index) const;
  const process_history* of_process(const process_identity& who) const;

 private:
  void add_processes(const machine_reading& now);
  process_history* kept_for(const process_identity& who, std::uint64_t now_ns);

  std::map<std::uint32_t, gpu_history> gpus_;
  std::map<process_identity, process_history> processes_;
};

}  // namespace hmn::cli::top
