// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exporter/sample.hpp"

namespace hmn::cli {

// By what the memory of processes is added up.
enum class grouping : std::uint8_t { process, user, container, pod, job, unit };

// Returns none for an unknown word.
std::optional<grouping> grouping_of(std::string_view text) noexcept;
// "process, user, container, pod, job or unit"
extern const std::string_view grouping_words;

// Most groups of a kind that are written for each GPU: those with the most memory.
constexpr std::size_t most_groups = 100;

// Adds up what processes use of each GPU. Not for several threads at once: it keeps the names of
// users, which may come over a network.
class workloads {
 public:
  // `reads_proc`: the processes are of this machine's proc tree.
  workloads(std::vector<grouping> by, bool reads_proc)
      : by_(std::move(by)), reads_proc_(reads_proc) {}

  void collect(const hypomnesis::snapshot_values& from, samples& to);

 private:
  const std::string& user_name(std::uint32_t pid, std::uint32_t uid);

  std::vector<grouping> by_;
  bool reads_proc_;
  std::map<std::uint32_t, std::string> users_;
};

}  // namespace hmn::cli
