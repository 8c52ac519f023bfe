// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "machine.hpp"

using namespace hmn;

namespace {

constexpr std::uint32_t peak = usage_field::peak_used;
constexpr const char* account_lists = R"("processes": {"compute": [{"pid": 1001, "used": 5000},
  {"pid": 1002, "used": 6000}], "graphics": [{"pid": 1003, "used": 7000}]})";

std::string with_accounts(const std::string& accounts) {
  return one_gpu(std::string(account_lists) + R"(, "accounts": )" + accounts);
}

std::vector<Diagnostic> about_peaks(const PlainReading& r) {
  std::vector<Diagnostic> found;
  for (const Diagnostic& d : r.about(subject::processes)) {
    if ((d.field & peak) != 0) found.push_back(d);
  }
  return found;
}

unsigned long long asked(const Machine& m) {
  return m.driver.calls("nvmlDeviceGetAccountingStats");
}

}  // namespace

TEST_CASE("the most that a process has held is the driver's own account of it") {
  Machine m(with_accounts(R"([{"pid": 1001, "most": "9 GiB", "running": true},
    {"pid": 1003, "most": 7000, "running": true}])"));
  const auto rows = m.processes();
  CHECK(row_of(rows, 1001).peak_used == 9 * gib);
  CHECK(row_of(rows, 1001).used == 5000);
  CHECK(!row_of(rows, 1001).counted_since_ns);
  CHECK(!row_of(rows, 1002).peak_used);
  CHECK(row_of(rows, 1003).peak_used == 7000);
  // 1002 began before the mode was turned on.
  const auto why = about_peaks(m.reading);
  REQUIRE(why.size() == 1);
  CHECK(why[0].pid == 1002);
  CHECK(why[0].why.code == Status::unsupported);
  Usage one;
  require_ok(m.process(0, 1001, false, one));
  CHECK(one.peak_used == 9 * gib);
  CHECK(one.used == 5000);
  CHECK(!one.counted_since_ns);
}

TEST_CASE("with the mode off no process is asked for, and the reason says how to turn it on") {
  Machine m(one_gpu(std::string(account_lists) + R"(, "accounting_mode": 0)"));
  for (const Usage& u : m.processes()) CHECK(!u.peak_used);
  const auto why = about_peaks(m.reading);
  REQUIRE(why.size() == 1);
  CHECK(why[0].why.code == Status::unsupported);
  CHECK(why[0].why.message.view().find("--accounting-mode=1") != std::string_view::npos);
  CHECK(asked(m) == 0);
}

TEST_CASE("a card or a library without accounts costs nothing else") {
  Machine m(one_gpu(account_lists));
  for (const Usage& u : m.processes()) CHECK((u.used && !u.peak_used));
  CHECK(about_peaks(m.reading).empty());
  Machine older(with_accounts(R"([{"pid": 1001, "most": 9000, "running": true}])"),
                std::string(HMN_FAKE_NVML_FOLDER) + "/nvml-init_only/libnvidia-ml.so.1");
  CHECK(older.devices().size() == 1);
}

TEST_CASE("figures that cannot be are left out with their reason") {
  Machine m(with_accounts(R"([{"pid": 1001, "most": "17 GiB", "running": true},
    {"pid": 1002, "most": 5999, "running": true}, {"pid": 1003, "most": null, "running": true}])"));
  m.devices();
  for (const Usage& u : m.processes()) CHECK(!u.peak_used);
  const auto why = about_peaks(m.reading);
  REQUIRE(why.size() == 3);
  CHECK(why[0].pid == 1002U);  // less than it holds
  CHECK(why[0].why.code == Status::backend);
  CHECK(why[1].pid == 1003U);
  CHECK(why[1].why.code == Status::unsupported);
  CHECK(why[2].pid == 1001U);  // more than the device has
  CHECK(why[2].why.code == Status::backend);
}

TEST_CASE("an account that has ended is not that of a process which is listed") {
  Machine m(with_accounts(R"([{"pid": 1001, "most": "9 GiB"},
    {"pid": 1001, "most": "2 GiB", "running": true}])"));
  CHECK(!row_of(m.processes(), 1001).peak_used);
  CHECK(about_peaks(m.reading)[0].pid == 1001);
}

TEST_CASE("of a process that has ended the account is kept") {
  Machine m(with_accounts(R"([{"pid": 4711, "most": "9 GiB", "start_us": 1700000000000001}])"));
  m.devices();
  Usage u;
  require_ok(m.process(0, 4711, false, u));
  CHECK(u.pid == 4711);
  CHECK(u.peak_used == 9 * gib);
  CHECK(!u.used);
  CHECK(!u.kinds);
  CHECK(u.from == Source::nvml);
  CHECK(u.counted_since_ns == 1'700'000'000'000'001'000U);
  Usage none;
  const auto other = m.process(0, 4712, false, none);
  REQUIRE_FALSE(other);
  CHECK(other.why().code == Status::no_process);
  // Nor is it a row of lists.
  CHECK(m.processes().size() == 3);
}

TEST_CASE("an account of one that has ended must fit the device") {
  Machine m(with_accounts(R"([{"pid": 1, "most": null}, {"pid": 2, "most": "17 GiB"}])"));
  m.devices();
  for (const auto& [pid, why] : {std::pair(1U, Status::no_process), {2U, Status::backend}}) {
    Usage u;
    const auto reported = m.process(0, pid, false, u);
    REQUIRE_FALSE(reported);
    CHECK(reported.why().code == why);
  }
}

// The driver keeps accounts by the host's pids.
TEST_CASE("in another PID namespace no account is asked for") {
  Machine m(with_accounts(R"([{"pid": 1001, "most": "9 GiB", "running": true},
    {"pid": 4711, "most": "9 GiB"}])"));
  m.add_self({}, other_namespace);
  for (const Usage& u : m.processes()) CHECK(!u.peak_used);
  Usage u;
  CHECK_FALSE(m.process(0, 4711, false, u));
  CHECK(asked(m) == 0);
}

TEST_CASE("the caller's own figure costs no call for its peak") {
  Machine m(one_gpu(R"("processes": {"compute": [{"pid": "self", "used": 5}]},
    "accounts": [{"pid": "self", "most": 9, "running": true}])"));
  m.devices();
  Usage u;
  require_ok(m.process(0, static_cast<std::uint32_t>(getpid()), true, u));
  CHECK(u.used == 5);
  CHECK(!u.peak_used);
  CHECK(asked(m) == 0);
}

TEST_CASE("with MIG there is no account") {
  const std::string row = R"("processes": {"compute": [{"pid": 100, "used": 9, "gi": 1, "ci": 0}]},
      "accounts": [{"pid": 100, "most": 10, "running": true}])";
  Machine m(one_gpu(row + R"(, "mig": {"mode": 1, "max": 7, "instances": [{"name": "MIG 1g.5gb",
      "uuid": "MIG-1", "gi": 1, "ci": 0, )" +
                    row + "}]}"));
  const auto found = m.devices();
  REQUIRE(found.size() == 2);
  const auto rows = m.processes(found[1].number);
  REQUIRE(rows.size() == 1);
  CHECK(!rows[0].peak_used);
  CHECK(m.driver.calls("nvmlDeviceGetAccountingMode") == 0);
}

TEST_CASE("of a GPU that is lost on the way no further process is asked for") {
  Machine m(one_gpu(std::string(account_lists) + R"(, "accounts": [],
    "results": {"nvmlDeviceGetAccountingStats": "GPU_IS_LOST"})"));
  CHECK(m.processes().size() == 3);
  CHECK(asked(m) == 1);
}
