// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>

#include "backends/simulated/read_parts.hpp"
#include "backends/simulated/record_fields.hpp"
#include "backends/simulated/words.hpp"

namespace hmn::simulated {
namespace {

bool is_left_out(object_reader& o, std::string_view key) {
  return o.get_or_null(key) == nullptr;
}

// Computes total - reserved - part, for the one of free and used missing in the file.
std::optional<std::uint64_t> rest_of(object_reader& o, const pool& p, std::uint64_t part) {
  const std::uint64_t reserved = p.reserved.value_or(0);
  if (reserved <= *p.total && part <= *p.total - reserved) return *p.total - reserved - part;
  o.found().add(o.at(),
                "the values exceed \"total\": correct them, or give both \"free\" and \"used\"");
  return {};
}

void complete(object_reader& o, pool& p) {
  if (!p.total) return;
  if (p.used && is_left_out(o, "free")) {
    p.free = rest_of(o, p, *p.used);
  } else if (p.free && is_left_out(o, "used")) {
    p.used = rest_of(o, p, *p.free);
  }
}

pool read_pool(object_reader& o) {
  pool p;
  p.from = source::simulated;
  const std::optional<std::uint32_t> kind = o.one_word("kind", pool_kind_words);
  if (!kind) o.missing("kind", list_of(pool_kind_words));
  p.kind = static_cast<pool_kind>(kind.value_or(static_cast<std::uint32_t>(pool_kind::vram)));
  read_fields(o, described_pool(), &p);
  complete(o, p);
  const auto allocated = static_cast<std::uint32_t>(accounting::allocated);
  p.accounting =
      static_cast<accounting>(o.one_word("accounting", accounting_words).value_or(allocated));
  p.is_main = o.truth("main").value_or(false);
  p.notes = read_notes(o);
  o.finish();
  return p;
}

void check_against(const std::vector<pool>& before, const pool& p, const place& at,
                   problems& found) {
  for (const pool& other : before) {
    if (other.kind == p.kind) found.add(at, "a pool of this kind stands before it already");
    if (other.is_main && p.is_main) found.add(at, "another pool is the main one already");
  }
}

}  // namespace

std::unique_ptr<const pools> read_pools(object_reader& device) {
  std::vector<pool> all;
  device.each("pools", [&](const json::value& v, const place& at) {
    object_reader o(v, at, device.found());
    const pool p = read_pool(o);
    check_against(all, p, at, device.found());
    all.push_back(p);
  });
  const auto main = std::ranges::find_if(all, [](const pool& p) { return p.is_main; });
  if (main != all.end()) std::rotate(all.begin(), main, main + 1);
  if (!all.empty()) all.front().is_main = true;
  if (all.empty()) return {};
  auto out = std::make_unique<pools>();
  for (const pool& p : all) out->add(p);
  return out;
}

std::unique_ptr<const telemetry> read_telemetry(object_reader& device) {
  const json::value* v = device.get("telemetry");
  if (v == nullptr) return {};
  const place here(device.at(), "telemetry");
  object_reader o(*v, here, device.found());
  auto t = std::make_unique<telemetry>();
  t->from = source::simulated;
  t->sources = bit_of(source::simulated);
  read_fields(o, described_telemetry(), t.get());
  t->notes = read_notes(o);
  o.finish();
  return t;
}

}  // namespace hmn::simulated
