// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The last fault of a device: what came while it was watched, and a reason else.
#include "backends/nvml/telemetry.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "machine.hpp"

using namespace hmn;

namespace {

constexpr const char* watchable =
    R"("event_types": 8, "temperature": 45, "processes": {"compute": []})";
constexpr auto field = missing_metric(MetricId::last_fault);

struct Answer {
  std::optional<std::uint64_t> xid;
  std::optional<Diagnostic> why;
  bool has_temperature = false;
};

Answer read(Machine& m, Slot number = 0) {
  Answer a;
  require_ok(m.prepare());
  std::vector<Metric> all;
  require_ok(m.source().metrics(number, false, all, m.reading));
  for (const Metric& one : all) {
    if (one.id == MetricId::last_fault) a.xid = one.count;
    if (one.id == MetricId::temperature) a.has_temperature = true;
  }
  for (const Diagnostic& d : m.reading.about(subject::metrics)) {
    if (d.field == field) a.why = d;
  }
  return a;
}

Status why_not(const Answer& a) {
  CHECK_FALSE(a.xid);
  return a.why ? a.why->why.code : Status::ok;
}

std::string two_gpus() {
  return machine_of(gpu(1, watchable) + "," + gpu(2, watchable));
}

}  // namespace

TEST_CASE("before a fault there is a reason, and no number") {
  Machine m(one_gpu(watchable));
  for (int i = 0; i < 2; ++i) {
    const Answer a = read(m);
    CHECK(why_not(a) == Status::unsupported);
    CHECK(a.why->why.message.view().find("no fault since") != std::string_view::npos);
    CHECK(a.has_temperature);
  }
  CHECK(m.driver.calls("nvmlDeviceRegisterEvents") == 1);
  CHECK(m.driver.waited_ms() == 0);
}

TEST_CASE("of the faults that came the last one is told, and stays") {
  Machine m(two_gpus());
  read(m, 0);
  read(m, 1);
  m.driver.raise(1, 31);
  CHECK(read(m, 1).xid == 31);
  CHECK(why_not(read(m, 0)) == Status::unsupported);
  m.driver.raise(1, 43);
  m.driver.raise(0, 13);
  m.driver.raise(1, 79);
  CHECK(read(m, 0).xid == 13);
  const Answer second = read(m, 1);
  CHECK(second.xid == 79);
  CHECK_FALSE(second.why);
  CHECK(read(m, 1).xid == 79);
  CHECK(m.driver.event_sets() == 1);
  CHECK(m.driver.waited_ms() == 0);
}

TEST_CASE("nothing is registered, and no fault looked for, until metrics are asked for") {
  Machine m(one_gpu(watchable));
  m.pool();
  m.telemetry();
  m.processes();
  CHECK(m.driver.calls("nvmlEventSetCreate") == 0);
  read(m);
  const auto waits = m.driver.calls("nvmlEventSetWait_v2");
  m.pool();
  m.telemetry();
  CHECK(m.driver.calls("nvmlEventSetWait_v2") == waits);
}

TEST_CASE("more faults than one reading takes down are gone on with by the next") {
  Machine m(one_gpu(watchable));
  read(m);
  for (unsigned n = 0; n < 300; ++n) m.driver.raise(0, n);
  CHECK(read(m).xid == 255);
  CHECK(read(m).xid == 299);
}

TEST_CASE("a fault without a number is told as one, and a later one with its number") {
  Machine m(one_gpu(watchable));
  read(m);
  m.driver.raise(0, 999);
  const Answer a = read(m);
  CHECK(why_not(a) == Status::backend);
  m.driver.raise(0, 48);
  CHECK(read(m).xid == 48);
}

TEST_CASE("a device without such events says so, and is not watched") {
  Machine m(one_gpu());
  SUBCASE("it has none") {
    m.driver.load(one_gpu(R"("event_types": 20, "temperature": 45)"));
  }
  SUBCASE("it does not tell which it has") {
    m.driver.load(one_gpu(R"("temperature": 45)"));
  }
  const Answer a = read(m);
  CHECK(why_not(a) == Status::unsupported);
  CHECK(a.why->why.message.view().find("no fault") == std::string_view::npos);
  CHECK(a.has_temperature);
  CHECK(m.driver.calls("nvmlEventSetCreate") == 0);
  CHECK(m.driver.calls("nvmlEventSetWait_v2") == 0);
}

TEST_CASE("an instance of MIG has no events of its own, and those of its GPU are told there") {
  Machine m(machine_of(gpu(1, R"("event_types": 8, "mig": {"mode": 1, "max": 1, "instances": [
    {"name": "MIG", "uuid": "MIG-1", "event_types": 8}]})")));
  REQUIRE(m.devices().size() == 2);
  read(m, 0);
  CHECK(why_not(read(m, 1)) == Status::unsupported);
  m.driver.raise(0, 94);
  CHECK(read(m, 0).xid == 94);
  CHECK(why_not(read(m, 1)) == Status::unsupported);
  CHECK(m.driver.calls("nvmlDeviceRegisterEvents") == 1);
}

TEST_CASE("each of the calls failing costs the fault alone, and says why") {
  const char* const calls[] = {"nvmlDeviceGetSupportedEventTypes", "nvmlEventSetCreate",
                               "nvmlDeviceRegisterEvents", "nvmlEventSetWait_v2"};
  for (const char* call : calls) {
    for (const auto& [code, means] : {std::pair{4, Status::permission}, {999, Status::backend}}) {
      CAPTURE(call);
      Machine m(one_gpu(watchable, R"("rules": [{"call": ")" + std::string(call) +
                                       R"(", "result": )" + std::to_string(code) + "}]"));
      for (int i = 0; i < 2; ++i) {
        const Answer a = read(m);
        CHECK(why_not(a) == means);
        CHECK(a.why->why.native.code == code);
        CHECK(a.has_temperature);
      }
      CHECK(m.driver.calls("nvmlDeviceGetSupportedEventTypes") == 1);
      m.restart();
      CHECK(m.driver.event_sets() == 0);
    }
  }
}

// NVML's documentation: after UNKNOWN the set is in no state to be used.
TEST_CASE("a registration that spoils the set costs its own device alone") {
  Machine m(machine_of(gpu(1, watchable) + "," + gpu(2, watchable),
                       R"("rules": [{"call": "nvmlDeviceRegisterEvents", "device": 1,
                                     "result": "UNKNOWN"}])"));
  read(m, 0);
  CHECK(why_not(read(m, 1)) == Status::backend);
  read(m, 0);
  m.driver.raise(0, 62);
  CHECK(read(m, 0).xid == 62);
  CHECK(why_not(read(m, 1)) == Status::backend);
  CHECK(m.driver.event_sets() == 1);
}

TEST_CASE("that a GPU is lost, said by the events, is no word about this one") {
  Machine m(one_gpu(watchable, R"("rules": [{"call": "nvmlEventSetWait_v2", "from": 2,
                                             "result": "GPU_IS_LOST"}])"));
  read(m);
  const Answer a = read(m);
  CHECK(why_not(a) == Status::device_lost);
  CHECK(a.has_temperature);
  CHECK(m.devices().at(0).state == State::ready);
}

TEST_CASE("the fault of a GPU that falls off the bus is told with what it then refuses") {
  Machine m(one_gpu(watchable, R"("rules": [{"call": "nvmlDeviceGetUtilizationRates", "from": 2,
                                             "result": "GPU_IS_LOST"}])"));
  read(m);
  m.driver.raise(0, 79);
  const Answer a = read(m);
  CHECK(a.xid == 79);
  CHECK_FALSE(a.has_temperature);
}

TEST_CASE("the last fault outlives a reload of the driver, and one that nobody watched is lost") {
  Machine m(one_gpu(watchable));
  read(m);
  m.driver.raise(0, 31);
  CHECK(read(m).xid == 31);
  m.driver.driver_reload();
  m.driver.raise(0, 79);
  CHECK(read(m).xid == 31);
  m.driver.raise(0, 48);
  CHECK(read(m).xid == 48);
  CHECK(m.driver.calls("nvmlDeviceRegisterEvents") == 2);
  CHECK(m.driver.calls("nvmlEventSetFree") == 0);  // of the session that was ended
  m.restart();
  CHECK(m.driver.event_sets() == 0);
  CHECK(m.driver.initialized() == 0);
}

TEST_CASE("closing ends the watch, and the next reading begins it again") {
  Machine m(one_gpu(watchable));
  hmn_fake::add_pci_device(
      m.tree, {.address = "0000:01:00.0", .power_control = "auto", .runtime_status = "active"});
  read(m);
  CHECK(m.source().finish(m.reading));
  m.source().close();
  CHECK(m.driver.event_sets() == 0);
  CHECK(m.driver.initialized() == 0);
  m.driver.raise(0, 79);
  CHECK(why_not(read(m)) == Status::unsupported);
  m.driver.raise(0, 31);
  CHECK(read(m).xid == 31);
  SUBCASE("and a card that sleeps is not asked, nor woken") {
    m.source().close();
    m.tree.write("sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "suspended\n");
    const auto before = m.driver.calls(nullptr);
    CHECK_FALSE(m.prepare());
    std::vector<Metric> none;
    const auto done = m.source().metrics(0, false, none, m.reading);
    REQUIRE_FALSE(done);
    CHECK(done.why().code == Status::asleep);
    CHECK(none.empty());
    CHECK(m.driver.calls(nullptr) == before);
  }
}

TEST_CASE("what came is taken down before NVML is opened anew for a GPU that joined") {
  Machine m(one_gpu(watchable));
  hmn_fake::add_pci_device(m.tree, {.address = "0000:01:00.0"});
  read(m);
  m.driver.raise(0, 63);
  hmn_fake::add_pci_device(m.tree, {.address = "0000:02:00.0"});
  for (int i = 0; i < 100 && m.driver.calls("nvmlShutdown") == 0; ++i) {
    usleep(100'000);  // the bus is looked at once a second
    require_ok(m.prepare());
  }
  REQUIRE(m.driver.calls("nvmlShutdown") != 0);
  CHECK(read(m).xid == 63);
}

TEST_CASE("a deadline that passed leaves the watch to the next reading") {
  Machine m(one_gpu(watchable));
  m.devices();
  m.reading.deadline = platform::monotonic_ns();
  std::vector<Metric> none;
  require_ok(m.prepare());
  require_ok(m.source().metrics(0, false, none, m.reading));
  CHECK(none.empty());
  CHECK(m.driver.calls("nvmlEventSetCreate") == 0);
  m.reading.deadline = UINT64_MAX;
  read(m);
  m.driver.raise(0, 31);
  CHECK(read(m).xid == 31);
}

TEST_CASE("a forked child leaves the parent's watch alone") {
  Machine m(one_gpu(watchable));
  read(m);
  const pid_t child = fork();
  if (child == 0) {
    m.source().close();
    _exit(m.driver.calls("nvmlEventSetFree") == 0 ? 0 : 1);
  }
  int ended = 0;
  REQUIRE(waitpid(child, &ended, 0) == child);
  CHECK(WIFEXITED(ended));
  CHECK(WEXITSTATUS(ended) == 0);
  m.driver.raise(0, 31);
  CHECK(read(m).xid == 31);
}
