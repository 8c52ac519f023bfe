// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Readers of the parts of a machine file. They add errors to the reader's problems.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backends/simulated/machine.hpp"
#include "backends/simulated/reader.hpp"
#include "model/sort.hpp"

namespace hmn::simulated {

enum class level { source, device };

// Reads "failures" and "delays".
conduct read_conduct(object_reader& o, level where);

// Reads "status", "native" and "message"; `what` names what failed if there is no message.
failure read_failure(object_reader& o, std::string_view what);

std::uint32_t read_notes(object_reader& o);

// Reads "pid": a number, or "self".
void read_pid(object_reader& o, std::uint32_t self_pid, usage& out, bool& is_self);

// Reads "name", "name_state", "uid" and "start_unix_ns".
void read_facts(object_reader& o, usage& out);

void read_row(const json::value& v, const place& at, problems& found, std::uint32_t self_pid,
              described_row& out);

described_metric read_metric(const json::value& v, const place& at, problems& found);

std::unique_ptr<const telemetry> read_telemetry(object_reader& device);
std::unique_ptr<const pools> read_pools(object_reader& device);

// Numbers the devices of all of a machine's states, in order of first appearance, so that a device
// keeps its number.
class device_numbers {
 public:
  // A machine without changes has each position, UUID and PCI address of a whole device only once;
  // its reader checks the latter two.
  explicit device_numbers(bool has_changes) : has_changes_(has_changes) {}

  slot of(std::string key);
  slot of_unique(const char* what, const std::string& key) {
    return has_changes_ ? of(what + key) : count_++;
  }
  // Finds the number of a device without a key by its position in the list or in its parent.
  slot of(std::optional<slot> parent, std::size_t position);

 private:
  bool has_changes_;
  slot count_ = 0;
  std::unordered_map<std::string, slot> by_key_;
  std::vector<std::optional<slot>> by_position_;  // in the list
  std::unordered_map<std::uint64_t, slot> by_parent_;
};

void read_devices(object_reader& root, std::uint32_t self_pid, device_numbers& numbers,
                  machine& out);

// Returns the position of a key that occurs earlier as well. Most files have them in order.
template <class Key>
std::optional<std::size_t> find_repeated(const std::vector<Key>& keys) {
  if (std::ranges::adjacent_find(keys, std::greater_equal()) == keys.end()) return {};
  const std::vector<std::uint32_t> sorted = sorted_positions(
      keys.size(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (keys[sorted[i - 1]] == keys[sorted[i]]) return sorted[i];
  }
  return {};
}
void read_host(object_reader& root, machine& out);

}  // namespace hmn::simulated
