// SPDX-License-Identifier: MIT OR Apache-2.0
//
// DXGI and PDH lie: what is left after the check of every source's values, and why the rest is not.
#include <doctest/doctest.h>

#include <limits>
#include <memory>

#include "backends/dxgi/dxgi.hpp"
#include "backends/pdh/pdh.hpp"
#include "core/query.hpp"
#include "fake_dxgi.hpp"
#include "fake_pdh.hpp"
#include "plain_reading.hpp"

using namespace hmn;
using hmn_fake::plain_reading;
using test::fake_adapter;
using test::fake_dxgi;
using test::fake_pdh;
using test::fake_row;

namespace wddm_lies {
namespace {

constexpr const char16_t* in_use = u"\\GPU Adapter Memory(*)\\Dedicated Usage";
constexpr const char16_t* in_host = u"\\GPU Adapter Memory(*)\\Shared Usage";
constexpr const char16_t* committed = u"\\GPU Process Memory(*)\\Dedicated Usage";
constexpr const char16_t* committed_in_host = u"\\GPU Process Memory(*)\\Shared Usage";
constexpr const char16_t* adapter_row = u"luid_0x00000000_0x0000000A_phys_0";
constexpr const char16_t* process_row = u"pid_7_luid_0x00000000_0x0000000A_phys_0";
constexpr dxgi::code refused = static_cast<dxgi::code>(0x80070005);  // E_ACCESSDENIED

// Of the first diagnostic that has the field.
reason reason_in(const plain_reading& r, std::uint32_t about, std::uint64_t field) {
  for (const diagnostic& d : r.diagnostics) {
    if (d.about == about && (d.field & field) != 0) return reason_for(d.why);
  }
  return reason::unknown;
}

constexpr std::int64_t mib = 1 << 20;

// A card of 1000 MiB, of which 100 are in use, 40 of them by process 7.
struct lying_machine {
  lying_machine() {
    fake_dxgi::reset();
    fake_pdh::reset();
    fake_adapter card;
    card.dedicated = 1000 * mib;
    card.shared = 2000 * mib;
    card.luid = 0xA;
    card.local = {900 * mib, 40 * mib, 0, 0};
    card.non_local = {1800 * mib, 0, 0, 0};
    fake_dxgi::now().adapters = {card};
    fake_pdh::now().counters[in_use] = {{adapter_row, 100 * mib, 100 * mib}};
    fake_pdh::now().counters[in_host] = {{adapter_row, 10 * mib, 10 * mib}};
    fake_pdh::now().counters[committed] = {{process_row, 40 * mib, 40 * mib}};
    fake_pdh::now().counters[committed_in_host] = {{process_row, 4 * mib, 4 * mib}};
  }
};

struct lie {
  const char* name;
  void (*make)();
  std::optional<std::uint64_t> total, used, budget;
  std::uint64_t field;  // without a value
  reason why;
};

void row(std::int64_t bytes, pdh::code status = pdh::success) {
  fake_pdh::now().counters[in_use] = {{adapter_row, bytes, 0, status}};
}

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t budget_field = 1U << 5;

const lie lies[] = {
    {"honest", [] {}, 1000 * mib, 100 * mib, 900 * mib, 0, reason::unknown},
    {"below 0", [] { row(-1); }, 1000 * mib, {}, 900 * mib, pool_field::used, reason::failed},
    {"huge", [] { row(huge); }, 1000 * mib, {}, 900 * mib, pool_field::used, reason::implausible},
    {"above the total",
     [] { row(1001 * mib); },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     reason::implausible},
    {"a row of its own error",
     [] { row(100 * mib, pdh::no_object); },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     reason::failed},
    {"no row of this adapter",
     [] { fake_pdh::now().counters[in_use].clear(); },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     reason::unsupported},
    {"an instance that names nothing",
     [] {
       fake_pdh::now().counters[in_use] = {{u"luid_x_phys", 100 * mib, 100 * mib}};
     },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     reason::unsupported},
    {"the counters cannot be read",
     [] { fake_pdh::now().rows_answer = pdh::no_object; },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     reason::failed},
    {"no memory of its own",
     [] { fake_dxgi::now().adapters[0].dedicated = 0; },
     {},
     100 * mib,
     900 * mib,
     0,
     reason::unknown},
    {"a huge total",
     [] { fake_dxgi::now().adapters[0].dedicated = std::uint64_t{1} << 60; },
     {},
     {},
     900 * mib,
     pool_field::total,
     reason::implausible},
    {"a budget of 0",
     [] { fake_dxgi::now().adapters[0].local.budget = 0; },
     1000 * mib,
     100 * mib,
     {},
     0,
     reason::unknown},
    {"the budget is refused",
     [] { fake_dxgi::now().adapters[0].queries = refused; },
     1000 * mib,
     100 * mib,
     {},
     budget_field,
     reason::failed},
};

}  // namespace

TEST_CASE("DXGI and PDH: what they report of an adapter's memory") {
  for (const lie& l : lies) {
    CAPTURE(std::string(l.name));
    const lying_machine m;
    l.make();
    dxgi::dxgi_source s(std::make_unique<pdh::pdh_counters>(fake_pdh::functions()),
                        fake_dxgi::create, fake_dxgi::kernel());
    plain_reading r;
    std::vector<device> found;
    REQUIRE(s.prepare(r));
    REQUIRE(s.devices(found, r));
    pools all;
    REQUIRE(s.memory(0, all, r));
    REQUIRE(keep_plausible(all, 0, r));
    const pool* const vram = all.find(pool_kind::vram);
    REQUIRE(vram != nullptr);
    CHECK(vram->total == l.total);
    CHECK(vram->used == l.used);
    CHECK(vram->budget == l.budget);
    if (l.field != 0) CHECK(reason_in(r, subject::pools, l.field) == l.why);
  }
}

TEST_CASE("PDH: a process whose value is invalid has a reason") {
  const lying_machine m;
  fake_pdh::now().counters[committed] = {{process_row, -1, -1}};
  dxgi::dxgi_source s(std::make_unique<pdh::pdh_counters>(fake_pdh::functions()), fake_dxgi::create,
                      fake_dxgi::kernel());
  plain_reading r;
  std::vector<device> found;
  REQUIRE(s.prepare(r));
  REQUIRE(s.devices(found, r));
  std::vector<usage> rows;
  REQUIRE(s.processes(0, rows, r));
  REQUIRE(rows.size() == 1);
  CHECK_FALSE(rows[0].used);
  CHECK(reason_in(r, subject::processes, usage_field::used) == reason::failed);
}

}  // namespace wddm_lies
