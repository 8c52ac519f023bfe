// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nvml_abi.hpp"

namespace fake_nvml {

enum class Call : unsigned {
#define FAKE_NVML_CALL(name) name,
#include "calls.def"
#undef FAKE_NVML_CALL
  count
};

inline constexpr unsigned call_count = static_cast<unsigned>(Call::count);

std::string_view name_of(Call c);
std::optional<Call> call_named(std::string_view name);
std::optional<Status> status_named(std::string_view name);

// What a driver answers to one question: a return code and, on success, the value.
template <class T>
struct Answer {
  Status result = error_not_supported;
  T value{};

  Answer() = default;
  explicit Answer(T v) : result(success), value(std::move(v)) {}
};

struct ProcessList {
  Status result = success;
  std::vector<ProcessDetail> rows;
  std::map<unsigned, std::string> names;
  // Rows that the driver counts; those past the real ones are never written.
  std::optional<unsigned> claim;
  bool always_insufficient = false;
  bool fill_when_insufficient = false;
  // Rows of `rows` that appear only after the list has been asked for, `grow_by` at a time.
  unsigned late_rows = 0;
  unsigned grow_by = 0;
  mutable std::atomic<unsigned> asked{0};
};

struct UtilizationSample {
  unsigned pid = 0;
  std::optional<unsigned long long> time_us;
  unsigned age_ms = 0;
  unsigned sm = 0, memory = 0, encoder = 0, decoder = 0, jpeg = 0, ofa = 0;
};

// Of one process on one device, while the accounting mode was on.
struct Account {
  unsigned pid = 0;
  unsigned long long most_memory = 0;
  std::optional<unsigned long long> start_us;
  bool is_running = false;
};

struct Field {
  Status result = success;
  unsigned type = field_unsigned_int;
  double real = 0;
  unsigned long long bits = 0;
};

struct EngineUse {
  unsigned percent = 0;
  unsigned period_us = 0;
};

struct EccMode {
  unsigned current = 0, pending = 0;
};

struct RemappedRows {
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
};

struct PowerRange {
  unsigned least = 0, most = 0;
};

struct Device {
  unsigned index = 0;
  const Device* parent = nullptr;
  unsigned slot = 0;
  unsigned identity = 0;  // the same for the same uuid in every scenario of this process

  Answer<std::string> name, uuid, serial, vbios;
  Answer<PciInfo> pci;
  Answer<unsigned> minor, brand, architecture, persistence, virtualization;
  Answer<int> compute_major, compute_minor;

  Answer<MemoryV1> memory;
  Answer<fake_nvml::MemoryV2> memory_v2;
  Answer<Bar1Memory> bar1;
  Answer<Attributes> attribute;
  Answer<unsigned> numa_node, c2c, addressing;

  Answer<Utilization> use;
  Answer<EngineUse> encoder, decoder, jpeg, ofa;
  Answer<unsigned> temperature, power_usage, power_limit, enforced_power_limit;
  Answer<unsigned> default_power_limit;
  Answer<PowerRange> power_limits;
  Answer<unsigned> thresholds[8];
  Answer<unsigned long long> energy, clocks_event_reasons;
  Answer<unsigned> clocks[4], max_clocks[4];
  Answer<std::vector<unsigned>> fans;
  Answer<unsigned> pstate, pcie_gen, pcie_width, max_pcie_gen, max_pcie_width;
  Answer<unsigned> pcie_throughput[2], pcie_replays;
  Answer<EccMode> ecc;
  Answer<unsigned long long> ecc_errors[2][2];
  Answer<RemappedRows> remapped;
  std::map<unsigned, Field> fields;
  Answer<unsigned long long> event_types;
  std::vector<unsigned long long> xids;     // raised once the device's events are registered
  mutable std::atomic<bool> raised{false};  // they were

  std::unique_ptr<ProcessList> lists[3];
  Answer<std::vector<UtilizationSample>> samples;
  Answer<unsigned> accounting_mode;
  std::vector<Account> accounts;

  Answer<EccMode> mig_mode;
  unsigned mig_max = 0;
  std::vector<std::unique_ptr<Device>> instances;
  unsigned gpu_instance = 0, compute_instance = 0;

  std::vector<std::pair<Call, Status>> results;
};

enum ListKind { compute_list = 0, graphics_list = 1, mps_list = 2 };

// What a call does with its outputs, though it returns success.
enum class Lie {
  none,
  untouched,    // leaves them alone
  all_bits,     // sets all bits: -1, the largest number, text without an end
  huge,         // the largest positive number of each size but some bits; text without an end
  growing,      // adds the number of this call, counted from 1
  next_device,  // the handle of the device after the one that was asked for
};

struct Rule {
  std::vector<Call> calls;
  std::optional<unsigned> device;
  std::optional<unsigned> slot;
  std::optional<Status> result;
  unsigned long long from = 1;
  unsigned long long times = ~0ULL;
  unsigned delay_ms = 0;
  bool hang = false;
  std::string hang_until;
  bool holds_lock = false;
  bool until_init = false;
  std::string prints;
  void (*ends)() = nullptr;
  fake_nvml::Lie lie = Lie::none;
  mutable std::atomic<unsigned long long> matched{0};
  mutable std::atomic<bool> ended{false};
};

struct Scenario {
  std::string driver_version, nvml_version;
  int cuda_version = 0;
  Status without_gpus = success;
  bool reread_each_call = false;
  unsigned long long epoch = 0;
  unsigned layout[3] = {16, 24, 24};
  std::string log;
  std::vector<std::unique_ptr<Device>> devices;
  std::optional<unsigned> device_count;
  std::vector<std::unique_ptr<Rule>> rules;
  std::vector<const Rule*> rules_of[call_count];
  std::vector<const Device*> by_identity;
};

// Throws std::runtime_error with the place and the reason: a misspelt key is an error.
std::unique_ptr<Scenario> parse_scenario(const std::string& json);
std::unique_ptr<Scenario> absent_driver();

}  // namespace fake_nvml
