// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What one kernel driver's cards can tell, and what its fdinfo means. Discovery, the walk over
// /proc, rows and runtime power management are the room's (source.hpp); a driver is a file or a few
// beside it with a switch and a source id of its own, and a line in drivers.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/backend.hpp"
#include "backends/drm/card.hpp"
#include "backends/drm/use.hpp"
#include "model/compose.hpp"
#include "model/failure.hpp"

namespace hmn::drm {

// What all clients of a card use together at least: each client once, whoever holds it, and of what
// they share the largest part, since each of them may hold the same buffers.
struct card_use {
  client_use sum;
  std::uint32_t clients = 0;
  bool is_partial = false;  // processes could not be looked into
};

// How busy the engines of one name were since an earlier walk, as fdinfo of all clients tells.
struct engine_load {
  text<24> name;
  double percent = 0;
  std::uint64_t capacity = 1;            // how many engines of the name there are
  std::optional<std::uint64_t> busy_ns;  // of all of them, since then
};

struct card_load {
  std::span<const engine_load> engines;
  std::uint64_t window_ns = 0;
  bool is_partial = false;
};

// One card within one reading.
class visit {
 public:
  virtual ~visit() = default;

  [[nodiscard]] virtual const card& of() const noexcept = 0;
  // Every card of the machine that this source lists, for those that belong together.
  [[nodiscard]] virtual std::span<const card> all() const noexcept = 0;
  [[nodiscard]] virtual const std::string& sys_root() const noexcept = 0;
  // Runtime suspended, and not to be woken: identity and totals only, and no file of it that takes
  // a reference on its runtime power management.
  [[nodiscard]] virtual bool is_asleep() const noexcept = 0;
  // /dev/dri/renderD128, /dev/accel/accel0; empty: none was given to this container, or there are
  // no nodes beside this sysfs tree. A driver that opens it closes it before it returns.
  [[nodiscard]] virtual std::string node_path(node::kind what) const = 0;
  [[nodiscard]] virtual std::uint64_t deadline_ns() const noexcept = 0;

  // Walks /proc unless this reading has done so. Not while the card is asleep.
  virtual result<card_use> clients() = 0;
  // From two walks; the first fails with status::unsupported.
  virtual result<card_load> load() = 0;

  [[nodiscard]] virtual bool wants_remarks() const noexcept = 0;
  // About a subject (subject::pools …) and its presence bits.
  virtual void remark(failure why, std::uint32_t about, std::uint32_t fields) = 0;
};

// What a card is asked for; sensors are all of telemetry and metrics.
enum class awake_by { sensors, memory, clients };

class driver {
 public:
  virtual ~driver() = default;

  // Who measured: `from` of its figures.
  [[nodiscard]] virtual source from() const noexcept = 0;
  // By the name of the driver that sysfs links to, and what else discovery found.
  [[nodiscard]] virtual bool serves(const card& c) const noexcept = 0;
  // Whether what it serves is a device now: a partition that is not in use is none. Asked in each
  // listing.
  [[nodiscard]] virtual bool lists(const card& c) {
    static_cast<void>(c);
    return true;
  }
  // A source of its own that it alone asks (KFD), and its status.
  [[nodiscard]] virtual source behind() const noexcept { return source::none; }
  [[nodiscard]] virtual source_state describe_behind() const { return {}; }

  // Adds what sysfs tells without waking: name, uuid, kind, memory kind, version, a partition's
  // parent. Number, state, PCI address and ids, and render minor are there. Also when asleep.
  virtual void identify(visit& v, device& who) = 0;
  // As device_source; called for a sleeping card too: then totals alone.
  virtual result<void> memory(visit& v, pools& out) = 0;
  // Never called for a sleeping card. Remarks each missing field; fails when all are missing.
  virtual result<void> telemetry(visit& v, std::uint32_t fields, hmn::telemetry& out) = 0;
  // As device_source; never called for a sleeping card. What fdinfo tells of engines, the room
  // adds.
  virtual void metrics(visit& v, bool slow, std::vector<metric>& out) {
    static_cast<void>(v);
    static_cast<void>(slow);
    static_cast<void>(out);
  }

  // What fdinfo means. Pure, and called for each descriptor of each walk.
  [[nodiscard]] virtual region_role role_of(const card& c, std::string_view region) const noexcept {
    static_cast<void>(c);
    return usual_role(region);
  }
  [[nodiscard]] virtual std::uint32_t kind_of(std::string_view engine) const noexcept {
    return usual_kind(engine);
  }
  // Its own keys: amount_of(info.text, "amd-evicted-vram").
  virtual void add_own_keys(const card& c, const fdinfo& info, client_use& out) const noexcept {
    static_cast<void>(c);
    static_cast<void>(info);
    static_cast<void>(out);
  }
  // Whether reading a client's fdinfo calls its card back from sleep; xe's does. Unsure is yes.
  [[nodiscard]] virtual bool fdinfo_wakes(const card& c) const noexcept {
    static_cast<void>(c);
    return true;
  }
  // Whether asking for this restarts the delay after which the kernel suspends a card.
  [[nodiscard]] virtual bool keeps_awake(awake_by what) const noexcept {
    static_cast<void>(what);
    return false;
  }
  // Whether its engine times run: those of some have to be switched on. Asked at each reading, also
  // of a sleeping card.
  [[nodiscard]] virtual bool counts_engines(const card& c) const noexcept {
    static_cast<void>(c);
    return true;
  }
  // Whether whoever uses the card holds a descriptor of its nodes: then who holds none uses
  // nothing.
  [[nodiscard]] virtual bool sees_every_client(const card& c) const noexcept {
    static_cast<void>(c);
    return true;
  }
  // Why a client's use is not known, where the driver knows a reason.
  [[nodiscard]] virtual std::string_view why_no_use() const noexcept {
    return "this driver does not tell what its clients use";
  }
  // Rows of processes from elsewhere than fdinfo, or figures added to those there are (KFD); sets
  // their `from`. `pid`: of this process alone; 0: of all.
  virtual void complete(visit& v, std::uint32_t pid, std::vector<usage>& rows) {
    static_cast<void>(v);
    static_cast<void>(pid);
    static_cast<void>(rows);
  }
};

// Whether fdinfo of its clients must be left alone now.
inline bool must_sleep(const card& c, bool may_wake) noexcept {
  return (c.is_asleep || c.is_resting) && !may_wake && c.by != nullptr && c.by->fdinfo_wakes(c);
}

// The one list of drivers, the most specific first.
std::vector<std::unique_ptr<driver>> make_drivers(const settings& s);

inline constexpr failure_of fail{source::drm};

inline failure why_not_counted(const card& c) {
  return fail(status::unsupported, {"engines are not counted: ", c.folder.view(),
                                    "/profiling is 0; root may switch it on"});
}

inline failure needs_two_readings(const card& c) {
  return {status::unsupported,
          c.by->from(),
          {},
          "load is the difference of two readings: the next one may tell it"};
}

}  // namespace hmn::drm
