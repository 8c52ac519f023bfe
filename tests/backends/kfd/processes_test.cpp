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
constexpr std::uint64_t initial_namespace = 4026531836;  // PROC_PID_INIT_INO

// A card with KFD, seen from the initial PID namespace or another.
struct ComputeMachine : Machine {
  explicit ComputeMachine(std::uint64_t pid_namespace = initial_namespace) {
    add_pci(navi(), {card0, render128});
    set_kfd_generation(tree(), 1);
    add_kfd_node(tree(), {.gpu_id = gpu, .location = 0x300, .memory = 16 * gib});
    add_process(1, {});
    hmn_fake::set_pid_namespace(tree(), 1, pid_namespace);
    hmn_fake::set_self(tree(), 1);
  }
};

const Usage* find_row(const std::vector<Usage>& rows, std::uint32_t pid) {
  const auto it =
      std::find_if(rows.begin(), rows.end(), [&](const auto& u) { return u.pid == pid; });
  return it == rows.end() ? nullptr : &*it;
}

std::string format_client(std::uint64_t vram_kib) {
  return client_text("0000:03:00.0", 7, vram_kib, 0);
}

}  // namespace

TEST_CASE("a compute process without fdinfo gets its row from KFD") {
  ComputeMachine machine;
  set_kfd_vram(machine.tree(), 777, gpu, 2815950848);
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 777);
  CHECK(rows[0].source == Source::kfd);
  CHECK(rows[0].used == 2815950848u);
  CHECK(rows[0].committed == 2815950848u);
  CHECK(rows[0].accounting == Accounting::committed);
  CHECK_FALSE(rows[0].resident);
  CHECK(rows[0].kinds == usage_kind::compute);
  CHECK(rows[0].notes == note::lower_bound);  // graphics memory is not included
  CHECK(machine.source().answers_for(Source::kfd));
  CHECK(machine.source().describe(Source::kfd).state == State::ready);
}

TEST_CASE("a process reported by fdinfo and KFD counts once, by the larger value") {
  ComputeMachine machine;
  machine.add_process(42, {{3, "/dev/null", format_client(2048)}});
  machine.add_process(43, {{3, "/dev/null", client_text("0000:03:00.0", 8, 4096, 0)}});
  set_kfd_vram(machine.tree(), 42, gpu, 5 * mib);
  set_kfd_vram(machine.tree(), 43, gpu, 3 * mib);
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 2);
  const Usage* const kfd_row = find_row(rows, 42);
  REQUIRE(kfd_row != nullptr);
  CHECK(kfd_row->source == Source::kfd);
  CHECK(kfd_row->used == 5 * mib);
  CHECK(kfd_row->notes == (note::mixed | note::lower_bound));
  CHECK_FALSE(kfd_row->resident);
  CHECK(kfd_row->kinds == (usage_kind::compute | usage_kind::graphics));
  const Usage* const fdinfo_row = find_row(rows, 43);
  REQUIRE(fdinfo_row != nullptr);
  CHECK(fdinfo_row->source == Source::amdgpu);
  CHECK(fdinfo_row->used == 4 * mib);
  CHECK(fdinfo_row->resident == 4 * mib);
  CHECK(fdinfo_row->notes == 0);
  CHECK(fdinfo_row->kinds == (usage_kind::compute | usage_kind::graphics));
}

TEST_CASE("a process with a queue uses the GPU; one that only opened /dev/kfd does not") {
  ComputeMachine machine;
  set_kfd_vram(machine.tree(), 10, gpu, 0);
  set_kfd_vram(machine.tree(), 11, gpu, 0);
  set_kfd_vram(machine.tree(), 12, 1234, 4096);  // of another GPU
  machine.tree().write("sys/class/kfd/kfd/proc/11/queues/0/gpuid", "57300\n");
  machine.tree().write("sys/class/kfd/kfd/proc/10/queues/0/gpuid", "1234\n");
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 11);
  CHECK(rows[0].used == 0u);
}

// Opening it would create compute state in the kernel and list this process as a compute process.
TEST_CASE("/dev/kfd is never opened") {
  ComputeMachine machine;
  set_kfd_vram(machine.tree(), 10, gpu, 4096);
  machine.tree().write("dev/kfd", "");
  hmn_fake::OpenWatch dev_watch(machine.tree().path("dev"));
  PlainReading reading;
  machine.devices(reading);
  CHECK(machine.rows(0, reading).size() == 1);
  PoolList pools;
  CHECK(machine.source().memory(0, pools, reading));
  Telemetry telemetry;
  CHECK(machine.source().telemetry(0, telemetry_field::all, telemetry, reading));
  std::vector<Metric> metrics;
  CHECK(machine.source().metrics(0, true, metrics, reading));
  Usage own;
  CHECK(machine.source().process(0, 1, true, own, reading));
  const auto count_openings = [&] {
    const auto names = dev_watch.opened_names();
    return std::count(names.begin(), names.end(), "kfd");
  };
  CHECK(count_openings() == 0);
  std::ifstream(machine.tree().path("dev/kfd"));
  CHECK(count_openings() == 1);  // the watch does notice an open
}

TEST_CASE("a VRAM file without a number is reported as an error, not as a value") {
  ComputeMachine machine;
  const std::string folder = "sys/class/kfd/kfd/proc/";
  for (const char* text : {"", "-1\n", "12 kB\n", "0x10\n", "99999999999999999999\n"}) {
    machine.tree().write(folder + "77/vram_57300", text);
    PlainReading reading;
    machine.devices(reading);
    std::vector<Usage> rows;
    const auto result = machine.source().processes(0, rows, reading);
    CHECK(rows.empty());
    REQUIRE_FALSE(result);  // the process may use the card
    CHECK(result.failure().code == Status::backend);
  }
  machine.tree().write(folder + "bash/vram_57300", "4096\n");
  machine.tree().write(folder + "78/vram_57300", std::string("4096\n\0\0\0", 8));
  PlainReading reading;
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 78);
}

TEST_CASE("one process is read with its memory from KFD, or from fdinfo if it is the caller") {
  ComputeMachine machine;
  machine.add_process(42, {});
  machine.add_process(43, {});
  set_kfd_vram(machine.tree(), 42, gpu, 5 * mib);
  PlainReading reading;
  machine.devices(reading);
  Usage usage;
  REQUIRE(machine.source().process(0, 42, false, usage, reading));
  CHECK(usage.source == Source::kfd);
  CHECK(usage.used == 5 * mib);
  CHECK(machine.source().process(0, 43, false, usage, reading).failure().code ==
        Status::no_process);
  REQUIRE(machine.source().process(0, 42, true, usage, reading));
  CHECK(usage.used == 5 * mib);
  CHECK(usage.source == Source::kfd);
  REQUIRE(machine.source().process(0, 43, true, usage, reading));
  CHECK(usage.used == 0u);
  CHECK(usage.source == Source::amdgpu);
}

TEST_CASE("in another PID namespace the PIDs of KFD are marked as foreign") {
  ComputeMachine machine(4026532999);
  set_kfd_vram(machine.tree(), 42, gpu, 5 * mib);
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK((rows[0].notes & note::foreign_pid) != 0);
  CHECK(rows[0].used == 5 * mib);
  // The caller's pid 42 is another process.
  machine.add_process(42, {});
  Usage own;
  REQUIRE(machine.source().process(0, 42, true, own, reading));
  CHECK(own.used == 0u);
  CHECK(machine.source().process(0, 42, false, own, reading).failure().code == Status::no_process);
}

TEST_CASE("if fdinfo lists processes, foreign ones of KFD are reported but not counted again") {
  ComputeMachine machine(4026532999);
  machine.add_process(5, {{3, "/dev/null", format_client(1)}});
  set_kfd_vram(machine.tree(), 4711, gpu, 5 * mib);
  set_kfd_vram(machine.tree(), 4712, gpu, 1 * mib);
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 5);
  CHECK(rows[0].source == Source::amdgpu);
  CHECK(rows[0].notes == note::lower_bound);
  const Diagnostic* const diagnostic = reading.find("2 compute processes use 6291456 bytes");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->failure.source == Source::kfd);
  CHECK(diagnostic->subject == subject::processes);
}

TEST_CASE("the host's /proc mounted in a container has the host's PIDs") {
  ComputeMachine machine(4026532999);
  machine.tree().write("proc/2/stat",
                       hmn_fake::format_text(2, {.comm = "kthreadd", .flags = 2129984}));
  set_kfd_vram(machine.tree(), 42, gpu, 5 * mib);
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].notes == note::lower_bound);
}

TEST_CASE("GPUs that a container may not use are refused, and KFD reports it") {
  ComputeMachine machine;
  set_kfd_vram(machine.tree(), 42, gpu, 5 * mib);
  if (!make_refused(machine.tree(), "sys/class/kfd/kfd/topology/nodes/1/properties")) return;
  PlainReading reading;
  machine.devices(reading);
  CHECK(machine.rows(0, reading).empty());
  const SourceState state = machine.source().describe(Source::kfd);
  CHECK(state.state == State::unreadable);
  CHECK(state.failure.code == Status::permission);
  CHECK(mentions(state.failure, "none was given to this container"));
}

TEST_CASE("an unreadable list of processes makes the fdinfo rows lower bounds") {
  ComputeMachine machine;
  machine.tree().write("sys/class/kfd/kfd/proc", "no folder\n");
  machine.add_process(42, {{3, "/dev/null", format_client(2048)}});
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK((rows[0].notes & note::lower_bound) != 0);
  const Diagnostic* const diagnostic = reading.find("/proc cannot be read");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->failure.source == Source::kfd);
  CHECK(diagnostic->failure.native.code == ENOTDIR);
}

TEST_CASE("an unreadable list of processes is an error, not an empty list") {
  ComputeMachine machine;
  machine.tree().write("sys/class/kfd/kfd/proc", "no folder\n");
  PlainReading reading;
  machine.devices(reading);
  std::vector<Usage> rows;
  REQUIRE(machine.source().prepare(reading));
  const Result<void> result = machine.source().processes(0, rows, reading);
  REQUIRE_FALSE(result);
  CHECK(result.failure().source == Source::kfd);
  CHECK(rows.empty());
}

TEST_CASE("without KFD processes are read from fdinfo alone") {
  Machine machine;
  machine.add_pci(navi(), {card0, render128});
  machine.add_process(42, {{3, "/dev/null", format_client(2048)}});
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].source == Source::amdgpu);
  CHECK(rows[0].notes == 0);
  const SourceState state = machine.source().describe(Source::kfd);
  CHECK(state.state == State::absent);
  CHECK(state.failure.code == Status::no_source);
  REQUIRE(reading.diagnostics.size() == 1);
  CHECK(reading.diagnostics[0].field == usage_field::busy_percent);
}

TEST_CASE("KFD is not read if it is disabled") {
  ComputeMachine machine;
  set_kfd_vram(machine.tree(), 42, gpu, 5 * mib);
  Settings settings = machine.settings();
  settings.disabled_sources = source_bit(Source::kfd);
  drm::DrmSource source(settings);
  PlainReading reading;
  std::vector<Device> devices;
  std::vector<Usage> rows;
  REQUIRE(source.prepare(reading));
  REQUIRE(source.devices(devices, reading));
  REQUIRE(source.processes(0, rows, reading));
  CHECK(rows.empty());
  CHECK_FALSE(source.answers_for(Source::kfd));
  CHECK(source.answers_for(Source::amdgpu));
}
