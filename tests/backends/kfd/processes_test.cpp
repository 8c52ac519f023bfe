// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/kfd/kfd.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "../amdgpu/cards.hpp"
#include "machine.hpp"
#include "open_watch.hpp"

using namespace hmn;
using namespace amdgpu_test;
using namespace drm_test;

namespace {

constexpr unsigned gpu = 57300;
constexpr std::uint64_t initial = 4026531836;  // PROC_PID_INIT_INO

// A card with KFD, seen from the initial PID namespace or another.
struct ComputeMachine : Machine {
  explicit ComputeMachine(std::uint64_t pid_namespace = initial) {
    add_pci(navi(), {card0, render128});
    set_kfd_generation(tree(), 1);
    add_kfd_node(tree(), {.gpu_id = gpu, .location = 0x300, .memory = 16 * gib});
    add_process(1, {});
    hmn_fake::set_pid_namespace(tree(), 1, pid_namespace);
    hmn_fake::set_self(tree(), 1);
  }
};

const Usage* row_of(const std::vector<Usage>& rows, std::uint32_t pid) {
  const auto at =
      std::find_if(rows.begin(), rows.end(), [&](const auto& u) { return u.pid == pid; });
  return at == rows.end() ? nullptr : &*at;
}

std::string client(std::uint64_t vram_kib) {
  return client_text("0000:03:00.0", 7, vram_kib, 0);
}

}  // namespace

TEST_CASE("a compute process that shows nothing in fdinfo has a row of KFD's") {
  ComputeMachine m;
  set_kfd_vram(m.tree(), 777, gpu, 2815950848);
  PlainReading r;
  m.devices(r);
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 777);
  CHECK(rows[0].from == Source::kfd);
  CHECK(rows[0].used == 2815950848u);
  CHECK(rows[0].committed == 2815950848u);
  CHECK(rows[0].accounting == Accounting::committed);
  CHECK_FALSE(rows[0].resident);
  CHECK(rows[0].kinds == usage_kind::compute);
  CHECK(rows[0].notes == note::lower_bound);  // what it draws is not in it
  CHECK(m.source().answers_for(Source::kfd));
  CHECK(m.source().describe(Source::kfd).state == State::ready);
}

TEST_CASE("a process of both counts once, by the larger figure") {
  ComputeMachine m;
  m.add_process(42, {{3, "/dev/null", client(2048)}});
  m.add_process(43, {{3, "/dev/null", client_text("0000:03:00.0", 8, 4096, 0)}});
  set_kfd_vram(m.tree(), 42, gpu, 5 * mib);
  set_kfd_vram(m.tree(), 43, gpu, 3 * mib);
  PlainReading r;
  m.devices(r);
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 2);
  const Usage* const more = row_of(rows, 42);
  REQUIRE(more != nullptr);
  CHECK(more->from == Source::kfd);
  CHECK(more->used == 5 * mib);
  CHECK(more->notes == (note::mixed | note::lower_bound));
  CHECK_FALSE(more->resident);
  CHECK(more->kinds == (usage_kind::compute | usage_kind::graphics));
  const Usage* const less = row_of(rows, 43);
  REQUIRE(less != nullptr);
  CHECK(less->from == Source::amdgpu);
  CHECK(less->used == 4 * mib);
  CHECK(less->resident == 4 * mib);
  CHECK(less->notes == 0);
  CHECK(less->kinds == (usage_kind::compute | usage_kind::graphics));
}

TEST_CASE("having opened /dev/kfd is no use, a queue is") {
  ComputeMachine m;
  set_kfd_vram(m.tree(), 10, gpu, 0);
  set_kfd_vram(m.tree(), 11, gpu, 0);
  set_kfd_vram(m.tree(), 12, 1234, 4096);  // of another GPU
  m.tree().write("sys/class/kfd/kfd/proc/11/queues/0/gpuid", "57300\n");
  m.tree().write("sys/class/kfd/kfd/proc/10/queues/0/gpuid", "1234\n");
  PlainReading r;
  m.devices(r);
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 11);
  CHECK(rows[0].used == 0u);
}

// Who opens it is listed as a process that computes, and creates the state of one in the kernel.
TEST_CASE("/dev/kfd is never opened") {
  ComputeMachine m;
  set_kfd_vram(m.tree(), 10, gpu, 4096);
  m.tree().write("dev/kfd", "");
  hmn_fake::OpenWatch in_dev(m.tree().path("dev"));
  PlainReading r;
  m.devices(r);
  CHECK(m.rows(0, r).size() == 1);
  Pools p;
  CHECK(m.source().memory(0, p, r));
  Telemetry t;
  CHECK(m.source().telemetry(0, telemetry_field::all, t, r));
  std::vector<Metric> all;
  CHECK(m.source().metrics(0, true, all, r));
  Usage own;
  CHECK(m.source().process(0, 1, true, own, r));
  const auto openings = [&] {
    const auto opened = in_dev.opened();
    return std::count(opened.begin(), opened.end(), "kfd");
  };
  CHECK(openings() == 0);
  std::ifstream(m.tree().path("dev/kfd"));
  CHECK(openings() == 1);  // the watch would have seen it
}

TEST_CASE("what is no number is no figure") {
  ComputeMachine m;
  const std::string folder = "sys/class/kfd/kfd/proc/";
  for (const char* text : {"", "-1\n", "12 kB\n", "0x10\n", "99999999999999999999\n"}) {
    m.tree().write(folder + "77/vram_57300", text);
    PlainReading r;
    m.devices(r);
    std::vector<Usage> rows;
    const auto listed = m.source().processes(0, rows, r);
    CHECK(rows.empty());
    REQUIRE_FALSE(listed);  // the process may use the card
    CHECK(listed.why().code == Status::backend);
  }
  m.tree().write(folder + "bash/vram_57300", "4096\n");
  m.tree().write(folder + "78/vram_57300", std::string("4096\n\0\0\0", 8));
  PlainReading r;
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 78);
}

TEST_CASE("one process") {
  ComputeMachine m;
  m.add_process(42, {});
  m.add_process(43, {});
  set_kfd_vram(m.tree(), 42, gpu, 5 * mib);
  PlainReading r;
  m.devices(r);
  Usage u;
  REQUIRE(m.source().process(0, 42, false, u, r));
  CHECK(u.from == Source::kfd);
  CHECK(u.used == 5 * mib);
  CHECK(m.source().process(0, 43, false, u, r).why().code == Status::no_process);
  REQUIRE(m.source().process(0, 42, true, u, r));
  CHECK(u.used == 5 * mib);
  CHECK(u.from == Source::kfd);
  REQUIRE(m.source().process(0, 43, true, u, r));
  CHECK(u.used == 0u);
  CHECK(u.from == Source::amdgpu);
}

TEST_CASE("in another PID namespace KFD's pids are foreign") {
  ComputeMachine m(4026532999);
  set_kfd_vram(m.tree(), 42, gpu, 5 * mib);
  PlainReading r;
  m.devices(r);
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);
  CHECK((rows[0].notes & note::foreign_pid) != 0);
  CHECK(rows[0].used == 5 * mib);
  // The caller's pid 42 is another process.
  m.add_process(42, {});
  Usage own;
  REQUIRE(m.source().process(0, 42, true, own, r));
  CHECK(own.used == 0u);
  CHECK(m.source().process(0, 42, false, own, r).why().code == Status::no_process);
}

TEST_CASE("where fdinfo shows processes, foreign ones are told and not counted twice") {
  ComputeMachine m(4026532999);
  m.add_process(5, {{3, "/dev/null", client(1)}});
  set_kfd_vram(m.tree(), 4711, gpu, 5 * mib);
  set_kfd_vram(m.tree(), 4712, gpu, 1 * mib);
  PlainReading r;
  m.devices(r);
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 5);
  CHECK(rows[0].from == Source::amdgpu);
  CHECK(rows[0].notes == note::lower_bound);
  const Diagnostic* const reported = r.find("2 compute processes use 6291456 bytes");
  REQUIRE(reported != nullptr);
  CHECK(reported->why.from == Source::kfd);
  CHECK(reported->about == subject::processes);
}

TEST_CASE("the host's proc tree mounted in a container has the host's pids") {
  ComputeMachine m(4026532999);
  m.tree().write("proc/2/stat", hmn_fake::text_of(2, {.comm = "kthreadd", .flags = 2129984}));
  set_kfd_vram(m.tree(), 42, gpu, 5 * mib);
  PlainReading r;
  m.devices(r);
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].notes == note::lower_bound);
}

TEST_CASE("GPUs that a container was not given are refused, and KFD says so") {
  ComputeMachine m;
  set_kfd_vram(m.tree(), 42, gpu, 5 * mib);
  if (!make_refused(m.tree(), "sys/class/kfd/kfd/topology/nodes/1/properties")) return;
  PlainReading r;
  m.devices(r);
  CHECK(m.rows(0, r).empty());
  const SourceState kfd = m.source().describe(Source::kfd);
  CHECK(kfd.state == State::unreadable);
  CHECK(kfd.why.code == Status::permission);
  CHECK(mentions(kfd.why, "this container was not given one"));
}

TEST_CASE("a list of processes that may not be read is told") {
  ComputeMachine m;
  m.tree().write("sys/class/kfd/kfd/proc", "no folder\n");
  m.add_process(42, {{3, "/dev/null", client(2048)}});
  PlainReading r;
  m.devices(r);
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);
  CHECK((rows[0].notes & note::lower_bound) != 0);
  const Diagnostic* const why = r.find("/proc cannot be read");
  REQUIRE(why != nullptr);
  CHECK(why->why.from == Source::kfd);
  CHECK(why->why.native.code == ENOTDIR);
}

TEST_CASE("a list of processes that may not be read is not empty") {
  ComputeMachine m;
  m.tree().write("sys/class/kfd/kfd/proc", "no folder\n");
  PlainReading r;
  m.devices(r);
  std::vector<Usage> rows;
  REQUIRE(m.source().prepare(r));
  const Result<void> listed = m.source().processes(0, rows, r);
  REQUIRE_FALSE(listed);
  CHECK(listed.why().from == Source::kfd);
  CHECK(rows.empty());
}

TEST_CASE("without KFD the cards are served as before") {
  Machine m;
  m.add_pci(navi(), {card0, render128});
  m.add_process(42, {{3, "/dev/null", client(2048)}});
  PlainReading r;
  m.devices(r);
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].from == Source::amdgpu);
  CHECK(rows[0].notes == 0);
  const SourceState kfd = m.source().describe(Source::kfd);
  CHECK(kfd.state == State::absent);
  CHECK(kfd.why.code == Status::no_source);
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].field == usage_field::busy_percent);
}

TEST_CASE("KFD switched off is not looked at") {
  ComputeMachine m;
  set_kfd_vram(m.tree(), 42, gpu, 5 * mib);
  Settings s = m.settings();
  s.sources_off = bit_of(Source::kfd);
  drm::DrmSource without(s);
  PlainReading r;
  std::vector<Device> found;
  std::vector<Usage> rows;
  REQUIRE(without.prepare(r));
  REQUIRE(without.devices(found, r));
  REQUIRE(without.processes(0, rows, r));
  CHECK(rows.empty());
  CHECK_FALSE(without.answers_for(Source::kfd));
  CHECK(without.answers_for(Source::amdgpu));
}
