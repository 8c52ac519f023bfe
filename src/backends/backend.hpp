// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The one interface of all sources of measurement. A source knows nothing of another source, of
// core's policy or of the C structs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/device.hpp"
#include "model/diagnostic.hpp"
#include "model/failure.hpp"
#include "model/group_memory.hpp"
#include "model/host_memory.hpp"
#include "model/metric.hpp"
#include "model/pool.hpp"
#include "model/telemetry.hpp"
#include "model/usage.hpp"

namespace hmn {

// What a context was told; it does not change after the first reading.
struct settings {
  std::string proc_root = "/proc";
  std::string sys_root = "/sys";
  std::string dev_root;         // empty: "/dev" for the usual sysfs tree, none for another
  std::string cgroup_root;      // empty: found in mountinfo
  std::string nvml_path;        // empty: by soname through the system loader
  std::string nvidia_smi_path;  // empty: in the known folders; so the next three
  std::string rocm_smi_path;
  std::string amd_smi_path;
  std::string macmon_path;
  std::string simulation_path;  // empty: off
  std::uint64_t sources_off = 0;
  std::uint64_t idle_close_ns = 2'000'000'000;
  std::uint64_t rescan_ns = 2'000'000'000;  // all processes are looked through this often
  bool no_subprocess = false;
  bool wake_devices = false;
  bool no_threads = false;
  bool trace = false;
  bool record = false;

  [[nodiscard]] bool is_on(source id) const noexcept {
    return (sources_off >> static_cast<unsigned>(id) & 1U) == 0;
  }
};

// One reading, as a source sees it: how long it may take and where its remarks go.
class reading {
 public:
  virtual ~reading() = default;

  // Absolute, monotonic: a source that can bound its own waiting keeps to it.
  [[nodiscard]] virtual std::uint64_t deadline_ns() const noexcept = 0;
  [[nodiscard]] virtual bool wants_trace() const noexcept = 0;
  // False: nobody reads the remarks of this reading, so that none need be made.
  [[nodiscard]] virtual bool wants_remarks() const noexcept { return true; }
  virtual void remark(diagnostic d) = 0;
  // Around the opening of a vendor library, which has a deadline of its own.
  virtual void opening() noexcept = 0;
  virtual void opened() noexcept = 0;
};

struct source_state {
  hmn::state state = hmn::state::unknown;
  failure why;  // status::ok when it serves
  text<96> version;
};

// The host's memory and processes. Never blocks; called from any thread at once.
class host_source {
 public:
  virtual ~host_source() = default;

  [[nodiscard]] virtual source id() const noexcept = 0;
  // `fields` are process_memory_field bits, never 0. Succeeds when at least one was read; the
  // reasons of the others are lost here: ask for one to learn its own.
  virtual result<void> memory(std::uint32_t pid, std::uint32_t fields, process_memory& out) = 0;
  virtual result<void> own_memory(std::uint32_t fields, process_memory& out) = 0;
  virtual result<void> system(system_memory& out) = 0;
  // Fills what is still unknown of: name, name_state, start_unix_ns, uid, host_resident.
  virtual void describe(usage& row) = 0;
  // The same for what costs more and only lists of processes need: command, container.
  virtual void describe_texts(usage& row) = 0;
  // Folders of the caller's control groups (v2), the innermost first; none where they cannot be
  // seen.
  virtual void own_groups(std::vector<std::string>& out) { static_cast<void>(out); }
  // "docker:1c8f…" for a group's path that is a container's; else nothing.
  virtual void name_group(std::string_view path, std::string& out) {
    static_cast<void>(path);
    static_cast<void>(out);
  }
  // What control groups hold of devices. On a failure some are missing.
  virtual result<void> groups(group_memory& out) {
    static_cast<void>(out);
    return {};
  }
  // Adds what the system allows of a device's pools, by its PCI address, after the device's own
  // sources have filled them.
  virtual void limit(std::string_view pci_bus_id, pools& all) {
    static_cast<void>(pci_bus_id);
    static_cast<void>(all);
  }
  // How a source fares that adds to this one; nothing: it is not here.
  virtual std::optional<source_state> describe_source(source which) {
    static_cast<void>(which);
    return std::nullopt;
  }
};

// GPUs. One thread at a time calls it, except probe-free accessors id and can_block.
class device_source {
 public:
  virtual ~device_source() = default;

  [[nodiscard]] virtual source id() const noexcept = 0;
  // Whether its calls may hang in a driver: core then makes them on a worker.
  [[nodiscard]] virtual bool can_block() const noexcept = 0;

  // Is it here? Cheap and without waking anything; called on the caller's thread before a worker is
  // started. A failure (no_source, with a sentence) is a conclusive no for this reading.
  virtual result<void> probe() = 0;
  // Opens what the other calls need, if it is not open. asleep: not opened, since a device would
  // have to wake; devices() still answers then, with identity only.
  virtual result<void> prepare(reading& r) = 0;
  // Appends every device, in the driver's order; partitions follow their parent. A device seen
  // before and gone now is not listed.
  virtual result<void> devices(std::vector<device>& out, reading& r) = 0;
  virtual result<void> memory(slot number, pools& out, reading& r) = 0;
  // `fields` are telemetry_field bits. Reports each missing one as a remark; fails when all are
  // missing.
  virtual result<void> telemetry(slot number, std::uint32_t fields, hmn::telemetry& out,
                                 reading& r) = 0;
  // Appends single numbers, each with its own source (model/metric.hpp): those that telemetry has
  // no field for, and for those that it has, each instance (every sensor, every clock). `slow`:
  // also what takes more than a few milliseconds. A number that fails is a remark and voids no
  // other; nothing to tell is an empty list, not a failure.
  virtual result<void> metrics(slot number, bool slow, std::vector<metric>& out, reading& r) {
    static_cast<void>(number);
    static_cast<void>(slow);
    static_cast<void>(out);
    static_cast<void>(r);
    return {};
  }
  // Appends one row for each process.
  virtual result<void> processes(slot number, std::vector<usage>& out, reading& r) = 0;
  // What one process uses; absent `used` with a remark where its figure cannot be known. 0 is a
  // claim. `self`: pid is the caller's own, as the caller's PID namespace counts.
  virtual result<void> process(slot number, std::uint32_t pid, bool self, usage& out,
                               reading& r) = 0;

  // At the end of each reading, within its deadline.
  virtual void finish(reading& r) { static_cast<void>(r); }
  // Whether it was left alone in this reading, so that a device can fall asleep: what it told last
  // stands, and is stale.
  [[nodiscard]] virtual bool rests() const noexcept { return false; }

  // After the last call of a reading: whether the source must be closed when idle, since a device
  // of it could sleep.
  [[nodiscard]] virtual bool close_when_idle() const noexcept { return false; }
  virtual void close() noexcept = 0;
  // Whether it tells how this source fares: its own, and those of the drivers that stand in it.
  [[nodiscard]] virtual bool answers_for(source which) const noexcept { return which == id(); }
  [[nodiscard]] virtual source_state describe(source which) const = 0;
};

// Keeps what all sources of a context read.
class machine_recorder {
 public:
  virtual ~machine_recorder() = default;
  // So far, as a machine file; nothing that tells who the machine belongs to.
  [[nodiscard]] virtual result<std::string> text() const = 0;
};

}  // namespace hmn
