// SPDX-License-Identifier: MIT OR Apache-2.0
#include "simulation.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>

Scratch::Scratch() {
  char name[] = "/tmp/hmn-simulated-XXXXXX";
  REQUIRE(mkdtemp(name) != nullptr);
  folder_ = name;
}

Scratch::~Scratch() {
  for (const std::string& file : written_) unlink(file.c_str());
  rmdir(folder_.c_str());
}

std::string Scratch::write(std::string_view name, std::string_view text) {
  std::string at = path(name);
  FILE* file = fopen(at.c_str(), "we");
  REQUIRE(file != nullptr);
  CHECK(fwrite(text.data(), 1, text.size(), file) == text.size());
  fclose(file);
  written_.push_back(at);
  return at;
}

Simulation::Simulation(std::string_view text, const Options& o) {
  auto reported = sized<hmn_context_options>();
  reported.flags = o.flags;
  reported.deadline_ns = o.deadline_ns;
  reported.open_deadline_ns = o.open_deadline_ns;
  reported.stale_ns = o.stale_ns;
  error = sized<hmn_error>();
  REQUIRE(hmn_context_create(&reported, &context_, &error) == HMN_OK);
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
static std::optional<T> part(F&& read) {
  auto out = sized<T>();
  const hmn_status said = read(&out);
  if (said == HMN_OK) return out;
  CHECK(said == HMN_E_EMPTY);
  return {};
}

template <class T, class F>
static std::vector<T> list(std::uint32_t count, F&& read) {
  std::vector<T> all;
  for (std::uint32_t i = 0; i < count; ++i) {
    all.push_back(sized<T>());
    REQUIRE(read(i, &all.back()) == HMN_OK);
  }
  return all;
}

static std::string name_of(const hmn_snapshot* s, std::uint32_t i) {
  char text[256];
  const hmn_status said =
      hmn_snapshot_text_at(s, HMN_TEXT_PROCESS_NAME, i, text, sizeof text, nullptr, nullptr);
  return said == HMN_OK ? text : "";
}

TakenSnapshot::TakenSnapshot(const Simulation& of, hmn_flags collect) {
  auto o = sized<hmn_snapshot_options>();
  o.collect = collect;
  auto error = sized<hmn_error>();
  hmn_snapshot* s = nullptr;
  const hmn_status said = hmn_snapshot_take(of.context(), &o, &s, &error);
  INFO(error.message);
  REQUIRE(said == HMN_OK);
  info = sized<hmn_snapshot_info>();
  REQUIRE(hmn_snapshot_read(s, &info, nullptr) == HMN_OK);
  memory = part<hmn_process_memory>([&](auto* to) { return hmn_snapshot_memory(s, to, nullptr); });
  system = part<hmn_system_memory>([&](auto* to) { return hmn_snapshot_system(s, to, nullptr); });
  devices = list<hmn_device>(info.device_count, [&](auto i, auto* to) {
    return hmn_snapshot_device_at(s, i, to, nullptr);
  });
  for (const hmn_device& d : devices) {
    telemetry.push_back(part<hmn_telemetry>(
        [&](auto* to) { return hmn_snapshot_find_telemetry(s, d.index, to, nullptr); }));
    self.push_back(
        part<hmn_usage>([&](auto* to) { return hmn_snapshot_find_self(s, d.index, to, nullptr); }));
  }
  pools = list<hmn_pool>(info.pool_count,
                         [&](auto i, auto* to) { return hmn_snapshot_pool_at(s, i, to, nullptr); });
  usages = list<hmn_usage>(
      info.usage_count, [&](auto i, auto* to) { return hmn_snapshot_usage_at(s, i, to, nullptr); });
  for (std::uint32_t i = 0; i < info.usage_count; ++i) names.push_back(name_of(s, i));
  diagnostics = list<hmn_diagnostic>(info.diagnostic_count, [&](auto i, auto* to) {
    return hmn_snapshot_diagnostic_at(s, i, to, nullptr);
  });
  hmn_snapshot_destroy(s);
}

const hmn_diagnostic* TakenSnapshot::about(hmn_flags subject, std::uint32_t device) const {
  for (const hmn_diagnostic& d : diagnostics) {
    const bool here = (d.present & HMN_DIAGNOSTIC_HAS_DEVICE) == 0 || d.device_index == device;
    if (d.subject == subject && here) return &d;
  }
  return nullptr;
}

std::string one_device(std::string_view members) {
  return "{\"devices\": [{" + std::string(members) + "}]}";
}
