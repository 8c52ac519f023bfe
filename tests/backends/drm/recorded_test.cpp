// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every recorded fdinfo file yields the values of its index.
#include "recorded.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "backends/drm/fdinfo.hpp"
#include "machine.hpp"
#include "model/record.hpp"

using namespace hmn::drm;
using recorded::Entry;

namespace {

using Amount = std::optional<std::uint64_t>;

struct RegionKey {
  std::string_view prefix;
  Amount Region::*member;
};
constexpr RegionKey region_keys[] = {
    {"drm-total-", &Region::total},         {"drm-shared-", &Region::shared},
    {"drm-resident-", &Region::resident},   {"drm-memory-", &Region::memory},
    {"drm-purgeable-", &Region::purgeable},
};

constexpr std::string_view unused_prefix = "drm-active-";

Amount region_amount(const Fdinfo& info, std::string_view key) {
  for (const RegionKey& mapping : region_keys) {
    if (!key.starts_with(mapping.prefix)) continue;
    for (const Region& region : info.regions()) {
      if (region.name == key.substr(mapping.prefix.size())) return region.*mapping.member;
    }
    return std::nullopt;
  }
  return find_amount(info.text, key);
}

const Engine* find_engine(const Fdinfo& info, std::string_view name) {
  for (const Engine& engine : info.engines()) {
    if (engine.name == name) return &engine;
  }
  return nullptr;
}

void check_engines(const Fdinfo& info, const Entry& entry, const char* key,
                   Amount (*read_amount)(const Engine&)) {
  if (!entry.expected.contains(key)) return;
  for (const auto& [name, value] : entry.expected.at(key).items()) {
    CAPTURE(name);
    const Engine* const engine = find_engine(info, name);
    REQUIRE(engine != nullptr);
    CHECK(read_amount(*engine) == value.get<std::uint64_t>());
  }
}

std::size_t count_values(const Fdinfo& info) {
  std::size_t count = 0;
  for (const Region& region : info.regions()) {
    for (const RegionKey& mapping : region_keys)
      count += (region.*mapping.member).has_value() ? 1 : 0;
  }
  return count;
}

void check_memory(const Fdinfo& info, const Entry& entry) {
  if (!entry.expected.contains("memory_bytes")) {
    CHECK(count_values(info) == 0);
    return;
  }
  std::size_t common_count = 0;
  for (const auto& [key, value] : entry.expected.at("memory_bytes").items()) {
    CAPTURE(key);
    if (key.starts_with(unused_prefix)) continue;
    CHECK(region_amount(info, key) == value.get<std::uint64_t>());
    const bool is_common = std::any_of(
        std::begin(region_keys), std::end(region_keys),
        [&key = key](const RegionKey& k) { return std::string_view(key).starts_with(k.prefix); });
    common_count += is_common ? 1 : 0;
  }
  CHECK(count_values(info) == common_count);
}

// Returns the field of a process row that a key sets; 0: none.
std::uint32_t find_field(std::string_view key, bool is_unified) {
  using namespace hmn;
  if (key == "amd-evicted-vram") return usage_field::evicted;
  if (key.starts_with("drm-engine-") || key.starts_with("drm-cycles-")) {
    return key.starts_with("drm-engine-capacity-") ? 0 : usage_field::busy_percent;
  }
  const bool is_own = is_unified || key.find("vram") != key.npos || key.find("local") != key.npos;
  const bool is_backed = key.starts_with("drm-resident-") || key.starts_with("drm-memory-");
  if (!is_own) return is_backed ? usage_field::host_pool : 0;
  if (is_backed) return usage_field::resident;
  if (key.starts_with("drm-total-cycles-")) return 0;
  if (key.starts_with("drm-total-")) return usage_field::committed;
  if (key.starts_with("drm-shared-")) return usage_field::shared;
  return key.starts_with("drm-purgeable-") ? usage_field::purgeable : 0;
}

bool has_reason(const drm_test::PlainReading& reading, std::uint64_t field) {
  return std::any_of(reading.diagnostics.begin(), reading.diagnostics.end(),
                     [&](const hmn::Diagnostic& diagnostic) {
                       return diagnostic.subject == hmn::subject::processes &&
                              (diagnostic.field & field) != 0 &&
                              !diagnostic.failure.message.view().empty();
                     });
}

// A machine with a card of the recorded driver, and a process with a client of it.
void add_client(const drm_test::Machine& machine, const Entry& entry) {
  const auto driver = entry.expected.at("driver").get<std::string>();
  hmn_fake::PciDevice card = drm_test::radeon(entry.expected.value("pdev", "0000:03:00.0").c_str());
  card.driver = driver;
  if (driver == "i915" || driver == "xe") card.vendor = 0x8086;
  if (card.vendor == 0x8086 || driver == "amdgpu") {
    machine.add_pci(card, {drm_test::render128});
  } else {
    machine.add_platform("gpu", driver, {drm_test::render128});
  }
  machine.add_process(4242, {{5, machine.tree().path("dev/dri/renderD128"), entry.text()}});
}

// Returns the number of keys that are part of a row.
int check_row(const Entry& entry, const hmn::Usage& row, const drm_test::PlainReading& reading,
              bool is_unified) {
  int count = 0;
  std::istringstream lines(entry.text());
  for (std::string line; std::getline(lines, line);) {
    const std::string key = line.substr(0, line.find(':'));
    const std::uint64_t field = find_field(key, is_unified);
    CAPTURE(key);
    if (field == 0) continue;
    ++count;
    CHECK(((hmn::present_bits(row) & field) != 0 || has_reason(reading, field)));
  }
  return count;
}

}  // namespace

TEST_CASE("each recorded key of a client leads to a value or a reason") {
  int count = 0;
  for (const Entry& entry : recorded::find_all("drm-fdinfo/")) {
    if (!entry.expected.contains("driver")) continue;
    CAPTURE(entry.file);
    drm_test::Machine machine;
    add_client(machine, entry);
    for (int round = 1; round <= 2; ++round) {
      CAPTURE(round);
      drm_test::PlainReading reading;
      const auto devices = machine.devices(reading);
      REQUIRE(devices.size() == 1);
      std::vector<hmn::Usage> rows;
      REQUIRE(machine.source().processes(0, rows, reading));
      REQUIRE(rows.size() == 1);
      count +=
          check_row(entry, rows[0], reading, devices[0].memory_kind == hmn::MemoryKind::unified);
      std::this_thread::sleep_for(std::chrono::milliseconds(110));
    }
  }
  CHECK(count > 100);
}

TEST_CASE("recorded fdinfo files yield the values of their index") {
  int clients = 0;
  for (const Entry& entry : recorded::find_all("drm-fdinfo/")) {
    CAPTURE(entry.file);
    const std::string text = entry.text();
    const auto info = parse_fdinfo(text);
    if (entry.expected.contains("is_drm_client")) {
      CHECK_FALSE(info);
      continue;
    }
    REQUIRE(info);
    ++clients;
    CHECK(info->driver == entry.expected.at("driver").get<std::string>());
    CHECK(info->client_id ==
          (entry.has("client_id") ? Amount(entry.number("client_id")) : std::nullopt));
    CHECK(info->pci_address == entry.expected.value("pdev", ""));
    CHECK_FALSE(info->is_partial);
    check_memory(*info, entry);
    check_engines(*info, entry, "engine_ns", [](const Engine& engine) { return engine.busy_ns; });
    check_engines(*info, entry, "cycles", [](const Engine& engine) { return engine.cycles; });
    check_engines(*info, entry, "total_cycles",
                  [](const Engine& engine) { return engine.total_cycles; });
    check_engines(*info, entry, "capacity",
                  [](const Engine& engine) { return Amount(engine.capacity); });
  }
  CHECK(clients == 13);
}
