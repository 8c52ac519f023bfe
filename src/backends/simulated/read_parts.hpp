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

enum class Level { source, device };

// Reads "failures" and "delays".
FaultScript read_fault_script(ObjectReader& reader, Level level);

// Reads "status", "native" and "message"; `subject` is what failed, for the default message.
Failure read_failure(ObjectReader& reader, std::string_view subject);

std::uint32_t read_notes(ObjectReader& reader);

// Reads "pid": a number, or "self".
void read_pid(ObjectReader& reader, std::uint32_t self_pid, Usage& out, bool& is_self);

// Reads "name", "name_state", "uid" and "start_unix_ns".
void read_facts(ObjectReader& reader, Usage& out);

void read_row(const json::Value& value, const JsonPath& path, Problems& problems,
              std::uint32_t self_pid, DescribedRow& out);

DescribedMetric read_metric(const json::Value& value, const JsonPath& path, Problems& problems);

std::unique_ptr<const Telemetry> read_telemetry(ObjectReader& device);
std::unique_ptr<const PoolList> read_pools(ObjectReader& device);

// Numbers the devices of all of a machine's states, in order of first appearance, so that a device
// keeps its number.
class DeviceNumbers {
 public:
  // A machine without changes has each position, UUID and PCI address of a whole device only once;
  // its reader checks the latter two.
  explicit DeviceNumbers(bool has_changes) : has_changes_(has_changes) {}

  Slot find_or_add(std::string key);
  Slot add_unique(const char* prefix, const std::string& key) {
    return has_changes_ ? find_or_add(prefix + key) : count_++;
  }
  // Finds the number of a device without a key by its position in the list or in its parent.
  Slot find_or_add(std::optional<Slot> parent, std::size_t position);

 private:
  bool has_changes_;
  Slot count_ = 0;
  std::unordered_map<std::string, Slot> key_numbers_;
  std::vector<std::optional<Slot>> position_numbers_;  // in the list
  std::unordered_map<std::uint64_t, Slot> parent_numbers_;
};

void read_devices(ObjectReader& root, std::uint32_t self_pid, DeviceNumbers& numbers, Machine& out);

// Returns the position of a key that occurs earlier as well. Most files have them in order.
template <class Key>
std::optional<std::size_t> find_repeated(const std::vector<Key>& keys) {
  if (std::ranges::adjacent_find(keys, std::greater_equal()) == keys.end()) return {};
  const std::vector<std::uint32_t> sorted = sort_positions(
      keys.size(), [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (keys[sorted[i - 1]] == keys[sorted[i]]) return sorted[i];
  }
  return {};
}
void read_host(ObjectReader& root, Machine& out);

}  // namespace hmn::simulated
