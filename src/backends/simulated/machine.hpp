// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The machine that a file describes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/device.hpp"
#include "model/failure.hpp"
#include "model/group_memory.hpp"
#include "model/host_memory.hpp"
#include "model/metric.hpp"
#include "model/pool.hpp"
#include "model/telemetry.hpp"
#include "model/text.hpp"
#include "model/usage.hpp"

namespace hmn::simulated {

// The calls that can fail or be slow; `any` is every call to a device's driver.
enum class Call : std::uint32_t {
  any,
  open,
  devices,
  pools,
  telemetry,
  self,
  process,
  processes,
  metrics,
  memory,
  process_memory,
  system,
};

// Range of readings, counted from 1.
struct ReadingRange {
  std::uint64_t first = 1;
  std::optional<std::uint64_t> count;

  [[nodiscard]] bool contains(std::uint64_t reading) const noexcept {
    return reading >= first && (!count || reading - first < *count);
  }
};

struct Fault {
  Call call = Call::any;
  ReadingRange readings;
  FieldSet fields = 0;  // presence bits; 0: the whole call
  Failure failure;
};

struct Delay {
  Call call = Call::any;
  ReadingRange readings;
  std::uint64_t ns = 0;
  bool forever = false;
  std::string release_path;  // path to wait for
};

struct FaultScript {
  std::vector<Fault> faults;
  std::vector<Delay> delays;
};

struct DescribedRow {
  Usage value;
  bool is_self = false;
  std::unique_ptr<const Failure> missing;  // why `used` is absent, as the file has it
};

struct DescribedMetric {
  Metric value;
  bool is_slow = false;
  std::optional<Failure> missing;  // why neither value is there
};

// Type of a member of `Device` in a DescribedIdentity: a text takes only its own length, since a
// machine may have 100,000 devices.
template <class T>
struct CompactType {
  using type = T;
};
template <std::size_t N>
struct CompactType<Text<N>> {
  using type = std::string;
};
template <class T>
using Compact = typename CompactType<T>::type;

struct DescribedIdentity {
#define HMN_COMPACT_MEMBER(member, c_member, bit, type, ...) Compact<type> member{};
  HMN_DEVICE_FIELDS(HMN_COMPACT_MEMBER)
#undef HMN_COMPACT_MEMBER
  Slot slot = 0;
  std::optional<Slot> parent;
};
Device make_device(const DescribedIdentity& d) noexcept;

struct DescribedDevice {
  DescribedIdentity identity;
  std::unique_ptr<const PoolList> memory;  // none: no pool
  std::unique_ptr<const hmn::Telemetry> telemetry;
  std::vector<DescribedRow> rows;
  std::vector<DescribedMetric> metrics;
  std::vector<Group> groups;
  hmn::simulated::FaultScript fault_script;
};

struct DescribedProcess {
  ProcessMemory memory;
  Usage facts;  // name, name_state, start, owner
};

inline std::uint32_t get_pid(const DescribedProcess& process) noexcept {
  return process.memory.pid;
}

struct Machine {
  Text<96> version;
  bool has_foreign_pids = false;
  bool uses_real_host = false;  // data not in the file is read from this host
  std::vector<DescribedDevice> devices;
  std::vector<std::size_t> positions;  // [slot]: in `devices`, from 1; 0: not there
  std::optional<DescribedProcess> self;
  std::vector<DescribedProcess> processes;  // by pid
  std::optional<SystemMemory> system;
  hmn::simulated::FaultScript fault_script;

  [[nodiscard]] const DescribedDevice* find(Slot slot) const noexcept {
    const std::size_t position = slot < positions.size() ? positions[slot] : 0;
    return position != 0 ? &devices[position - 1] : nullptr;
  }
  [[nodiscard]] const DescribedProcess* find_process(std::uint32_t pid) const noexcept {
    const auto it = std::ranges::lower_bound(processes, pid, {}, get_pid);
    return it != processes.end() && get_pid(*it) == pid ? &*it : nullptr;
  }
};

}  // namespace hmn::simulated
