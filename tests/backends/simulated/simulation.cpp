// SPDX-License-Identifier: MIT OR Apache-2.0
#include "simulation.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>

ScratchFolder::ScratchFolder() {
  char name[] = "/tmp/hmn-simulated-XXXXXX";
  REQUIRE(mkdtemp(name) != nullptr);
  folder_ = name;
}

ScratchFolder::~ScratchFolder() {
  for (const std::string& file : files_) unlink(file.c_str());
  rmdir(folder_.c_str());
}

std::string ScratchFolder::write(std::string_view name, std::string_view text) {
  std::string file_path = path(name);
  FILE* file = fopen(file_path.c_str(), "we");
  REQUIRE(file != nullptr);
  CHECK(fwrite(text.data(), 1, text.size(), file) == text.size());
  fclose(file);
  files_.push_back(file_path);
  return file_path;
}

Simulation::Simulation(std::string_view text, const ContextOptions& options) {
  auto context_options = sized<hmn_context_options>();
  context_options.flags = options.flags;
  context_options.deadline_ns = options.deadline_ns;
  context_options.open_deadline_ns = options.open_deadline_ns;
  context_options.stale_ns = options.stale_ns;
  error = sized<hmn_error>();
  REQUIRE(hmn_context_create(&context_options, &context_, &error) == HMN_OK);
  const std::string path = files_.write("machine.json", text);
  REQUIRE(hmn_context_set_path(context_, HMN_PATH_SIMULATION, path.c_str(), &error) == HMN_OK);
}

void Simulation::destroy() {
  hmn_context_destroy(context_);
  context_ = nullptr;
}

hmn_status Simulation::read_pool(std::uint32_t device) {
  pool = sized<hmn_pool>();
  error = sized<hmn_error>();
  return hmn_pool_read(context_, device, HMN_POOL_MAIN, 0, 0, &pool, &error);
}

template <class T, class F>
static std::optional<T> read_optional(F&& read) {
  auto record = sized<T>();
  const hmn_status status = read(&record);
  if (status == HMN_OK) return record;
  CHECK(status == HMN_E_EMPTY);
  return {};
}

template <class T, class F>
static std::vector<T> read_list(std::uint32_t count, F&& read) {
  std::vector<T> records;
  for (std::uint32_t i = 0; i < count; ++i) {
    records.push_back(sized<T>());
    REQUIRE(read(i, &records.back()) == HMN_OK);
  }
  return records;
}

static std::string read_name(const hmn_snapshot* snapshot, std::uint32_t i) {
  char text[256];
  const hmn_status status =
      hmn_snapshot_text_at(snapshot, HMN_TEXT_PROCESS_NAME, i, text, sizeof text, nullptr, nullptr);
  return status == HMN_OK ? text : "";
}

SnapshotCopy::SnapshotCopy(const Simulation& simulation, hmn_flags collect) {
  auto options = sized<hmn_snapshot_options>();
  options.collect = collect;
  auto error = sized<hmn_error>();
  hmn_snapshot* snapshot = nullptr;
  const hmn_status status = hmn_snapshot_take(simulation.context(), &options, &snapshot, &error);
  INFO(error.message);
  REQUIRE(status == HMN_OK);
  info = sized<hmn_snapshot_info>();
  REQUIRE(hmn_snapshot_read(snapshot, &info, nullptr) == HMN_OK);
  memory = read_optional<hmn_process_memory>(
      [&](auto* record) { return hmn_snapshot_memory(snapshot, record, nullptr); });
  system = read_optional<hmn_system_memory>(
      [&](auto* record) { return hmn_snapshot_system(snapshot, record, nullptr); });
  devices = read_list<hmn_device>(info.device_count, [&](auto i, auto* record) {
    return hmn_snapshot_device_at(snapshot, i, record, nullptr);
  });
  for (const hmn_device& device : devices) {
    telemetry.push_back(read_optional<hmn_telemetry>([&](auto* record) {
      return hmn_snapshot_find_telemetry(snapshot, device.index, record, nullptr);
    }));
    self.push_back(read_optional<hmn_usage>([&](auto* record) {
      return hmn_snapshot_find_self(snapshot, device.index, record, nullptr);
    }));
  }
  pools = read_list<hmn_pool>(info.pool_count, [&](auto i, auto* record) {
    return hmn_snapshot_pool_at(snapshot, i, record, nullptr);
  });
  usages = read_list<hmn_usage>(info.usage_count, [&](auto i, auto* record) {
    return hmn_snapshot_usage_at(snapshot, i, record, nullptr);
  });
  for (std::uint32_t i = 0; i < info.usage_count; ++i) names.push_back(read_name(snapshot, i));
  diagnostics = read_list<hmn_diagnostic>(info.diagnostic_count, [&](auto i, auto* record) {
    return hmn_snapshot_diagnostic_at(snapshot, i, record, nullptr);
  });
  hmn_snapshot_destroy(snapshot);
}

const hmn_diagnostic* SnapshotCopy::find_diagnostic(hmn_flags subject, std::uint32_t device) const {
  for (const hmn_diagnostic& diagnostic : diagnostics) {
    const bool is_match =
        (diagnostic.present & HMN_DIAGNOSTIC_HAS_DEVICE) == 0 || diagnostic.device_index == device;
    if (diagnostic.subject == subject && is_match) return &diagnostic;
  }
  return nullptr;
}

std::string make_machine(std::string_view members) {
  return "{\"devices\": [{" + std::string(members) + "}]}";
}
