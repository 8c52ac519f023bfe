// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/drm/driver.hpp"
#include "backends/shared/intel/memory.hpp"
#include "model/function_ref.hpp"
#include "model/message_text.hpp"
#include "platform/device_query.hpp"
#include "platform/file.hpp"

namespace hmn::intel {

// Properties in which Intel's two kernel drivers differ; they share the rest of this folder.

// File names of one GT (part of the chip with its own engines and clock).
struct GtFiles {
  std::string_view actual;
  std::string_view requested;
  std::string_view highest;
  std::string_view throttle;  // subfolder of the clock files' folder; empty: the same folder
  std::string_view throttle_status;
  std::string_view throttle_prefix;  // of the reasons; empty: not reported
};

struct Gt {
  std::string folder;  // folder of the clock files
  const GtFiles* files = nullptr;
  bool is_media = false;
};

struct DriverTraits {
  Source source;
  std::string_view name;  // name of the kernel driver and its sensor chip
  platform::DeviceQuery regions_query;
  std::optional<MemoryRegions> (*parse)(std::span<const std::byte>) noexcept;
  // Whether the query reports all usage of RAM: xe counts it, i915 reports only the size.
  bool counts_system;
  // Returns 0, or errno of a folder that could not be listed.
  int (*find_gts)(const drm::Card&, std::vector<Gt>&);
};

// Visits the numbers of a folder's entries "gt0", "gt1" in order: `prefix` and digits, below 64.
// Returns 0, or errno of a folder that could not be listed.
int for_each_number(const std::string& folder, std::string_view prefix,
                    FunctionRef<void(std::uint32_t)> visit);

struct AveragePower {
  double watts = 0;
  std::uint64_t window_ns = 0;
};

// Watts from occasional readings of a microjoule counter.
class EnergyMeter {
 public:
  // Returns nothing if there is no earlier reading, if it is too recent or too old, if the counter
  // went back, or if the machine was suspended since: platform::suspended_ns().
  std::optional<AveragePower> read(std::uint64_t microjoules, std::uint64_t time_ns,
                                   std::uint64_t suspended_ns) noexcept;

 private:
  struct Sample {
    std::uint64_t microjoules = 0;
    std::uint64_t time_ns = 0;  // 0: none
    std::uint64_t suspended_ns = 0;
  };
  Sample before_, last_;
};

// Folder of the PCI function at the slot. Arc cards have a switch, inside which links read 2.5 GT/s
// x1: the folder is then the switch's upstream port, two levels up, or nothing if that is not
// visible (in a virtual machine with only the card passed through).
std::string find_link_folder(std::string_view device_folder);

// Pure. Returns the throttle bit of a kernel reason, "pl1", "thermal".
std::uint32_t convert_throttle_reason(std::string_view reason) noexcept;

// Current throttle reasons of one GT.
platform::ErrnoOr<std::uint32_t> read_throttle(const Gt& gt);

class Chip;
struct ChipReading;

// State that is kept for a card.
struct CardState {
  Slot slot = 0;
  bool is_integrated = false;
  int form_error = 0;         // errno, if that could not be determined
  bool has_sizes = false;     // the kernel has reported its regions: is_integrated is certain
  bool reports_used = false;  // including usage, which needs privileges
  MemoryRegions sizes;        // as reported; without usage
  EnergyMeter card_energy, package_energy;
};

class IntelDriver final : public drm::Driver {
 public:
  explicit IntelDriver(const DriverTraits& traits) : traits_(traits) {}

  Source source() const noexcept override { return traits_.source; }
  bool supports(const drm::Card& card) const noexcept override {
    return card.driver_name.view() == traits_.name;
  }

  void identify(drm::Visit& visit, Device& device) override;
  Result<void> memory(drm::Visit& visit, PoolList& pools) override;
  Result<void> telemetry(drm::Visit& visit, FieldSet fields, hmn::Telemetry& telemetry) override;
  void metrics(drm::Visit& visit, bool include_slow, std::vector<Metric>& metrics) override;

  drm::RegionRole classify_region(const drm::Card& card,
                                  std::string_view region) const noexcept override;
  // xe's show_fdinfo takes a runtime power reference, and i915's may read the card's memory.
  bool fdinfo_wakes(const drm::Card&) const noexcept override { return true; }
  // xe's queries, like all of its calls, take a runtime power reference.
  bool keeps_awake(drm::QueryKind) const noexcept override { return true; }
  std::string_view missing_use_message() const noexcept override {
    return "memory of clients is not reported by this kernel's driver";
  }

 private:
  CardState& find_or_add_state(const drm::Card& card);
  // Current regions, or cached ones if the kernel reports no more.
  Result<MemoryRegions> read_regions(drm::Visit& visit, CardState& state) const;
  [[nodiscard]] Result<MemoryRegions> query_regions(drm::Visit& visit) const;
  Result<void> read_dedicated_memory(drm::Visit& visit, const Result<MemoryRegions>& regions,
                               const MemoryRegions& sizes, PoolList& pools) const;
  Result<void> read_unified_memory(drm::Visit& visit, const Result<MemoryRegions>& regions,
                                   PoolList& pools) const;
  void add_clients(drm::Visit& visit, Pool& pool) const;
  [[nodiscard]] Failure make_incomplete_failure(const Result<MemoryRegions>& regions) const;
  Result<AveragePower> measure_power(const drm::Card& card, const ChipReading& energy);
  [[nodiscard]] Failure fail(Status code, const MessageText& message, int error = 0) const {
    return FailureFactory{traits_.source}(code, message, error);
  }

  const DriverTraits& traits_;
  std::vector<CardState> card_states_;
};

// Returns whether the card is probably integrated: it is on the first bus, the CPU's own, except in
// a virtual machine; and only cards have a sensor chip.
bool looks_integrated(const drm::Card& card, std::string_view chip_name, int& error);

}  // namespace hmn::intel
