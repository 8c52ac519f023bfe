// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "machine.hpp"

using namespace hmn;
using namespace smi_test;

namespace {

struct ReadingOf {
  explicit ReadingOf(Machine& m, Slot number = 0) : devices(m.devices(r)) {
    r.diagnostics.clear();
    done = m.source().processes(number, rows, r);
  }
  [[nodiscard]] const Usage& pid(std::uint64_t wanted) const {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const Usage& u) { return u.pid == wanted; });
    REQUIRE(found != rows.end());
    return *found;
  }
  PlainReading r;
  Result<std::vector<Device>> devices;
  std::vector<Usage> rows;
  Result<void> done;
};

}  // namespace

TEST_CASE("processes of each GPU with name and use") {
  Machine m(scenario({gpu(0, {}, {app(20037, 538, "ffmpeg"), app(7, 25, "/usr/bin/kwin_wayland")}),
                      gpu(1, {}, {app(20037, 100, "ffmpeg")})}));
  const ReadingOf first(m);
  REQUIRE(first.done);
  REQUIRE(first.rows.size() == 2);
  const Usage& row = first.pid(20037);
  CHECK(row.used == 538 * mib);
  CHECK(row.name == "ffmpeg");
  CHECK(row.name_state == NameState::resolved);
  CHECK(row.kinds == usage_kind::compute);
  CHECK(row.accounting == Accounting::allocated);
  CHECK(row.from == Source::nvidia_smi);
  CHECK(row.notes == 0);
  CHECK(first.pid(7).name == "kwin_wayland");
  const ReadingOf second(m, 1);
  REQUIRE(second.rows.size() == 1);
  CHECK(second.rows[0].used == 100 * mib);
}

TEST_CASE("no process is an empty list") {
  Machine m(scenario({gpu(0)}));
  const ReadingOf none(m);
  CHECK(none.done);
  CHECK(none.rows.empty());
  m.change(with_apps({gpu(0)}, "No running processes found\n"));
  const ReadingOf words(m);
  CHECK(words.done);
  CHECK(words.rows.empty());
}

TEST_CASE("a figure that the driver does not tell is absent, and its row is there") {
  Machine m(scenario({gpu(0, {}, {app(1, "[N/A]", "a"), app(2, "[N/A]", "b"), app(3, 5, "c")})}));
  const ReadingOf all(m);
  REQUIRE(all.rows.size() == 3);
  CHECK_FALSE(all.pid(1).used);
  CHECK(all.pid(3).used == 5 * mib);
  REQUIRE(all.r.diagnostics.size() == 2);
  const Diagnostic& d = all.r.diagnostics[0];
  CHECK(d.why.code == Status::unsupported);
  CHECK(d.about == subject::processes);
  CHECK(d.field == usage_field::used);
  CHECK(d.pid == 1u);
  CHECK(d.device == 0u);
  // alike ones can be counted together
  CHECK(all.r.diagnostics[1].why.message.view() == d.why.message.view());
}

TEST_CASE("more than the GPU has is absent, all of it is not") {
  Machine m(scenario({gpu(0, {}, {app(1, 46069, "a"), app(2, 46068, "b")})}));
  const ReadingOf all(m);
  REQUIRE(all.rows.size() == 2);
  CHECK_FALSE(all.pid(1).used);
  CHECK(all.pid(2).used == 46068 * mib);
  REQUIRE(all.r.diagnostics.size() == 1);
  CHECK(all.r.diagnostics[0].why.code == Status::backend);
}

TEST_CASE("a process that stands in the list twice is one row") {
  const std::vector<json> twice = {app(9, 100, "a"), app(9, 40, "a"), app(8, 1, "b")};
  Machine plain(scenario({gpu(0, {}, twice)}));
  const ReadingOf once(plain);
  REQUIRE(once.rows.size() == 2);
  CHECK(once.pid(9).used == 100 * mib);
  Machine mig(scenario({gpu(0, {{"mig.mode.current", "Enabled"}}, twice)}));
  const ReadingOf instances(mig);
  REQUIRE(instances.rows.size() == 2);
  CHECK(instances.pid(9).used == 140 * mib);
  Machine half(scenario({gpu(0, {}, {app(9, 100, "a"), app(9, "[N/A]", "a")})}));
  CHECK_FALSE(ReadingOf(half).pid(9).used);
}

TEST_CASE("a GPU whose processes the driver cannot list") {
  json old = scenario({gpu(0)});
  old["raw_query_compute_apps"] =
      "gpu_uuid, gpu_bus_id, pid, used_gpu_memory [MiB], process_name\n"
      "GPU-00000000-0000-0000-0000-000000000000, 00000000:01:00.0, [Not Supported], [Not "
      "Supported], "
      "[Not Supported]\n";
  Machine m(old);
  const ReadingOf all(m);
  REQUIRE_FALSE(all.done);
  CHECK(all.done.why().code == Status::unsupported);
}

TEST_CASE("a list that is no table") {
  Machine m(scenario({gpu(0)}));
  for (const char* text : {"<?xml version=\"1.0\" ?>\n<nvidia_smi_log>\n", "", "7, 12, a\n"}) {
    CAPTURE(text);
    m.change(with_apps({gpu(0)}, text));
    const ReadingOf all(m);
    REQUIRE_FALSE(all.done);
    CHECK(all.done.why().code == Status::backend);
    CHECK(all.rows.empty());
  }
}

TEST_CASE("65,536 processes, and a list longer than is read") {
  std::string rows = "gpu_uuid, gpu_bus_id, pid, used_gpu_memory [MiB], process_name\n";
  const auto append = [&](int from, int to) {
    for (int i = from; i < to; ++i)
      rows += "G, 00000000:01:00.0, " + std::to_string(i + 1) + ", 1, a\n";
  };
  append(0, 65'536);
  Machine m(scenario({gpu(0)}));
  m.change(with_apps({gpu(0)}, rows));
  CHECK(ReadingOf(m).rows.size() == 65'536);
  append(65'536, 70'000);
  m.change(with_apps({gpu(0)}, rows));
  const ReadingOf cut(m);
  CHECK(cut.done);
  CHECK(cut.rows.size() == 65'536);
  CHECK(cut.r.count(Status::limit) == 1);
  PlainReading r;
  Usage one;
  REQUIRE(m.devices(r));
  const auto why = m.source().process(0, 70'000, false, one, r);
  REQUIRE_FALSE(why);
  CHECK(why.why().code == Status::limit);
}

TEST_CASE("one process") {
  Machine m(scenario({gpu(0, {}, {app(7, 25, "a")}), gpu(1)}));
  PlainReading r;
  REQUIRE(m.devices(r));
  Usage one;
  REQUIRE(m.source().process(0, 7, false, one, r));
  CHECK(one.used == 25 * mib);
  CHECK(one.pid == 7);
  const auto other = m.source().process(1, 7, false, one, r);
  REQUIRE_FALSE(other);
  CHECK(other.why().code == Status::no_process);
}

TEST_CASE("the caller reads 0 only where it cannot use the GPU") {
  Machine m(scenario({gpu(0, {}, {app(7, 25, "a")})}));
  PlainReading r;
  REQUIRE(m.devices(r));
  Usage own;
  REQUIRE(m.source().process(0, 99, true, own, r));
  CHECK(own.used == 0);
  CHECK(own.pid == 99);
  m.tree().link("proc/self/fd/5", "/dev/nvidia0");
  const auto holds = m.source().process(0, 99, true, own, r);
  REQUIRE_FALSE(holds);
  CHECK(holds.why().code == Status::unsupported);
  m.tree().link("proc/self/ns/pid", "pid:[4026532999]");
  const auto hidden = m.source().process(0, 99, true, own, r);
  REQUIRE_FALSE(hidden);
  CHECK(mentions(hidden.why(), "PID namespace"));
  m.tree().remove("proc/self/fd");
  CHECK_FALSE(m.source().process(0, 99, true, own, r));
  REQUIRE(m.source().process(0, 7, true, own, r));
  CHECK(own.used == 25 * mib);
}

TEST_CASE("in a PID namespace a pid that is not here is foreign") {
  Machine m(scenario({gpu(0, {}, {app(7, 25, "a"), app(4242, 5, "[Not Found]")})}));
  hmn_fake::add_process(m.tree(), hmn_fake::simple_process(7, "a", 1, 1));
  CHECK(ReadingOf(m).pid(4242).notes == 0);
  m.tree().link("proc/self/ns/pid", "pid:[4026532999]");
  const ReadingOf all(m);
  CHECK(all.pid(7).notes == 0);
  CHECK(all.pid(4242).notes == note::foreign_pid);

  // In the tree of a third namespace a pid that is there belongs to any process.
  m.tree().remove("proc/self");
  m.tree().link("proc/self", "7");
  CHECK(ReadingOf(m).pid(7).notes == note::foreign_pid);
}

TEST_CASE("rows are told apart by PCI address, else by uuid") {
  Machine m(scenario({gpu(0), gpu(1)}));
  m.change(with_apps({gpu(0), gpu(1)},
                     "gpu_uuid, gpu_bus_id, pid, used_gpu_memory [MiB], process_name\n"
                     "MIG-1, 00000000:02:00.0, 5, 1, a\n"
                     "GPU-00000000-0000-0000-0000-000000000001, [N/A], 6, 1, a\n"
                     "GPU-9, [N/A], 7, 1, a\n"));
  const ReadingOf second(m, 1);
  REQUIRE(second.rows.size() == 2);
  CHECK(second.rows[0].notes == note::lower_bound);
  REQUIRE(second.r.count(Status::backend) == 1);
  CHECK(mentions(second.r.find(Status::backend)->why, "on which of its GPUs 1 process(es) are"));
}

TEST_CASE("a row of no known GPU is not an empty list") {
  constexpr const char* header = "gpu_uuid, gpu_bus_id, pid, used_gpu_memory [MiB], process_name\n";
  Machine m(scenario({gpu(0), gpu(1)}));
  for (const char* row :
       {"GPU-9, [N/A], 7, 1, a", "[N/A], [N/A], 7, 1, a", "GPU-9, 00000000:09:00.0, 7, 1, a",
        "[N/A], [N/A], [N/A], [N/A], [N/A]", "MIG-9, [Unknown Error], 7, [N/A], [Not Found]"}) {
    CAPTURE(row);
    m.change(with_apps({gpu(0), gpu(1)}, header + std::string(row) + "\n"));
    for (const Slot number : {0U, 1U}) {
      const ReadingOf all(m, number);
      CHECK(all.rows.empty());
      REQUIRE_FALSE(all.done);
      CHECK(all.done.why().code == Status::backend);
      CHECK(all.done.why().stated == Reason::ambiguous);
    }
  }
  Machine one(scenario({gpu(0)}));
  one.change(with_apps({gpu(0)}, header + std::string("[N/A], [N/A], 7, 1, a\n")));
  CHECK(ReadingOf(one).pid(7).used == mib);
  one.change(with_apps({gpu(0)}, header + std::string("[N/A], [N/A], [N/A], [N/A], [N/A]\n")));
  const ReadingOf unreadable(one);
  REQUIRE_FALSE(unreadable.done);
  CHECK(unreadable.done.why().code == Status::unsupported);
}
