// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every recorded fdinfo yields what is in its index.
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
  for (const RegionKey& k : region_keys) {
    if (!key.starts_with(k.prefix)) continue;
    for (const Region& r : info.regions()) {
      if (r.name == key.substr(k.prefix.size())) return r.*k.member;
    }
    return std::nullopt;
  }
  return amount_of(info.text, key);
}

const Engine* engine_of(const Fdinfo& info, std::string_view name) {
  for (const Engine& e : info.engines()) {
    if (e.name == name) return &e;
  }
  return nullptr;
}

void check_engines(const Fdinfo& info, const Entry& e, const char* key,
                   Amount (*get)(const Engine&)) {
  if (!e.expected.contains(key)) return;
  for (const auto& [name, value] : e.expected.at(key).items()) {
    CAPTURE(name);
    const Engine* const found = engine_of(info, name);
    REQUIRE(found != nullptr);
    CHECK(get(*found) == value.get<std::uint64_t>());
  }
}

std::size_t count_values(const Fdinfo& info) {
  std::size_t count = 0;
  for (const Region& r : info.regions()) {
    for (const RegionKey& k : region_keys) count += (r.*k.member).has_value() ? 1 : 0;
  }
  return count;
}

void check_memory(const Fdinfo& info, const Entry& e) {
  if (!e.expected.contains("memory_bytes")) {
    CHECK(count_values(info) == 0);
    return;
  }
  std::size_t common = 0;
  for (const auto& [key, value] : e.expected.at("memory_bytes").items()) {
    CAPTURE(key);
    if (key.starts_with(unused_prefix)) continue;
    CHECK(region_amount(info, key) == value.get<std::uint64_t>());
    const bool is_common = std::any_of(
        std::begin(region_keys), std::end(region_keys),
        [&key = key](const RegionKey& k) { return std::string_view(key).starts_with(k.prefix); });
    common += is_common ? 1 : 0;
  }
  CHECK(count_values(info) == common);
}

// Field of a process's row that a key ends in; 0: a key that is part of no row.
std::uint32_t field_of(std::string_view key, bool is_unified) {
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

bool has_reason(const drm_test::PlainReading& r, std::uint64_t field) {
  return std::any_of(r.diagnostics.begin(), r.diagnostics.end(), [&](const hmn::Diagnostic& d) {
    return d.about == hmn::subject::processes && (d.field & field) != 0 &&
           !d.why.message.view().empty();
  });
}

// A machine with a card of the recorded driver, and a process that holds a client of it.
void add_client(const drm_test::Machine& m, const Entry& e) {
  const auto driver = e.expected.at("driver").get<std::string>();
  hmn_fake::PciDevice card = drm_test::radeon(e.expected.value("pdev", "0000:03:00.0").c_str());
  card.driver = driver;
  if (driver == "i915" || driver == "xe") card.vendor = 0x8086;
  if (card.vendor == 0x8086 || driver == "amdgpu") {
    m.add_pci(card, {drm_test::render128});
  } else {
    m.add_platform("gpu", driver, {drm_test::render128});
  }
  m.add_process(4242, {{5, m.tree().path("dev/dri/renderD128"), e.text()}});
}

// Returns the number of keys that are part of a row.
int check_row(const Entry& e, const hmn::Usage& row, const drm_test::PlainReading& r,
              bool is_unified) {
  int count = 0;
  std::istringstream lines(e.text());
  for (std::string line; std::getline(lines, line);) {
    const std::string key = line.substr(0, line.find(':'));
    const std::uint64_t field = field_of(key, is_unified);
    CAPTURE(key);
    if (field == 0) continue;
    ++count;
    CHECK(((hmn::present_bits(row) & field) != 0 || has_reason(r, field)));
  }
  return count;
}

}  // namespace

TEST_CASE("each recorded key of a client ends in a value or in a reason") {
  int count = 0;
  for (const Entry& e : recorded::all("drm-fdinfo/")) {
    if (!e.expected.contains("driver")) continue;
    CAPTURE(e.file);
    drm_test::Machine m;
    add_client(m, e);
    for (int reading = 1; reading <= 2; ++reading) {
      CAPTURE(reading);
      drm_test::PlainReading r;
      const auto found = m.devices(r);
      REQUIRE(found.size() == 1);
      std::vector<hmn::Usage> rows;
      REQUIRE(m.source().processes(0, rows, r));
      REQUIRE(rows.size() == 1);
      count += check_row(e, rows[0], r, found[0].memory_kind == hmn::MemoryKind::unified);
      std::this_thread::sleep_for(std::chrono::milliseconds(110));
    }
  }
  CHECK(count > 100);
}

TEST_CASE("recorded fdinfo") {
  int clients = 0;
  for (const Entry& e : recorded::all("drm-fdinfo/")) {
    CAPTURE(e.file);
    const std::string text = e.text();
    const auto info = parse_fdinfo(text);
    if (e.expected.contains("is_drm_client")) {
      CHECK_FALSE(info);
      continue;
    }
    REQUIRE(info);
    ++clients;
    CHECK(info->driver == e.expected.at("driver").get<std::string>());
    CHECK(info->client_id == (e.has("client_id") ? Amount(e.number("client_id")) : std::nullopt));
    CHECK(info->pci_address == e.expected.value("pdev", ""));
    CHECK_FALSE(info->is_partial);
    check_memory(*info, e);
    check_engines(*info, e, "engine_ns", [](const Engine& x) { return x.busy_ns; });
    check_engines(*info, e, "cycles", [](const Engine& x) { return x.cycles; });
    check_engines(*info, e, "total_cycles", [](const Engine& x) { return x.total_cycles; });
    check_engines(*info, e, "capacity", [](const Engine& x) { return Amount(x.capacity); });
  }
  CHECK(clients == 13);
}
