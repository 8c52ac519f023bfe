// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a caller sees of a card when DXGI and PDH lie. Their data files belong to this program.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "backends/lies/observer.hpp"

using lies_test::backend_bit;
using lies_test::Expectation;
using lies_test::Observer;

namespace {

struct CounterRow {
  std::string object, counter, instance, value, status = "0";
};

// A card of 1000 MB, of which 100 are in use: 50 of them committed by process 4321.
struct Machine {
  std::map<std::string, std::string> card{{"luid", "0x103D8"},      {"dedicated", "1000000000"},
                                          {"shared", "2000000000"}, {"budget", "900000000"},
                                          {"used", "40000000"},     {"host budget", "1800000000"},
                                          {"host used", "5000000"}};
  std::vector<CounterRow> rows{
      {"GPU Adapter Memory", "Dedicated Usage", card_instance, "100000000"},
      {"GPU Adapter Memory", "Shared Usage", card_instance, "10000000"},
      {"GPU Process Memory", "Dedicated Usage", "pid_4321_" + card_instance, "50000000"},
      {"GPU Process Memory", "Shared Usage", "pid_4321_" + card_instance, "4000000"},
      {"GPU Process Memory", "Local Usage", "pid_4321_" + card_instance, "45000000"},
      {"GPU Engine", "Utilization Percentage", "pid_4321_" + card_instance + engine_suffix, "30"}};
  std::string lie = "none";  // HMN_FAKE_LIE

  void write() const {
    std::ofstream dxgi(std::getenv("HMN_FAKE_DXGI"));
    dxgi << card.at("luid") << ";0x10de;0x2786;0x40fa1458;0";
    for (const char* cell : {"dedicated", "shared", "budget", "used", "host budget", "host used"}) {
      dxgi << ";" << card.at(cell);
    }
    dxgi << ";NVIDIA GeForce RTX 4070;\n";
    std::ofstream pdh(std::getenv("HMN_FAKE_PDH"));
    for (const CounterRow& row : rows) {
      pdh << row.object << ";" << row.counter << ";" << row.instance << ";" << row.value << ";"
          << row.status << "\n";
    }
    _putenv(("HMN_FAKE_LIE=" + lie).c_str());
  }

  static inline const std::string card_instance = "luid_0x00000000_0x000103D8_phys_0";
  static inline const std::string engine_suffix = "_eng_0_engtype_3D";
};

constexpr std::size_t in_use = 0, committed = 2, resident = 4, load = 5;

using Expectations = std::vector<Expectation>;

struct Lie {
  std::string name;
  void (*modify)(Machine& machine);
  Expectations differences;  // differences from the honest machine
};

const Expectations honest{{"total_bytes", "1000000000"},   {"used_bytes", "100000000"},
                          {"free_bytes", "900000000"},     {"budget_bytes", "900000000"},
                          {"self.used_bytes", "40000000"}, {"self.host_pool_bytes", "5000000"},
                          {"gpu_busy_percent", "30"},      {"processes", "listed"},
                          {"pid:4321", "45000000"}};

Expectations apply_differences(const Expectations& differences) {
  Expectations expectations_for_card = honest;
  for (const Expectation& difference : differences) {
    for (Expectation& expectation : expectations_for_card) {
      if (expectation.key == difference.key) expectation.value = difference.value;
    }
  }
  return expectations_for_card;
}

// Checks the second snapshot, since a load needs two.
void check(const Machine& machine, const std::string& name, const Expectations& differences) {
  INFO(name);
  machine.write();
  Observer observer(backend_bit(HMN_BACKEND_NVML) | backend_bit(HMN_BACKEND_NVIDIA_SMI), 20'000);
  observer.take_snapshot(HMN_COLLECT_SELF);
  observer.take_snapshot(HMN_COLLECT_SELF);
  observer.check(apply_differences(differences));
}

void check(const std::vector<Lie>& lies) {
  for (const Lie& lie : lies) {
    Machine machine;
    lie.modify(machine);
    check(machine, lie.name, lie.differences);
  }
}

// What a call of that name returns or does, by HMN_FAKE_LIE.
struct CallLie {
  const char* lie;
  Expectations differences;
};

void check(const std::vector<CallLie>& lies) {
  for (const CallLie& lie : lies) {
    Machine machine;
    machine.lie = lie.lie;
    check(machine, lie.lie, lie.differences);
  }
}

Expectations expect_all(const std::string& value) {
  Expectations expected;
  for (const Expectation& expectation : honest) {
    if (!expectation.key.starts_with("pid:")) expected.push_back({expectation.key, value});
  }
  expected.push_back({"pid:4321", "unlisted"});
  return expected;
}

const Expectations card_absent = expect_all("none");
Expectations expect_no_budget(const std::string& reason) {
  // Only the counters remain, and they have no row of the caller.
  return {{"budget_bytes", reason},
          {"self.used_bytes", "not_present"},
          {"self.host_pool_bytes", "not_present"}};
}
Expectations expect_lost() {
  Expectations expected = expect_all("lost");
  for (Expectation& expectation : expected) {
    if (expectation.key == "gpu_busy_percent") expectation.value = "30";
    if (expectation.key == "processes") expectation.value = "listed";
    if (expectation.key == "pid:4321") expectation.value = "45000000";
  }
  return expected;
}
Expectations expect_no_counters(const std::string& reason) {
  return {{"used_bytes", reason},
          {"free_bytes", reason},
          {"gpu_busy_percent", reason},
          {"processes", reason},
          {"pid:4321", "unlisted"}};
}

}  // namespace

TEST_CASE("an honest driver yields the expected values") {
  check(Machine(), "honest", {});
}

TEST_CASE("DXGI: an incorrect answer of a factory or adapter call yields no false value") {
  check({{"CreateDXGIFactory1=0x80004005", card_absent},
         {"CreateDXGIFactory1=0x8007000E", card_absent},
         {"CreateDXGIFactory1=0x80070005", card_absent},
         {"CreateDXGIFactory1=0x887A0004", card_absent},
         {"CreateDXGIFactory1=untouched", card_absent},
         {"IsCurrent=never", {{"gpu_busy_percent", "not_yet"}}},
         {"EnumAdapters1=0x80070005", card_absent},
         {"EnumAdapters1=0x887A0001", card_absent},
         {"EnumAdapters1=untouched", card_absent},
         {"EnumAdapters1=endless", {}},
         {"GetDesc1=0x887A0005", card_absent},
         {"GetDesc1=0x80070057", card_absent},
         {"GetDesc1=untouched", card_absent},
         {"GetDesc1=unterminated", {}},
         {"CheckInterfaceSupport=0x887A0004", {}},
         {"CheckInterfaceSupport=untouched", {}}});
}

TEST_CASE("DXGI: an incorrect answer of a memory call yields no false value") {
  check({{"QueryInterface=0x80004002", expect_no_budget("unsupported")},
         {"QueryInterface=untouched", expect_no_budget("unsupported")},
         {"QueryVideoMemoryInfo=0x80070005", expect_no_budget("failed")},
         {"QueryVideoMemoryInfo=0x80070057", expect_no_budget("failed")},
         {"QueryVideoMemoryInfo=0x887A0005", expect_lost()},
         {"QueryVideoMemoryInfo=untouched", expect_no_budget("failed")}});
}

TEST_CASE("DXGI: an implausible value of a card is absent with a reason") {
  check({{"no memory",
          [](Machine& machine) { machine.card["dedicated"] = "0"; },
          {{"total_bytes", "unsupported"}, {"free_bytes", "unsupported"}}},
         {"a huge total",
          [](Machine& machine) { machine.card["dedicated"] = "0x1000000000000000"; },
          {{"total_bytes", "implausible"},
           {"free_bytes", "implausible"},
           {"used_bytes", "implausible"}}},
         {"a total below 0",
          [](Machine& machine) { machine.card["dedicated"] = "0xFFFFFFFFFFFFFFFF"; },
          {{"total_bytes", "implausible"},
           {"free_bytes", "implausible"},
           {"used_bytes", "implausible"}}},
         {"a huge budget",
          [](Machine& machine) { machine.card["budget"] = "0x1000000000000000"; },
          {{"budget_bytes", "implausible"}}},
         {"a huge budget and none in the host",
          [](Machine& machine) {
            machine.card["budget"] = "0x1000000000000000";
            machine.card["host budget"] = "0";
          },
          {{"budget_bytes", "implausible"}}},
         {"a budget of 0",
          [](Machine& machine) { machine.card["budget"] = "0"; },
          {{"budget_bytes", "unsupported"}}},
         {"the caller uses more than there is",
          [](Machine& machine) { machine.card["used"] = "1001000000"; },
          {{"self.used_bytes", "implausible"}}},
         {"the caller uses a huge amount",
          [](Machine& machine) { machine.card["used"] = "0x8000000000000000"; },
          {{"self.used_bytes", "implausible"}}}});
}

TEST_CASE("PDH: an incorrect answer of a call leaves the counters absent with a reason") {
  check({{"PdhOpenQueryW=0x800007D0", expect_no_counters("failed")},
         {"PdhOpenQueryW=untouched", expect_no_counters("failed")},
         {"PdhAddEnglishCounterW=0xC0000BB8", expect_no_counters("not_present")},
         {"PdhAddEnglishCounterW=0xC0000BB9", expect_no_counters("not_present")},
         {"PdhAddEnglishCounterW=0xC0000BDB", expect_no_counters("failed")},
         {"PdhAddEnglishCounterW=untouched", expect_no_counters("failed")},
         {"PdhCollectQueryData=0xC0000BBC", expect_no_counters("failed")},
         {"PdhCollectQueryData=0xC0000BDB", expect_no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=0xC0000BBC", expect_no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=0xC0000BBD", expect_no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=untouched", expect_no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=uncounted", expect_no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=one more", expect_no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=huge count", expect_no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=endless", expect_no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=huge size", expect_no_counters("limit")},
         {"PdhGetFormattedCounterArrayW=unterminated", expect_no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=nameless", expect_no_counters("failed")}});
}

TEST_CASE("PDH: an incorrect value of a card is absent with a reason") {
  const auto expect_none = [](const std::string& reason) {
    return Expectations{{"used_bytes", reason}, {"free_bytes", reason}};
  };
  check({{"below 0", [](Machine& machine) { machine.rows[in_use].value = "-1"; },
          expect_none("failed")},
         {"huge", [](Machine& machine) { machine.rows[in_use].value = "0x7FFFFFFFFFFFFFFF"; },
          expect_none("implausible")},
         {"more than there is", [](Machine& machine) { machine.rows[in_use].value = "1001000000"; },
          expect_none("implausible")},
         {"a row that failed", [](Machine& machine) { machine.rows[in_use].status = "0xC0000BBA"; },
          expect_none("failed")},
         {"twice", [](Machine& machine) { machine.rows.push_back(machine.rows[in_use]); }, {}},
         {"twice, and differs",
          [](Machine& machine) {
            machine.rows.push_back(machine.rows[in_use]);
            machine.rows.back().value = "99";
          },
          expect_none("failed")},
         {"of another card",
          [](Machine& machine) {
            machine.rows[in_use].instance = "luid_0x00000000_0x00000001_phys_0";
          },
          expect_none("unsupported")},
         {"of nothing", [](Machine& machine) { machine.rows[in_use].instance = "_Total"; },
          expect_none("unsupported")}});
}

TEST_CASE("PDH: an incorrect value of a process or load is absent with a reason") {
  check({{"below 0",
          [](Machine& machine) {
            machine.rows[resident].value = machine.rows[committed].value = "-1";
          },
          {{"pid:4321", "failed"}}},
         {"more than there is",
          [](Machine& machine) { machine.rows[resident].value = "1001000000"; },
          {{"pid:4321", "implausible"}}},
         {"twice", [](Machine& machine) { machine.rows.push_back(machine.rows[resident]); }, {}},
         {"without a number",
          [](Machine& machine) {
            machine.rows[resident].instance = machine.rows[committed].instance =
                "pid__" + Machine::card_instance;
          },
          {{"pid:4321", "unsupported"}}},
         {"a load twice", [](Machine& machine) { machine.rows.push_back(machine.rows[load]); }, {}},
         {"a load of a little above 100 %",
          [](Machine& machine) { machine.rows[load].value = "101.5"; },
          {{"gpu_busy_percent", "100"}}},
         {"a huge load",
          [](Machine& machine) { machine.rows[load].value = "5000"; },
          {{"gpu_busy_percent", "implausible"}}},
         {"an endless load",
          [](Machine& machine) { machine.rows[load].value = "inf"; },
          {{"gpu_busy_percent", "implausible"}}},
         {"a load that is no number",
          [](Machine& machine) { machine.rows[load].value = "nan"; },
          {{"gpu_busy_percent", "failed"}}},
         {"a load below 0",
          [](Machine& machine) { machine.rows[load].value = "-5"; },
          {{"gpu_busy_percent", "failed"}}}});
}
