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
enum class call : std::uint32_t {
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
struct window {
  std::uint64_t from = 1;
  std::optional<std::uint64_t> count;

  [[nodiscard]] bool holds(std::uint64_t reading) const noexcept {
    return reading >= from && (!count || reading - from < *count);
  }
};

struct fault {
  call on = call::any;
  window when;
  FieldSet fields = 0;  // presence bits; 0: the whole call
  failure why;
};

struct delay {
  call on = call::any;
  window when;
  std::uint64_t ns = 0;
  bool forever = false;
  std::string until;  // path to wait for
};

struct conduct {
  std::vector<fault> faults;
  std::vector<delay> delays;
};

struct described_row {
  usage value;
  bool is_self = false;
  std::unique_ptr<const failure> missing;  // why `used` is absent, as the file has it
};

struct described_metric {
  metric value;
  bool is_slow = false;
  std::optional<failure> missing;  // why neither value is there
};

// Type of a member of `device` in a described_device: a text takes only its own length, since a
// machine may have 100,000 devices.
template <class T>
struct kept {
  using type = T;
};
template <std::size_t N>
struct kept<text<N>> {
  using type = std::string;
};
template <class T>
using kept_as = typename kept<T>::type;

struct described_identity {
#define HMN_KEPT_MEMBER(member, c_member, bit, type, ...) kept_as<type> member{};
  HMN_DEVICE_FIELDS(HMN_KEPT_MEMBER)
#undef HMN_KEPT_MEMBER
  slot number = 0;
  std::optional<slot> parent;
};
device as_device(const described_identity& d) noexcept;

struct described_device {
  described_identity identity;
  std::unique_ptr<const pools> memory;  // none: no pool
  std::unique_ptr<const hmn::telemetry> load;
  std::vector<described_row> rows;
  std::vector<described_metric> metrics;
  std::vector<group> groups;
  hmn::simulated::conduct conduct;
};

struct described_process {
  process_memory memory;
  usage facts;  // name, name_state, start, owner
};

inline std::uint32_t pid_of(const described_process& p) noexcept {
  return p.memory.pid;
}

struct machine {
  text<96> version;
  bool foreign_pids = false;
  bool real_host = false;  // data not in the file is read from this host
  std::vector<described_device> devices;
  std::vector<std::size_t> positions;  // [slot]: in `devices`, from 1; 0: not there
  std::optional<described_process> self;
  std::vector<described_process> processes;  // by pid
  std::optional<system_memory> system;
  hmn::simulated::conduct conduct;

  [[nodiscard]] const described_device* find(slot number) const noexcept {
    const std::size_t at = number < positions.size() ? positions[number] : 0;
    return at != 0 ? &devices[at - 1] : nullptr;
  }
  [[nodiscard]] const described_process* find_process(std::uint32_t pid) const noexcept {
    const auto at = std::ranges::lower_bound(processes, pid, {}, pid_of);
    return at != processes.end() && pid_of(*at) == pid ? &*at : nullptr;
  }
};

}  // namespace hmn::simulated
