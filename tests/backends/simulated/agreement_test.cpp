// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A direct reading and a snapshot of the same subject agree, for each machine on the command line:
// machine files, recordings and folders of copied kernel files. Each reading has a context of its
// own, so that machines that change with each reading are in the same state.
#include <hypomnesis.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../sized.hpp"

namespace {

class Machine {
 public:
  explicit Machine(const std::string& path) {
    auto options = sized<hmn_context_options>();
    options.flags = HMN_CONTEXT_NO_SUBPROCESS;
    hmn_context_create(&options, &context_, nullptr);
    hmn_context_set_path(context_, HMN_PATH_SIMULATION, path.c_str(), nullptr);
    hmn_device_scan(context_, &devices_, nullptr, nullptr);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { hmn_context_destroy(context_); }

  [[nodiscard]] hmn_context* context() const { return context_; }
  [[nodiscard]] std::uint32_t devices() const { return devices_; }

 private:
  hmn_context* context_ = nullptr;
  std::uint32_t devices_ = 0;
};

class Snapshot {
 public:
  Snapshot(const std::string& path, std::uint32_t device, hmn_flags collect) : machine_(path) {
    auto options = sized<hmn_snapshot_options>();
    options.flags = HMN_SNAPSHOT_ONE_DEVICE;
    options.device_index = device;
    options.collect = collect;
    hmn_snapshot_take(machine_.context(), &options, &snapshot_, nullptr);
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  ~Snapshot() { hmn_snapshot_destroy(snapshot_); }

  [[nodiscard]] const hmn_snapshot* get() const { return snapshot_; }

 private:
  Machine machine_;
  hmn_snapshot* snapshot_ = nullptr;
};

int compare_count = 0;
int failure_count = 0;

// Ages always differ, and so do estimates from the available memory of this host.
void clear_volatile_fields(hmn_pool& pool) {
  pool.age_ns = 0;
  pool.notes &= ~static_cast<hmn_flags>(HMN_NOTE_PARTIAL);
  pool.present &= ~static_cast<hmn_flags>(HMN_POOL_HAS_UNATTRIBUTED);
  pool.unattributed_bytes = 0;
  if ((pool.notes & HMN_NOTE_ESTIMATED) != 0) pool.usable_bytes = 0;
}
void clear_volatile_fields(hmn_telemetry& telemetry) {
  telemetry.age_ns = 0;
  telemetry.notes &= ~static_cast<hmn_flags>(HMN_NOTE_PARTIAL);
}
void clear_volatile_fields(hmn_usage& usage) {
  usage.age_ns = 0;
}

template <class T>
void compare(const std::string& path, std::uint32_t device, const char* subject,
             hmn_status direct_status, T direct_record, hmn_status snapshot_status,
             T snapshot_record) {
  ++compare_count;
  const bool have_values = direct_status == HMN_OK && snapshot_status == HMN_OK;
  clear_volatile_fields(direct_record);
  clear_volatile_fields(snapshot_record);
  const bool is_equal =
      (direct_status == HMN_OK) == (snapshot_status == HMN_OK) &&
      (!have_values || std::memcmp(&direct_record, &snapshot_record, sizeof direct_record) == 0);
  if (is_equal) return;
  ++failure_count;
  std::printf(
      "%s: device %u: %s: the direct reading returns %s (present %llx, notes %x), the snapshot "
      "%s (present %llx, notes %x)\n",
      path.c_str(), device, subject, hmn_status_name(direct_status),
      static_cast<unsigned long long>(direct_record.present), direct_record.notes,
      hmn_status_name(snapshot_status), static_cast<unsigned long long>(snapshot_record.present),
      snapshot_record.notes);
}

// HMN_E_EMPTY: the snapshot has no such pool, or a pool without values.
hmn_status find_pool(const hmn_snapshot* snapshot, std::uint32_t device, std::uint32_t kind,
                     hmn_pool& pool) {
  pool = sized<hmn_pool>();
  const hmn_status status = hmn_snapshot_find_pool(snapshot, device, kind, 0, &pool, nullptr);
  return status == HMN_OK && pool.present == 0 ? HMN_E_EMPTY : status;
}

void check_device(const std::string& path, std::uint32_t device) {
  for (std::uint32_t kind = HMN_POOL_MAIN; kind <= HMN_POOL_STOLEN; ++kind) {
    auto direct_record = sized<hmn_pool>();
    auto snapshot_record = sized<hmn_pool>();
    const Machine machine(path);
    const hmn_status direct_status =
        hmn_pool_read(machine.context(), device, kind, 0, 0, &direct_record, nullptr);
    const Snapshot snapshot(path, device, HMN_COLLECT_POOLS);
    const hmn_status snapshot_status = find_pool(snapshot.get(), device, kind, snapshot_record);
    compare(path, device, "pool", direct_status, direct_record, snapshot_status, snapshot_record);
  }
  {
    auto direct_record = sized<hmn_telemetry>();
    auto snapshot_record = sized<hmn_telemetry>();
    const Machine machine(path);
    const hmn_status direct_status =
        hmn_telemetry_read(machine.context(), device, 0, &direct_record, nullptr);
    const Snapshot snapshot(path, device, HMN_COLLECT_TELEMETRY);
    const hmn_status snapshot_status =
        hmn_snapshot_find_telemetry(snapshot.get(), device, &snapshot_record, nullptr);
    compare(path, device, "telemetry", direct_status, direct_record, snapshot_status,
            snapshot_record);
  }
  auto direct_record = sized<hmn_usage>();
  auto snapshot_record = sized<hmn_usage>();
  const Machine machine(path);
  const hmn_status direct_status =
      hmn_usage_read_self(machine.context(), device, 0, &direct_record, nullptr);
  const Snapshot snapshot(path, device, HMN_COLLECT_SELF);
  const hmn_status snapshot_status =
      hmn_snapshot_find_self(snapshot.get(), device, &snapshot_record, nullptr);
  compare(path, device, "own use", direct_status, direct_record, snapshot_status, snapshot_record);
}

// Returns whether the machine has delayed calls, whose values may differ.
bool has_delays(const std::filesystem::path& file) {
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  return text.find("\"delays\"") != std::string::npos;
}

void check_machine(const std::string& path) {
  const std::uint32_t devices = Machine(path).devices();
  for (std::uint32_t device = 0; device < devices; ++device) check_device(path, device);
}

}  // namespace

// agreement_test FOLDER...: each machine file of the folders, and each folder of kernel files in
// them.
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) continue;
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      const bool is_tree = entry.is_directory();
      const bool is_file = entry.path().extension() == ".json" && !has_delays(entry.path());
      if (is_file || is_tree) check_machine(std::filesystem::absolute(entry.path()).string());
    }
  }
  std::printf("%d readings compared, %d differ\n", compare_count, failure_count);
  return compare_count == 0 || failure_count != 0 ? 1 : 0;
}
