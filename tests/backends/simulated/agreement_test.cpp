// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A direct reading and a snapshot of the same subject agree, for each machine that is given:
// machine files, recordings and folders of copied kernel files. Each reading has a context of its
// own, so that machines which change by the reading are at the same point.
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
  Snapshot(const std::string& path, std::uint32_t device, hmn_flags collect) : from_(path) {
    auto options = sized<hmn_snapshot_options>();
    options.flags = HMN_SNAPSHOT_ONE_DEVICE;
    options.device_index = device;
    options.collect = collect;
    hmn_snapshot_take(from_.context(), &options, &taken_, nullptr);
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  ~Snapshot() { hmn_snapshot_destroy(taken_); }

  [[nodiscard]] const hmn_snapshot* get() const { return taken_; }

 private:
  Machine from_;
  hmn_snapshot* taken_ = nullptr;
};

int compared = 0;
int failures = 0;

// Ages differ by nature, and so do estimates from the memory that this host has available.
void clear_what_differs(hmn_pool& p) {
  p.age_ns = 0;
  p.notes &= ~static_cast<hmn_flags>(HMN_NOTE_PARTIAL);
  p.present &= ~static_cast<hmn_flags>(HMN_POOL_HAS_UNATTRIBUTED);
  p.unattributed_bytes = 0;
  if ((p.notes & HMN_NOTE_ESTIMATED) != 0) p.usable_bytes = 0;
}
void clear_what_differs(hmn_telemetry& t) {
  t.age_ns = 0;
  t.notes &= ~static_cast<hmn_flags>(HMN_NOTE_PARTIAL);
}
void clear_what_differs(hmn_usage& u) {
  u.age_ns = 0;
}

template <class T>
void compare(const std::string& path, std::uint32_t device, const char* what, hmn_status direct,
             T read, hmn_status listed, T shown) {
  ++compared;
  const bool both = direct == HMN_OK && listed == HMN_OK;
  clear_what_differs(read);
  clear_what_differs(shown);
  const bool agree = (direct == HMN_OK) == (listed == HMN_OK) &&
                     (!both || std::memcmp(&read, &shown, sizeof read) == 0);
  if (agree) return;
  ++failures;
  std::printf(
      "%s: device %u: %s: the direct reading returns %s (present %llx, notes %x), the snapshot "
      "%s (present %llx, notes %x)\n",
      path.c_str(), device, what, hmn_status_name(direct),
      static_cast<unsigned long long>(read.present), read.notes, hmn_status_name(listed),
      static_cast<unsigned long long>(shown.present), shown.notes);
}

// HMN_E_EMPTY where the snapshot has no such pool, or knows nothing of it.
hmn_status pool_of(const hmn_snapshot* s, std::uint32_t device, std::uint32_t kind, hmn_pool& out) {
  out = sized<hmn_pool>();
  const hmn_status status = hmn_snapshot_find_pool(s, device, kind, 0, &out, nullptr);
  return status == HMN_OK && out.present == 0 ? HMN_E_EMPTY : status;
}

void check_device(const std::string& path, std::uint32_t device) {
  for (std::uint32_t kind = HMN_POOL_MAIN; kind <= HMN_POOL_STOLEN; ++kind) {
    auto read = sized<hmn_pool>();
    auto shown = sized<hmn_pool>();
    const Machine m(path);
    const hmn_status direct = hmn_pool_read(m.context(), device, kind, 0, 0, &read, nullptr);
    const Snapshot s(path, device, HMN_COLLECT_POOLS);
    const hmn_status listed = pool_of(s.get(), device, kind, shown);
    compare(path, device, "pool", direct, read, listed, shown);
  }
  {
    auto read = sized<hmn_telemetry>();
    auto shown = sized<hmn_telemetry>();
    const Machine m(path);
    const hmn_status direct = hmn_telemetry_read(m.context(), device, 0, &read, nullptr);
    const Snapshot s(path, device, HMN_COLLECT_TELEMETRY);
    const hmn_status listed = hmn_snapshot_find_telemetry(s.get(), device, &shown, nullptr);
    compare(path, device, "telemetry", direct, read, listed, shown);
  }
  auto read = sized<hmn_usage>();
  auto shown = sized<hmn_usage>();
  const Machine m(path);
  const hmn_status direct = hmn_usage_read_self(m.context(), device, 0, &read, nullptr);
  const Snapshot s(path, device, HMN_COLLECT_SELF);
  const hmn_status listed = hmn_snapshot_find_self(s.get(), device, &shown, nullptr);
  compare(path, device, "own use", direct, read, listed, shown);
}

// Whether the machine has calls that take their time: whatever is late then differs.
bool has_delays(const std::filesystem::path& file) {
  std::ifstream in(file);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
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
  std::printf("%d readings compared, %d differ\n", compared, failures);
  return compared == 0 || failures != 0 ? 1 : 0;
}
