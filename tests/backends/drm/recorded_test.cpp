// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every recorded fdinfo yields what is in its index.
#include "recorded.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "backends/drm/fdinfo.hpp"

using namespace hmn::drm;
using recorded::entry;

namespace {

using amount = std::optional<std::uint64_t>;

struct region_key {
  std::string_view prefix;
  amount region::*member;
};
constexpr region_key region_keys[] = {
    {"drm-total-", &region::total},         {"drm-shared-", &region::shared},
    {"drm-resident-", &region::resident},   {"drm-memory-", &region::memory},
    {"drm-purgeable-", &region::purgeable}, {"drm-active-", &region::active},
};

amount region_amount(const fdinfo& info, std::string_view key) {
  for (const region_key& k : region_keys) {
    if (!key.starts_with(k.prefix)) continue;
    for (const region& r : info.regions()) {
      if (r.name == key.substr(k.prefix.size())) return r.*k.member;
    }
    return std::nullopt;
  }
  return amount_of(info.text, key);
}

const engine* engine_of(const fdinfo& info, std::string_view name) {
  for (const engine& e : info.engines()) {
    if (e.name == name) return &e;
  }
  return nullptr;
}

void check_engines(const fdinfo& info, const entry& e, const char* key,
                   amount (*get)(const engine&)) {
  if (!e.expected.contains(key)) return;
  for (const auto& [name, value] : e.expected.at(key).items()) {
    CAPTURE(name);
    const engine* const found = engine_of(info, name);
    REQUIRE(found != nullptr);
    CHECK(get(*found) == value.get<std::uint64_t>());
  }
}

std::size_t count_values(const fdinfo& info) {
  std::size_t count = 0;
  for (const region& r : info.regions()) {
    for (const region_key& k : region_keys) count += (r.*k.member).has_value() ? 1 : 0;
  }
  return count;
}

void check_memory(const fdinfo& info, const entry& e) {
  if (!e.expected.contains("memory_bytes")) {
    CHECK(count_values(info) == 0);
    return;
  }
  std::size_t common = 0;
  for (const auto& [key, value] : e.expected.at("memory_bytes").items()) {
    CAPTURE(key);
    CHECK(region_amount(info, key) == value.get<std::uint64_t>());
    const bool is_common = std::any_of(
        std::begin(region_keys), std::end(region_keys),
        [&key = key](const region_key& k) { return std::string_view(key).starts_with(k.prefix); });
    common += is_common ? 1 : 0;
  }
  CHECK(count_values(info) == common);
}

}  // namespace

TEST_CASE("recorded fdinfo") {
  int clients = 0;
  for (const entry& e : recorded::all("drm-fdinfo/")) {
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
    CHECK(info->client_id == (e.has("client_id") ? amount(e.number("client_id")) : std::nullopt));
    CHECK(info->pci_address == e.expected.value("pdev", ""));
    CHECK_FALSE(info->is_partial);
    check_memory(*info, e);
    check_engines(*info, e, "engine_ns", [](const engine& x) { return x.busy_ns; });
    check_engines(*info, e, "cycles", [](const engine& x) { return x.cycles; });
    check_engines(*info, e, "total_cycles", [](const engine& x) { return x.total_cycles; });
    check_engines(*info, e, "capacity", [](const engine& x) { return amount(x.capacity); });
  }
  CHECK(clients == 13);
}
