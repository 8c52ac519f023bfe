// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Interface of one kernel driver: which data its cards have, and how to interpret its fdinfo.
// Discovery, the walk over /proc, rows and runtime power management are common to all
// (drm_source.hpp). A driver is a file or a few with a build option and a source id of its own, and
// a line in driver.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/drm/fdinfo.hpp"
#include "model/device.hpp"
#include "model/failure.hpp"
#include "model/message_text.hpp"
#include "model/text.hpp"
#include "source/interface.hpp"

namespace hmn::drm {

class Driver;

// Character device of the DRM subsystem: card0, renderD128, accel0.
struct Node {
  enum class Kind { card, render, accel };

  Kind kind = Kind::card;
  Text<24> name;
  std::uint32_t number = 0;  // digits of its name
  std::uint32_t major = 0;   // 0: unknown
  std::uint32_t minor = 0;
};

// Device with a render or an accel node, as listed by sysfs. Kept plain, so that copies are cheap.
struct Card {
  Slot slot = 0;
  Text<512> folder;      // its folder in sysfs, without a trailing slash
  Text<64> driver_name;  // bound driver
  Text<32> bus;          // pci, platform, virtio …
  Text<32> pci_bus_id;   // empty: not on PCI
  std::uint32_t vendor = vendor::unknown;
  std::optional<std::uint32_t> pci_device;
  std::optional<std::uint32_t> pci_subsystem;
  std::array<Node, 8> nodes_;
  std::uint32_t node_count = 0;
  drm::Driver* driver = nullptr;  // reads the card; null: left to another source
  bool is_present = false;        // listed in the last scan
  bool has_node = false;          // a node exists in /dev, or there is no /dev
  bool is_asleep = false;         // runtime suspended at this reading
  bool is_skipped = false;        // skipped in this reading, so that it can suspend
  int state_error = 0;            // why the state is unknown: it then counts as suspended
  bool counts_engines = true;     // false: engine times in fdinfo do not advance

  [[nodiscard]] std::span<const Node> nodes() const noexcept { return {nodes_.data(), node_count}; }
  [[nodiscard]] const Node* find(Node::Kind kind) const noexcept {
    for (const Node& node : nodes()) {
      if (node.kind == kind) return &node;
    }
    return nullptr;
  }
};

// Minimum total usage of all clients of a card: each client once, and of shared memory only the
// largest value, since each client may hold the same buffers.
struct CardUse {
  ClientUse sum;
  std::uint32_t client_count = 0;
  bool is_partial = false;  // some processes were not readable
};

// Load of the engines of one name since an earlier walk, from fdinfo of all clients.
struct EngineLoad {
  Text<24> name;
  double percent = 0;
  std::uint64_t capacity = 1;            // number of engines of the name
  std::optional<std::uint64_t> busy_ns;  // total of all engines since then
};

struct CardLoad {
  std::span<const EngineLoad> engines;
  std::uint64_t window_ns = 0;
  bool is_partial = false;
};

// One card in one reading: what a driver may use of this source.
class Visit {
 public:
  virtual ~Visit() = default;

  [[nodiscard]] virtual const Card& card() const noexcept = 0;
  // All listed cards, for drivers whose cards belong together.
  [[nodiscard]] virtual std::span<const Card> cards() const noexcept = 0;
  [[nodiscard]] virtual const std::string& sys_root() const noexcept = 0;
  // Runtime suspended, and not to be woken: read identity and totals only, and no file that takes a
  // runtime power reference on it.
  [[nodiscard]] virtual bool is_asleep() const noexcept = 0;
  // /dev/dri/renderD128, /dev/accel/accel0; empty if none was given to this container, or if this
  // sysfs tree has no nodes. A driver that opens it must close it before returning.
  [[nodiscard]] virtual std::string node_path(Node::Kind kind) const = 0;
  [[nodiscard]] virtual std::uint64_t deadline_ns() const noexcept = 0;

  // Walks /proc unless this reading already did. Never while the card is suspended.
  virtual Result<CardUse> clients() = 0;
  // Load between two walks; the first call fails with Status::unsupported.
  virtual Result<CardLoad> load() = 0;

  [[nodiscard]] virtual bool wants_diagnostics() const noexcept = 0;
  // Reports a diagnostic about a subject (subject::pools …) and its presence bits.
  virtual void diagnose(const Failure& failure, std::uint32_t subject, FieldSet fields) = 0;
};

// Kinds of query; sensors are all of telemetry and metrics.
enum class QueryKind { sensors, memory, clients };

class Driver {
 public:
  virtual ~Driver() = default;

  // Source id of its values.
  [[nodiscard]] virtual Source source() const noexcept = 0;
  // Matches the driver name that sysfs links to, and other discovery data.
  [[nodiscard]] virtual bool supports(const Card& card) const noexcept = 0;
  // Whether the card is a device now: an unused partition is not. Called in each listing.
  [[nodiscard]] virtual bool should_list(const Card& card) {
    static_cast<void>(card);
    return true;
  }
  // Source queried only through this driver (KFD), and its status.
  [[nodiscard]] virtual Source inner_source() const noexcept { return Source::none; }
  [[nodiscard]] virtual SourceState describe_inner_source() const { return {}; }

  // Adds data of sysfs that wakes nothing: name, uuid, kind, memory kind, version, parent of a
  // partition. Slot, state, PCI address and ids, and render minor are already set. Also called
  // for a suspended card.
  virtual void identify(Visit& visit, Device& device) = 0;
  // Same as DeviceSource::memory(); also called for a suspended card: totals only.
  virtual Result<void> memory(Visit& visit, PoolList& out) = 0;
  // Never called for a suspended card. Reports each missing field; fails if all are missing.
  virtual Result<void> telemetry(Visit& visit, FieldSet fields, hmn::Telemetry& out) = 0;
  // Same as DeviceSource::metrics(); never called for a suspended card. Engine values of fdinfo are
  // added by the source.
  virtual void metrics(Visit& visit, bool include_slow, std::vector<Metric>& out) {
    static_cast<void>(visit);
    static_cast<void>(include_slow);
    static_cast<void>(out);
  }

  // Interprets fdinfo. Pure, and called for each descriptor in each walk.
  [[nodiscard]] virtual RegionRole classify_region(const Card& card,
                                                   std::string_view region) const noexcept {
    static_cast<void>(card);
    return classify_region_by_name(region);
  }
  [[nodiscard]] virtual std::uint32_t classify_engine(std::string_view engine) const noexcept {
    return classify_engine_by_name(engine);
  }
  // Adds driver-specific keys: find_amount(info.text, "amd-evicted-vram").
  virtual void add_driver_keys(const Card& card, const Fdinfo& info,
                               ClientUse& out) const noexcept {
    static_cast<void>(card);
    static_cast<void>(info);
    static_cast<void>(out);
  }
  // Whether reading a client's fdinfo resumes its card, as on xe. True if unknown.
  [[nodiscard]] virtual bool fdinfo_wakes(const Card& card) const noexcept {
    static_cast<void>(card);
    return true;
  }
  // Whether this query restarts the kernel's autosuspend delay.
  [[nodiscard]] virtual bool keeps_awake(QueryKind kind) const noexcept {
    static_cast<void>(kind);
    return false;
  }
  // Whether the engine times advance: some drivers need them switched on. Called in each reading,
  // also for a suspended card.
  [[nodiscard]] virtual bool counts_engines(const Card& card) const noexcept {
    static_cast<void>(card);
    return true;
  }
  // Whether every user of the card holds a descriptor of its nodes, so that a process without one
  // uses nothing.
  [[nodiscard]] virtual bool sees_every_client(const Card& card) const noexcept {
    static_cast<void>(card);
    return true;
  }
  // Why a client's usage is unknown, if the driver has a reason.
  [[nodiscard]] virtual std::string_view missing_use_message() const noexcept {
    return "memory of clients is not reported by this driver";
  }
  // Adds rows of other origin than fdinfo, or values of existing ones (KFD); sets their `source`.
  // `pid`: this process only; 0: all. Fails where some could not be read.
  virtual Result<void> complete_rows(Visit& visit, std::uint32_t pid, std::vector<Usage>& rows) {
    static_cast<void>(visit);
    static_cast<void>(pid);
    static_cast<void>(rows);
    return {};
  }
};

// Whether fdinfo of the card's clients must not be read now.
inline bool must_not_wake(const Card& card, bool may_wake) noexcept {
  return (card.is_asleep || card.is_skipped) && !may_wake && card.driver != nullptr &&
         card.driver->fdinfo_wakes(card);
}

// All drivers, most specific first; null: switched off.
using DriverList = std::array<std::unique_ptr<Driver>, 4>;
DriverList make_drivers(const Settings& settings);

inline constexpr FailureFactory fail{Source::drm};

// Makes failures of the card's driver.
inline FailureFactory fail_for(const Card& card) noexcept {
  return {card.driver->source()};
}

inline Failure make_not_counted_failure(const Card& card) {
  return fail(Status::unsupported, {"engines are not counted: ", card.folder.view(),
                                    "/profiling is 0; root may switch it on"});
}

inline Failure make_two_readings_failure(const Card& card) {
  return with_reason(
      Reason::not_yet,
      fail_for(card)(Status::unsupported, "load is the difference of two readings: read again"));
}

// How AMD's compute driver (KFD) serves the driver of the same cards: which of its GPUs is which
// card or partition, and what compute processes use.

// GPU, or a partition of one.
struct ComputeNode {
  std::uint32_t gpu_id = 0;  // KFD's id, never 0
  std::uint32_t render_minor = 0;
  std::uint32_t domain = 0;
  std::uint32_t location = 0;    // bus, device and function; for a partition also its number
  std::uint32_t gfx_target = 0;  // 10000 * major + 100 * minor + stepping; 0: unknown
  std::optional<std::uint64_t> memory;
};

class ComputeDriver {
 public:
  virtual ~ComputeDriver() = default;

  [[nodiscard]] virtual Source source() const noexcept = 0;
  [[nodiscard]] virtual SourceState describe() const = 0;
  // Current list. Wakes nothing.
  virtual std::span<const ComputeNode> nodes() = 0;
  // Whether some could not be read, which may be temporary.
  [[nodiscard]] virtual bool is_uncertain() const noexcept = 0;
  // Adds usage of one GPU to `rows`: new rows, or values of existing ones. `pid`: this process
  // only; 0: all. Fails where some could not be read. Wakes nothing.
  virtual Result<void> add_rows(Visit& visit, std::uint32_t gpu_id, std::uint32_t pid,
                                std::vector<Usage>& rows) = 0;
};

}  // namespace hmn::drm
