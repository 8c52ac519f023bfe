// SPDX-License-Identifier: MIT OR Apache-2.0
//
// DXGI and PDH lie: what a caller then sees of the card. Their files are this program's own.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "backends/lies/observer.hpp"

using lies_test::bit_of;
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
      {"GPU Adapter Memory", "Dedicated Usage", of_card, "100000000"},
      {"GPU Adapter Memory", "Shared Usage", of_card, "10000000"},
      {"GPU Process Memory", "Dedicated Usage", "pid_4321_" + of_card, "50000000"},
      {"GPU Process Memory", "Shared Usage", "pid_4321_" + of_card, "4000000"},
      {"GPU Process Memory", "Local Usage", "pid_4321_" + of_card, "45000000"},
      {"GPU Engine", "Utilization Percentage", "pid_4321_" + of_card + engine, "30"}};
  std::string lie = "none";  // HMN_FAKE_LIE

  void write() const {
    std::ofstream dxgi(std::getenv("HMN_FAKE_DXGI"));
    dxgi << card.at("luid") << ";0x10de;0x2786;0x40fa1458;0";
    for (const char* cell : {"dedicated", "shared", "budget", "used", "host budget", "host used"}) {
      dxgi << ";" << card.at(cell);
    }
    dxgi << ";NVIDIA GeForce RTX 4070;\n";
    std::ofstream pdh(std::getenv("HMN_FAKE_PDH"));
    for (const CounterRow& r : rows) {
      pdh << r.object << ";" << r.counter << ";" << r.instance << ";" << r.value << ";" << r.status
          << "\n";
    }
    _putenv(("HMN_FAKE_LIE=" + lie).c_str());
  }

  static inline const std::string of_card = "luid_0x00000000_0x000103D8_phys_0";
  static inline const std::string engine = "_eng_0_engtype_3D";
};

constexpr std::size_t in_use = 0, committed = 2, resident = 4, load = 5;

using Expectations = std::vector<Expectation>;

struct Lie {
  std::string name;
  void (*make)(Machine& m);
  Expectations sees;  // where it differs from the honest machine
};

const Expectations honest{{"total_bytes", "1000000000"},   {"used_bytes", "100000000"},
                          {"free_bytes", "900000000"},     {"budget_bytes", "900000000"},
                          {"self.used_bytes", "40000000"}, {"self.host_pool_bytes", "5000000"},
                          {"gpu_busy_percent", "30"},      {"processes", "listed"},
                          {"pid:4321", "45000000"}};

Expectations with(const Expectations& differences) {
  Expectations all = honest;
  for (const Expectation& d : differences) {
    for (Expectation& e : all) {
      if (e.key == d.key) e.is = d.is;
    }
  }
  return all;
}

// The second snapshot: a load needs two.
void check(const Machine& m, const std::string& name, const Expectations& differences) {
  INFO(name);
  m.write();
  Observer o(bit_of(HMN_BACKEND_NVML) | bit_of(HMN_BACKEND_NVIDIA_SMI), 20'000);
  o.take(HMN_COLLECT_SELF);
  o.take(HMN_COLLECT_SELF);
  o.check(with(differences));
}

void check(const std::vector<Lie>& all) {
  for (const Lie& l : all) {
    Machine m;
    l.make(m);
    check(m, l.name, l.sees);
  }
}

// What a call of that name returns or does, by HMN_FAKE_LIE.
struct CallLie {
  const char* lie;
  Expectations sees;
};

void check(const std::vector<CallLie>& all) {
  for (const CallLie& l : all) {
    Machine m;
    m.lie = l.lie;
    check(m, l.lie, l.sees);
  }
}

Expectations every(const std::string& is) {
  Expectations all;
  for (const Expectation& e : honest) {
    if (!e.key.starts_with("pid:")) all.push_back({e.key, is});
  }
  all.push_back({"pid:4321", "unlisted"});
  return all;
}

const Expectations no_card = every("none");
Expectations no_budget(const std::string& why) {
  // The counters, which have no row of the caller, are what is left of its use.
  return {{"budget_bytes", why},
          {"self.used_bytes", "not_present"},
          {"self.host_pool_bytes", "not_present"}};
}
Expectations lost() {
  Expectations all = every("lost");
  for (Expectation& e : all) {
    if (e.key == "gpu_busy_percent") e.is = "30";
    if (e.key == "processes") e.is = "listed";
    if (e.key == "pid:4321") e.is = "45000000";
  }
  return all;
}
Expectations no_counters(const std::string& why) {
  return {{"used_bytes", why},
          {"free_bytes", why},
          {"gpu_busy_percent", why},
          {"processes", why},
          {"pid:4321", "unlisted"}};
}

}  // namespace

TEST_CASE("honest") {
  check(Machine(), "honest", {});
}

TEST_CASE("DXGI: each call of a factory and its adapters") {
  check({{"CreateDXGIFactory1=0x80004005", no_card},
         {"CreateDXGIFactory1=0x8007000E", no_card},
         {"CreateDXGIFactory1=0x80070005", no_card},
         {"CreateDXGIFactory1=0x887A0004", no_card},
         {"CreateDXGIFactory1=untouched", no_card},
         {"IsCurrent=never", {{"gpu_busy_percent", "not_yet"}}},
         {"EnumAdapters1=0x80070005", no_card},
         {"EnumAdapters1=0x887A0001", no_card},
         {"EnumAdapters1=untouched", no_card},
         {"EnumAdapters1=endless", {}},
         {"GetDesc1=0x887A0005", no_card},
         {"GetDesc1=0x80070057", no_card},
         {"GetDesc1=untouched", no_card},
         {"GetDesc1=unterminated", {}},
         {"CheckInterfaceSupport=0x887A0004", {}},
         {"CheckInterfaceSupport=untouched", {}}});
}

TEST_CASE("DXGI: the call for the memory of a card") {
  check({{"QueryInterface=0x80004002", no_budget("unsupported")},
         {"QueryInterface=untouched", no_budget("unsupported")},
         {"QueryVideoMemoryInfo=0x80070005", no_budget("failed")},
         {"QueryVideoMemoryInfo=0x80070057", no_budget("failed")},
         {"QueryVideoMemoryInfo=0x887A0005", lost()},
         {"QueryVideoMemoryInfo=untouched", no_budget("failed")}});
}

TEST_CASE("DXGI: the values of a card") {
  check({{"no memory",
          [](Machine& m) { m.card["dedicated"] = "0"; },
          {{"total_bytes", "unsupported"}, {"free_bytes", "unsupported"}}},
         {"a huge total",
          [](Machine& m) { m.card["dedicated"] = "0x1000000000000000"; },
          {{"total_bytes", "implausible"},
           {"free_bytes", "implausible"},
           {"used_bytes", "implausible"}}},
         {"a total below 0",
          [](Machine& m) { m.card["dedicated"] = "0xFFFFFFFFFFFFFFFF"; },
          {{"total_bytes", "implausible"},
           {"free_bytes", "implausible"},
           {"used_bytes", "implausible"}}},
         {"a huge budget",
          [](Machine& m) { m.card["budget"] = "0x1000000000000000"; },
          {{"budget_bytes", "implausible"}}},
         {"a huge budget and none in the host",
          [](Machine& m) {
            m.card["budget"] = "0x1000000000000000";
            m.card["host budget"] = "0";
          },
          {{"budget_bytes", "implausible"}}},
         {"a budget of 0",
          [](Machine& m) { m.card["budget"] = "0"; },
          {{"budget_bytes", "unsupported"}}},
         {"the caller uses more than there is",
          [](Machine& m) { m.card["used"] = "1001000000"; },
          {{"self.used_bytes", "implausible"}}},
         {"the caller uses a huge amount",
          [](Machine& m) { m.card["used"] = "0x8000000000000000"; },
          {{"self.used_bytes", "implausible"}}}});
}

TEST_CASE("PDH: each call") {
  check({{"PdhOpenQueryW=0x800007D0", no_counters("failed")},
         {"PdhOpenQueryW=untouched", no_counters("failed")},
         {"PdhAddEnglishCounterW=0xC0000BB8", no_counters("not_present")},
         {"PdhAddEnglishCounterW=0xC0000BB9", no_counters("not_present")},
         {"PdhAddEnglishCounterW=0xC0000BDB", no_counters("failed")},
         {"PdhAddEnglishCounterW=untouched", no_counters("failed")},
         {"PdhCollectQueryData=0xC0000BBC", no_counters("failed")},
         {"PdhCollectQueryData=0xC0000BDB", no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=0xC0000BBC", no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=0xC0000BBD", no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=untouched", no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=uncounted", no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=one more", no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=huge count", no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=endless", no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=huge size", no_counters("limit")},
         {"PdhGetFormattedCounterArrayW=unterminated", no_counters("failed")},
         {"PdhGetFormattedCounterArrayW=nameless", no_counters("failed")}});
}

TEST_CASE("PDH: the values of a card") {
  const auto none = [](const std::string& why) {
    return Expectations{{"used_bytes", why}, {"free_bytes", why}};
  };
  check({{"below 0", [](Machine& m) { m.rows[in_use].value = "-1"; }, none("failed")},
         {"huge", [](Machine& m) { m.rows[in_use].value = "0x7FFFFFFFFFFFFFFF"; },
          none("implausible")},
         {"more than there is", [](Machine& m) { m.rows[in_use].value = "1001000000"; },
          none("implausible")},
         {"a row that failed", [](Machine& m) { m.rows[in_use].status = "0xC0000BBA"; },
          none("failed")},
         {"twice", [](Machine& m) { m.rows.push_back(m.rows[in_use]); }, {}},
         {"twice, and differs",
          [](Machine& m) {
            m.rows.push_back(m.rows[in_use]);
            m.rows.back().value = "99";
          },
          none("failed")},
         {"of another card",
          [](Machine& m) { m.rows[in_use].instance = "luid_0x00000000_0x00000001_phys_0"; },
          none("unsupported")},
         {"of nothing", [](Machine& m) { m.rows[in_use].instance = "_Total"; },
          none("unsupported")}});
}

TEST_CASE("PDH: the values of a process, and the load") {
  check({{"below 0",
          [](Machine& m) { m.rows[resident].value = m.rows[committed].value = "-1"; },
          {{"pid:4321", "failed"}}},
         {"more than there is",
          [](Machine& m) { m.rows[resident].value = "1001000000"; },
          {{"pid:4321", "implausible"}}},
         {"twice", [](Machine& m) { m.rows.push_back(m.rows[resident]); }, {}},
         {"without a number",
          [](Machine& m) {
            m.rows[resident].instance = m.rows[committed].instance = "pid__" + Machine::of_card;
          },
          {{"pid:4321", "unsupported"}}},
         {"a load twice", [](Machine& m) { m.rows.push_back(m.rows[load]); }, {}},
         {"a load of a little above 100 %",
          [](Machine& m) { m.rows[load].value = "101.5"; },
          {{"gpu_busy_percent", "100"}}},
         {"a huge load",
          [](Machine& m) { m.rows[load].value = "5000"; },
          {{"gpu_busy_percent", "implausible"}}},
         {"an endless load",
          [](Machine& m) { m.rows[load].value = "inf"; },
          {{"gpu_busy_percent", "implausible"}}},
         {"a load that is no number",
          [](Machine& m) { m.rows[load].value = "nan"; },
          {{"gpu_busy_percent", "failed"}}},
         {"a load below 0",
          [](Machine& m) { m.rows[load].value = "-5"; },
          {{"gpu_busy_percent", "failed"}}}});
}
