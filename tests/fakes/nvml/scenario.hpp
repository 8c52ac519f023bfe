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

std::string_view function_name(Call function);
std::optional<Call> find_function(std::string_view name);
std::optional<Status> find_status(std::string_view name);

// The answer of a driver to one query: a return code and, on success, the value.
template <class T>
struct Answer {
  Status result = error_not_supported;
  T value{};

  Answer() = default;
  explicit Answer(T initial_value) : result(success), value(std::move(initial_value)) {}
};

struct ProcessList {
  Status result = success;
  std::vector<ProcessDetail> rows;
  std::map<unsigned, std::string> names;
  // Number of rows that the driver claims; rows beyond the real ones are not written.
  std::optional<unsigned> claim;
  bool always_insufficient = false;
  bool fill_when_insufficient = false;
  // Rows of `rows` that appear only after the list has been asked for, `grow_by` at a time.
  unsigned late_rows = 0;
  unsigned grow_by = 0;
  mutable std::atomic<unsigned> request_count{0};
};

struct UtilizationSample {
  unsigned pid = 0;
  std::optional<unsigned long long> time_us;
  unsigned age_ms = 0;
  unsigned sm = 0, memory = 0, encoder = 0, decoder = 0, jpeg = 0, ofa = 0;
};

// Accounting of one process on one device, while the mode was on.
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
  unsigned min = 0, max = 0;
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
  std::vector<unsigned long long> xids;        // raised once the device's events are registered
  mutable std::atomic<bool> is_raised{false};  // xids were raised

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

// How a call that returns success falsifies its outputs.
enum class Lie {
  none,
  untouched,    // leaves them alone
  all_bits,     // sets all bits: -1, the largest number, text without an end
  huge,         // 0x77 in all bytes: a huge positive number; text without an end
  growing,      // adds the number of this call, counted from 1
  next_device,  // returns the handle of the device after the requested one
};

struct Rule {
  std::vector<Call> calls;
  std::optional<unsigned> device;
  std::optional<unsigned> slot;
  std::optional<Status> result;
  unsigned long long first_call = 1;
  unsigned long long call_count_limit = ~0ULL;
  unsigned delay_ms = 0;
  bool hang = false;
  std::string hang_until;
  bool holds_lock = false;
  bool until_init = false;
  std::string prints;
  void (*end_program)() = nullptr;
  fake_nvml::Lie lie = Lie::none;
  mutable std::atomic<unsigned long long> match_count{0};
  mutable std::atomic<bool> is_ended{false};
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
  std::vector<const Rule*> rules_by_function[call_count];
  std::vector<const Device*> devices_by_identity;
};

// Throws std::runtime_error with the place and the reason: a misspelt key is an error.
std::unique_ptr<Scenario> parse_scenario(const std::string& json);
std::unique_ptr<Scenario> absent_driver();

}  // namespace fake_nvml
