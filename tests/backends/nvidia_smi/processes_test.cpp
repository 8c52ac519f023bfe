// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "machine.hpp"

using namespace hmn;
using namespace smi_test;

namespace {

struct ProcessReading {
  explicit ProcessReading(Machine& machine, Slot number = 0) : devices(machine.devices(reading)) {
    reading.diagnostics.clear();
    result = machine.source().processes(number, rows, reading);
  }
  [[nodiscard]] const Usage& pid(std::uint64_t number) const {
    const auto it = std::find_if(rows.begin(), rows.end(),
                                 [&](const Usage& usage) { return usage.pid == number; });
    REQUIRE(it != rows.end());
    return *it;
  }
  PlainReading reading;
  Result<std::vector<Device>> devices;
  std::vector<Usage> rows;
  Result<void> result;
};

}  // namespace

TEST_CASE("processes are listed per GPU with their name and use") {
  Machine machine(
      scenario({gpu(0, {}, {app(20037, 538, "ffmpeg"), app(7, 25, "/usr/bin/kwin_wayland")}),
                gpu(1, {}, {app(20037, 100, "ffmpeg")})}));
  const ProcessReading first(machine);
  REQUIRE(first.result);
  REQUIRE(first.rows.size() == 2);
  const Usage& row = first.pid(20037);
  CHECK(row.used == 538 * mib);
  CHECK(row.name == "ffmpeg");
  CHECK(row.name_state == NameState::resolved);
  CHECK(row.kinds == usage_kind::compute);
  CHECK(row.accounting == Accounting::allocated);
  CHECK(row.source == Source::nvidia_smi);
  CHECK(row.notes == 0);
  CHECK(first.pid(7).name == "kwin_wayland");
  const ProcessReading second(machine, 1);
  REQUIRE(second.rows.size() == 1);
  CHECK(second.rows[0].used == 100 * mib);
}

TEST_CASE("no process is an empty list") {
  Machine machine(scenario({gpu(0)}));
  const ProcessReading none(machine);
  CHECK(none.result);
  CHECK(none.rows.empty());
  machine.change(make_app_scenario({gpu(0)}, "No running processes found\n"));
  const ProcessReading words(machine);
  CHECK(words.result);
  CHECK(words.rows.empty());
}

TEST_CASE("use not reported by the driver is absent, and its row is kept") {
  Machine machine(
      scenario({gpu(0, {}, {app(1, "[N/A]", "a"), app(2, "[N/A]", "b"), app(3, 5, "c")})}));
  const ProcessReading all(machine);
  REQUIRE(all.rows.size() == 3);
  CHECK_FALSE(all.pid(1).used);
  CHECK(all.pid(3).used == 5 * mib);
  REQUIRE(all.reading.diagnostics.size() == 2);
  const Diagnostic& diagnostic = all.reading.diagnostics[0];
  CHECK(diagnostic.failure.code == Status::unsupported);
  CHECK(diagnostic.subject == subject::processes);
  CHECK(diagnostic.field == usage_field::used);
  CHECK(diagnostic.pid == 1u);
  CHECK(diagnostic.device == 0u);
  // alike ones can be counted together
  CHECK(all.reading.diagnostics[1].failure.message.view() == diagnostic.failure.message.view());
}

TEST_CASE("use above the GPU's total is dropped, and use equal to it is kept") {
  Machine machine(scenario({gpu(0, {}, {app(1, 46069, "a"), app(2, 46068, "b")})}));
  const ProcessReading all(machine);
  REQUIRE(all.rows.size() == 2);
  CHECK_FALSE(all.pid(1).used);
  CHECK(all.pid(2).used == 46068 * mib);
  REQUIRE(all.reading.diagnostics.size() == 1);
  CHECK(all.reading.diagnostics[0].failure.code == Status::backend);
}

TEST_CASE("a process that is listed twice has one row") {
  const std::vector<json> twice = {app(9, 100, "a"), app(9, 40, "a"), app(8, 1, "b")};
  Machine plain(scenario({gpu(0, {}, twice)}));
  const ProcessReading once(plain);
  REQUIRE(once.rows.size() == 2);
  CHECK(once.pid(9).used == 100 * mib);
  Machine mig(scenario({gpu(0, {{"mig.mode.current", "Enabled"}}, twice)}));
  const ProcessReading instances(mig);
  REQUIRE(instances.rows.size() == 2);
  CHECK(instances.pid(9).used == 140 * mib);
  Machine half(scenario({gpu(0, {}, {app(9, 100, "a"), app(9, "[N/A]", "a")})}));
  CHECK_FALSE(ProcessReading(half).pid(9).used);
}

TEST_CASE("a driver that cannot list processes is reported as unsupported") {
  json old = scenario({gpu(0)});
  old["raw_query_compute_apps"] =
      "gpu_uuid, gpu_bus_id, pid, used_gpu_memory [MiB], process_name\n"
      "GPU-00000000-0000-0000-0000-000000000000, 00000000:01:00.0, [Not Supported], [Not "
      "Supported], "
      "[Not Supported]\n";
  Machine machine(old);
  const ProcessReading all(machine);
  REQUIRE_FALSE(all.result);
  CHECK(all.result.failure().code == Status::unsupported);
}

TEST_CASE("a process list that is not a table is a failure") {
  Machine machine(scenario({gpu(0)}));
  for (const char* text : {"<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n", "", "7, 12, a\n"}) {
    CAPTURE(text);
    machine.change(make_app_scenario({gpu(0)}, text));
    const ProcessReading all(machine);
    REQUIRE_FALSE(all.result);
    CHECK(all.result.failure().code == Status::backend);
    CHECK(all.rows.empty());
  }
}

TEST_CASE("a list is read up to 65,536 processes") {
  std::string rows = "gpu_uuid, gpu_bus_id, pid, used_gpu_memory [MiB], process_name\n";
  const auto append = [&](int first, int end) {
    for (int i = first; i < end; ++i)
      rows += "G, 00000000:01:00.0, " + std::to_string(i + 1) + ", 1, a\n";
  };
  append(0, 65'536);
  Machine machine(scenario({gpu(0)}));
  machine.change(make_app_scenario({gpu(0)}, rows));
  CHECK(ProcessReading(machine).rows.size() == 65'536);
  append(65'536, 70'000);
  machine.change(make_app_scenario({gpu(0)}, rows));
  const ProcessReading cut(machine);
  CHECK(cut.result);
  CHECK(cut.rows.size() == 65'536);
  CHECK(cut.reading.count(Status::limit) == 1);
  PlainReading reading;
  Usage usage;
  REQUIRE(machine.devices(reading));
  const auto result = machine.source().process(0, 70'000, false, usage, reading);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::limit);
}

TEST_CASE("a single process is read, per GPU") {
  Machine machine(scenario({gpu(0, {}, {app(7, 25, "a")}), gpu(1)}));
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Usage usage;
  REQUIRE(machine.source().process(0, 7, false, usage, reading));
  CHECK(usage.used == 25 * mib);
  CHECK(usage.pid == 7);
  const auto other = machine.source().process(1, 7, false, usage, reading);
  REQUIRE_FALSE(other);
  CHECK(other.failure().code == Status::no_process);
}

TEST_CASE("the caller's use is 0 only if the caller cannot use the GPU") {
  Machine machine(scenario({gpu(0, {}, {app(7, 25, "a")})}));
  PlainReading reading;
  REQUIRE(machine.devices(reading));
  Usage own;
  REQUIRE(machine.source().process(0, 99, true, own, reading));
  CHECK(own.used == 0);
  CHECK(own.pid == 99);
  machine.tree().link("proc/self/fd/5", "/dev/nvidia0");
  const auto holds = machine.source().process(0, 99, true, own, reading);
  REQUIRE_FALSE(holds);
  CHECK(holds.failure().code == Status::unsupported);
  machine.tree().link("proc/self/ns/pid", "pid:[4026532999]");
  const auto hidden = machine.source().process(0, 99, true, own, reading);
  REQUIRE_FALSE(hidden);
  CHECK(mentions(hidden.failure(), "PID namespace"));
  machine.tree().remove("proc/self/fd");
  CHECK_FALSE(machine.source().process(0, 99, true, own, reading));
  REQUIRE(machine.source().process(0, 7, true, own, reading));
  CHECK(own.used == 25 * mib);
}

TEST_CASE("in a PID namespace a PID that does not exist here is foreign") {
  Machine machine(scenario({gpu(0, {}, {app(7, 25, "a"), app(4242, 5, "[Not Found]")})}));
  hmn_fake::add_process(machine.tree(), hmn_fake::simple_process(7, "a", 1, 1));
  CHECK(ProcessReading(machine).pid(4242).notes == 0);
  machine.tree().link("proc/self/ns/pid", "pid:[4026532999]");
  const ProcessReading all(machine);
  CHECK(all.pid(7).notes == 0);
  CHECK(all.pid(4242).notes == note::foreign_pid);

  // If /proc belongs to a third namespace, an existing PID can be any process.
  machine.tree().remove("proc/self");
  machine.tree().link("proc/self", "7");
  CHECK(ProcessReading(machine).pid(7).notes == note::foreign_pid);
}

TEST_CASE("rows are assigned by PCI address, else by UUID") {
  Machine machine(scenario({gpu(0), gpu(1)}));
  machine.change(
      make_app_scenario({gpu(0), gpu(1)},
                        "gpu_uuid, gpu_bus_id, pid, used_gpu_memory [MiB], process_name\n"
                        "MIG-1, 00000000:02:00.0, 5, 1, a\n"
                        "GPU-00000000-0000-0000-0000-000000000001, [N/A], 6, 1, a\n"
                        "GPU-9, [N/A], 7, 1, a\n"));
  const ProcessReading second(machine, 1);
  REQUIRE(second.rows.size() == 2);
  CHECK(second.rows[0].notes == note::lower_bound);
  REQUIRE(second.reading.count(Status::backend) == 1);
  CHECK(mentions(second.reading.find(Status::backend)->failure,
                 "on which of its GPUs 1 process(es) are"));
}

TEST_CASE("a row of an unknown GPU is a failure, not an empty list") {
  constexpr const char* header = "gpu_uuid, gpu_bus_id, pid, used_gpu_memory [MiB], process_name\n";
  Machine machine(scenario({gpu(0), gpu(1)}));
  for (const char* row :
       {"GPU-9, [N/A], 7, 1, a", "[N/A], [N/A], 7, 1, a", "GPU-9, 00000000:09:00.0, 7, 1, a",
        "[N/A], [N/A], [N/A], [N/A], [N/A]", "MIG-9, [Unknown Error], 7, [N/A], [Not Found]"}) {
    CAPTURE(row);
    machine.change(make_app_scenario({gpu(0), gpu(1)}, header + std::string(row) + "\n"));
    for (const Slot number : {0U, 1U}) {
      const ProcessReading all(machine, number);
      CHECK(all.rows.empty());
      REQUIRE_FALSE(all.result);
      CHECK(all.result.failure().code == Status::backend);
      CHECK(all.result.failure().reason == Reason::ambiguous);
    }
  }
  Machine single(scenario({gpu(0)}));
  single.change(make_app_scenario({gpu(0)}, header + std::string("[N/A], [N/A], 7, 1, a\n")));
  CHECK(ProcessReading(single).pid(7).used == mib);
  single.change(
      make_app_scenario({gpu(0)}, header + std::string("[N/A], [N/A], [N/A], [N/A], [N/A]\n")));
  const ProcessReading unreadable(single);
  REQUIRE_FALSE(unreadable.result);
  CHECK(unreadable.result.failure().code == Status::unsupported);
}
