// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Wrong values of DXGI and PDH: which ones are dropped by the plausibility check, and why.
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

// Reason of the first diagnostic that has the field.
Reason find_reason(const PlainReading& reading, std::uint32_t subject, std::uint64_t field) {
  for (const Diagnostic& diagnostic : reading.diagnostics) {
    if (diagnostic.subject == subject && (diagnostic.field & field) != 0)
      return resolve_reason(diagnostic.failure);
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
    FakeDxgi::instance().adapters = {card};
    FakePdh::instance().counters[in_use] = {{adapter_row, 100 * mib, 100 * mib}};
    FakePdh::instance().counters[in_host] = {{adapter_row, 10 * mib, 10 * mib}};
    FakePdh::instance().counters[committed] = {{process_row, 40 * mib, 40 * mib}};
    FakePdh::instance().counters[committed_in_host] = {{process_row, 4 * mib, 4 * mib}};
  }
};

struct Lie {
  const char* name;
  void (*make)();
  std::optional<std::uint64_t> total, used, budget;
  std::uint64_t field;  // without a value
  Reason reason;
};

void set_row(std::int64_t bytes, pdh::Code status = pdh::success) {
  FakePdh::instance().counters[in_use] = {{adapter_row, bytes, 0, status}};
}

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t budget_field = 1U << 5;

const Lie lies[] = {
    {"honest", [] {}, 1000 * mib, 100 * mib, 900 * mib, 0, Reason::unknown},
    {"below 0", [] { set_row(-1); }, 1000 * mib, {}, 900 * mib, pool_field::used, Reason::failed},
    {"huge",
     [] { set_row(huge); },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     Reason::implausible},
    {"above the total",
     [] { set_row(1001 * mib); },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     Reason::implausible},
    {"a row of its own error",
     [] { set_row(100 * mib, pdh::no_object); },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     Reason::failed},
    {"no row of this adapter",
     [] { FakePdh::instance().counters[in_use].clear(); },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     Reason::unsupported},
    {"an instance that names nothing",
     [] {
       FakePdh::instance().counters[in_use] = {{u"luid_x_phys", 100 * mib, 100 * mib}};
     },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     Reason::unsupported},
    {"the counters cannot be read",
     [] { FakePdh::instance().rows_answer = pdh::no_object; },
     1000 * mib,
     {},
     900 * mib,
     pool_field::used,
     Reason::failed},
    {"no memory of its own",
     [] { FakeDxgi::instance().adapters[0].dedicated = 0; },
     {},
     100 * mib,
     900 * mib,
     0,
     Reason::unknown},
    {"a huge total",
     [] { FakeDxgi::instance().adapters[0].dedicated = std::uint64_t{1} << 60; },
     {},
     {},
     900 * mib,
     pool_field::total,
     Reason::implausible},
    {"a budget of 0",
     [] { FakeDxgi::instance().adapters[0].local.budget = 0; },
     1000 * mib,
     100 * mib,
     {},
     0,
     Reason::unknown},
    {"the budget is refused",
     [] { FakeDxgi::instance().adapters[0].query_code = refused; },
     1000 * mib,
     100 * mib,
     {},
     budget_field,
     Reason::failed},
};

}  // namespace

TEST_CASE("DXGI and PDH: impossible adapter memory values are dropped with a reason") {
  for (const Lie& lie : lies) {
    CAPTURE(std::string(lie.name));
    const LyingMachine machine;
    lie.make();
    dxgi::DxgiSource source(std::make_unique<pdh::PdhCounters>(FakePdh::functions()),
                            FakeDxgi::create, FakeDxgi::kernel());
    PlainReading reading;
    std::vector<Device> devices;
    REQUIRE(source.prepare(reading));
    REQUIRE(source.devices(devices, reading));
    PoolList all;
    REQUIRE(source.memory(0, all, reading));
    REQUIRE(keep_plausible(all, 0, reading));
    const Pool* const vram = all.find(PoolKind::vram);
    REQUIRE(vram != nullptr);
    CHECK(vram->total == lie.total);
    CHECK(vram->used == lie.used);
    CHECK(vram->budget == lie.budget);
    if (lie.field != 0) CHECK(find_reason(reading, subject::pools, lie.field) == lie.reason);
  }
}

TEST_CASE("PDH: a process with an invalid value has a reason") {
  const LyingMachine machine;
  FakePdh::instance().counters[committed] = {{process_row, -1, -1}};
  dxgi::DxgiSource source(std::make_unique<pdh::PdhCounters>(FakePdh::functions()),
                          FakeDxgi::create, FakeDxgi::kernel());
  PlainReading reading;
  std::vector<Device> devices;
  REQUIRE(source.prepare(reading));
  REQUIRE(source.devices(devices, reading));
  std::vector<Usage> rows;
  REQUIRE(source.processes(0, rows, reading));
  REQUIRE(rows.size() == 1);
  CHECK_FALSE(rows[0].used);
  CHECK(find_reason(reading, subject::processes, usage_field::used) == Reason::failed);
}

}  // namespace wddm_lies
