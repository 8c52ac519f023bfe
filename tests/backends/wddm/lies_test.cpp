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
using hmn_fake::PlainReading;
using test::FakeAdapter;
using test::FakeDxgi;
using test::FakePdh;
using test::FakeRow;

namespace wddm_lies {
namespace {

constexpr const char16_t* in_use = u"\\GPU Adapter Memory(*)\\Dedicated Usage";
constexpr const char16_t* in_host = u"\\GPU Adapter Memory(*)\\Shared Usage";
constexpr const char16_t* committed = u"\\GPU Process Memory(*)\\Dedicated Usage";
constexpr const char16_t* committed_in_host = u"\\GPU Process Memory(*)\\Shared Usage";
constexpr const char16_t* adapter_row = u"luid_0x00000000_0x0000000A_phys_0";
constexpr const char16_t* process_row = u"pid_7_luid_0x00000000_0x0000000A_phys_0";
constexpr dxgi::Code refused = static_cast<dxgi::Code>(0x80070005);  // E_ACCESSDENIED

// Of the first diagnostic that has the field.
Reason reason_in(const PlainReading& r, std::uint32_t about, std::uint64_t field) {
  for (const Diagnostic& d : r.diagnostics) {
    if (d.about == about && (d.field & field) != 0) return reason_for(d.why);
  }
  return Reason::unknown;
}

constexpr std::int64_t mib = 1 << 20;

// A card of 1000 MiB, of which 100 are in use, 40 of them by process 7.
struct LyingMachine {
  LyingMachine() {
    FakeDxgi::reset();
    FakePdh::reset();
    FakeAdapter card;
    card.dedicated = 1000 * mib;
    card.shared = 2000 * mib;
    card.luid = 0xA;
    card.local = {900 * mib, 40 * mib, 0, 0};
    card.non_local = {1800 * mib, 0, 0, 0};
    FakeDxgi::now().adapters = {card};
    FakePdh::now().counters[in_use] = {{adapter_row, 100 * mib, 100 * mib}};
    FakePdh::now().counters[in_host] = {{adapter_row, 10 * mib, 10 * mib}};
    FakePdh::now().counters[committed] = {{process_row, 40 * mib, 40 * mib}};
    FakePdh::now().counters[committed_in_host] = {{process_row, 4 * mib, 4 * mib}};
  }
};

struct Lie {
  const char* name;
  void (*make)();
  std::optional<std::uint64_t> total, used, budget;
  std::uint64_t field;  // without a value
  Reason why;
};

void row(std::int64_t bytes, pdh::Code status = pdh::success) {
  FakePdh::now().counters[in_use] = {{adapter_row, bytes, 0, status}};
}

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t budget_field = 1U << 5;

const Lie lies[] = {
    {"honest", [] {}, 1000 * mib, 100 * mib, 900 * mib, 0, Reason::unknown},
    {"below 0", [] { row(-1); }, 1000 * mib, {}, 900 * mib, pool_field::used, Reason::failed},
    {"huge", [] { row(huge); }, 1000 * mib, {}, 900 * mib, pool_field::used, Reason::implausible},
    {"above the total",
     [] { row(1001 * mib); },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     Reason::implausible},
    {"a row of its own error",
     [] { row(100 * mib, pdh::no_object); },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     Reason::failed},
    {"no row of this adapter",
     [] { FakePdh::now().counters[in_use].clear(); },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     Reason::unsupported},
    {"an instance that names nothing",
     [] {
       FakePdh::now().counters[in_use] = {{u"luid_x_phys", 100 * mib, 100 * mib}};
     },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     Reason::unsupported},
    {"the counters cannot be read",
     [] { FakePdh::now().rows_answer = pdh::no_object; },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     Reason::failed},
    {"no memory of its own",
     [] { FakeDxgi::now().adapters[0].dedicated = 0; },
     {},
     100 * mib,
     900 * mib,
     0,
     Reason::unknown},
    {"a huge total",
     [] { FakeDxgi::now().adapters[0].dedicated = std::uint64_t{1} << 60; },
     {},
     {},
     900 * mib,
     pool_field::total,
     Reason::implausible},
    {"a budget of 0",
     [] { FakeDxgi::now().adapters[0].local.budget = 0; },
     1000 * mib,
     100 * mib,
     {},
     0,
     Reason::unknown},
    {"the budget is refused",
     [] { FakeDxgi::now().adapters[0].queries = refused; },
     1000 * mib,
     100 * mib,
     {},
     budget_field,
     Reason::failed},
};

}  // namespace

TEST_CASE("DXGI and PDH: what they report of an adapter's memory") {
  for (const Lie& l : lies) {
    CAPTURE(std::string(l.name));
    const LyingMachine m;
    l.make();
    dxgi::DxgiSource s(std::make_unique<pdh::PdhCounters>(FakePdh::functions()), FakeDxgi::create,
                       FakeDxgi::kernel());
    PlainReading r;
    std::vector<Device> found;
    REQUIRE(s.prepare(r));
    REQUIRE(s.devices(found, r));
    Pools all;
    REQUIRE(s.memory(0, all, r));
    REQUIRE(keep_plausible(all, 0, r));
    const Pool* const vram = all.find(PoolKind::vram);
    REQUIRE(vram != nullptr);
    CHECK(vram->total == l.total);
    CHECK(vram->used == l.used);
    CHECK(vram->budget == l.budget);
    if (l.field != 0) CHECK(reason_in(r, subject::pools, l.field) == l.why);
  }
}

TEST_CASE("PDH: a process whose value is invalid has a reason") {
  const LyingMachine m;
  FakePdh::now().counters[committed] = {{process_row, -1, -1}};
  dxgi::DxgiSource s(std::make_unique<pdh::PdhCounters>(FakePdh::functions()), FakeDxgi::create,
                     FakeDxgi::kernel());
  PlainReading r;
  std::vector<Device> found;
  REQUIRE(s.prepare(r));
  REQUIRE(s.devices(found, r));
  std::vector<Usage> rows;
  REQUIRE(s.processes(0, rows, r));
  REQUIRE(rows.size() == 1);
  CHECK_FALSE(rows[0].used);
  CHECK(reason_in(r, subject::processes, usage_field::used) == Reason::failed);
}

}  // namespace wddm_lies
