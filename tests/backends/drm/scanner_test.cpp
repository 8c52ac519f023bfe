// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The walk over /proc, tested by its rows.
#include "backends/drm/scanner.hpp"

#include <doctest/doctest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "core/query.hpp"
#include "machine.hpp"
#include "open_watch.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace drm_test;

namespace {

std::string format_fdinfo(unsigned client, unsigned resident_kib, std::uint64_t busy_ns = 0,
                          unsigned shared_kib = 0) {
  return "pos:\t0\nflags:\t02400002\ndrm-driver:\tv3d\ndrm-client-id:\t" + std::to_string(client) +
         "\ndrm-engine-render:\t" + std::to_string(busy_ns) + " ns\ndrm-total-memory:\t" +
         std::to_string(resident_kib * 2) + " KiB\ndrm-shared-memory:\t" +
         std::to_string(shared_kib) + " KiB\ndrm-resident-memory:\t" +
         std::to_string(resident_kib) + " KiB\n";
}

Machine& add_v3d(Machine& machine) {
  machine.add_platform("fd500000.gpu", "v3d", {card0, render128});
  return machine;
}

// A scanner that remembers everything until forget() is called.
struct ScanFixture {
  explicit ScanFixture(Machine& machine, std::uint64_t rescan_ns = ~std::uint64_t{0} >> 2,
                       std::uint32_t percent = 100)
      : cards(machine.settings()), scanner(machine.tree().proc(), rescan_ns, percent) {
    cards.refresh();
  }
  drm::Coverage scan(std::uint64_t now_ns = 1000, std::uint64_t deadline_ns = ~std::uint64_t{0}) {
    return scanner.scan(cards, false, now_ns, deadline_ns, clients);
  }

  drm::CardList cards;
  drm::Scanner scanner;
  drm::ClientList clients;
};

// Drops root's access to closed folders for a while.
class NobodyUser {
 public:
  NobodyUser() { setfsuid(65534); }
  ~NobodyUser() { setfsuid(geteuid()); }
};

}  // namespace

TEST_CASE("a descriptor is matched by its device number, not by its path") {
  Machine machine;
  add_v3d(machine);
  machine.add_process(
      10, {{3, "/dev/null", format_fdinfo(1, 64)}, {4, "/dev/zero", format_fdinfo(2, 32)}});
  machine.add_process(
      11, {{3, "/dev/random", format_fdinfo(3, 64)}, {4, "/etc/hostname", format_fdinfo(4, 64)}});
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 10);
  CHECK(rows[0].source == Source::drm);
  CHECK(rows[0].used == 96 * kib);
  CHECK(rows[0].resident == 96 * kib);
  CHECK(rows[0].committed == 192 * kib);
  CHECK(rows[0].accounting == Accounting::resident);
  CHECK(rows[0].kinds == 0u);
  CHECK(rows[0].busy_ns == 0u);
  CHECK(rows[0].notes == 0);
  CHECK(reading.find(Status::permission) == nullptr);
}

TEST_CASE("descriptors of one client count once, even across processes") {
  Machine machine;
  add_v3d(machine);
  machine.add_process(
      10, {{3, "/dev/null", format_fdinfo(1, 64, 5)}, {9, "/dev/null", format_fdinfo(1, 64, 5)}});
  machine.add_process(11, {{3, "/dev/null", format_fdinfo(1, 64, 5)},
                           {5, "/dev/zero", format_fdinfo(2, 16, 7, 4)}});
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].used == 64 * kib);
  CHECK(rows[0].shared == 64 * kib);
  CHECK(rows[0].busy_ns == 5u);
  CHECK(rows[0].kinds == usage_kind::graphics);
  CHECK(rows[1].used == 80 * kib);
  CHECK(rows[1].shared == 68 * kib);
  CHECK(rows[1].busy_ns == 12u);
  PoolList pools;
  REQUIRE(machine.source().memory(0, pools, reading));
  const Pool* const main = pools.find(PoolKind::main);
  REQUIRE(main != nullptr);
  CHECK(main->kind == PoolKind::unified);
  CHECK(main->used == 80 * kib);
  CHECK((main->notes & note::lower_bound) != 0);
  CHECK_FALSE(main->total);
}

TEST_CASE("equal client ids on two cards are two clients") {
  Machine machine;
  add_v3d(machine);
  machine.add_platform("fe000000.gpu", "panfrost", {card1, render129});
  machine.add_process(
      10, {{3, "/dev/null", format_fdinfo(1, 64)}, {4, "/dev/full", format_fdinfo(1, 16)}});
  PlainReading reading;
  machine.devices(reading);
  const auto first_rows = machine.rows(0, reading);
  const auto second_rows = machine.rows(1, reading);
  CHECK(*first_rows.at(0).used + *second_rows.at(0).used == 80 * kib);
  CHECK(*first_rows.at(0).shared + *second_rows.at(0).shared == 0);
}

TEST_CASE("without a device number the card is taken from the fdinfo text") {
  Machine machine;
  add_v3d(machine);
  machine.add_pci(nouveau(), {card1, render129});
  const std::string addressed_text =
      "drm-driver:\tnouveau\ndrm-client-id:\t3\n"
      "drm-pdev:\t0000:01:00.0\ndrm-resident-vram:\t5 KiB\n";
  machine.add_process(10, {{3, "/gone/dri/renderD128", format_fdinfo(1, 64)}});
  machine.add_process(11, {{3, "/gone/odd/path", format_fdinfo(2, 32)}});
  machine.add_process(12, {{3, "/gone/odd/path", addressed_text}});
  machine.add_process(13,
                      {{3, "/gone/file", "pos:\t0\n"}, {4, "/gone/other", "drm-driver:\tlima\n"}});
  PlainReading reading;
  machine.devices(reading);
  const Slot first = machine.devices(reading).at(0).vendor == vendor::nvidia ? 0 : 1;
  const auto nouveau_rows = machine.rows(first, reading);
  REQUIRE(nouveau_rows.size() == 1);
  CHECK(nouveau_rows[0].pid == 12);
  CHECK(nouveau_rows[0].used == 5 * kib);
  const auto v3d_rows = machine.rows(1 - first, reading);
  REQUIRE(v3d_rows.size() == 2);
  CHECK(v3d_rows[0].used == 64 * kib);
  CHECK(v3d_rows[1].used == 32 * kib);
}

TEST_CASE("clients of a driver without fdinfo memory have rows without values") {
  Machine machine;
  machine.add_pci(nouveau(), {card0, render128});
  machine.add_process(10, {{3, "/dev/null", "pos:\t0\n"}});
  machine.add_process(11, {{3, "/dev/null", ""}});
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);  // 11 closed it between the two reads
  CHECK(rows[0].pid == 10);
  CHECK_FALSE(rows[0].used);
  CHECK(rows[0].accounting == Accounting::none);
  CHECK((rows[0].notes & note::lower_bound) == 0);
  const Diagnostic* const diagnostic = reading.find("memory of clients is not reported");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->failure.code == Status::unsupported);
  CHECK(diagnostic->field == usage_field::used);
  CHECK(diagnostic->pid == 10u);
}

TEST_CASE("clients without an id count as one, as a lower bound") {
  Machine machine;
  add_v3d(machine);
  const std::string text = "drm-driver:\tv3d\ndrm-resident-memory:\t";
  machine.add_process(10, {{3, "/dev/null", text + "4 KiB\n"}, {4, "/dev/null", text + "9 KiB\n"}});
  machine.add_process(11, {{3, "/dev/null", text + "4 KiB\n"}});
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].used == 9 * kib);
  CHECK((rows[0].notes & note::lower_bound) != 0);
  CHECK(rows[1].used == 4 * kib);
  CHECK(rows[1].notes == 0);
}

TEST_CASE("one process is read, and the caller may have 0 bytes in use") {
  Machine machine;
  add_v3d(machine);
  machine.add_process(10, {{3, "/dev/null", format_fdinfo(1, 64)}});
  machine.add_process(11, {});
  hmn_fake::set_self(machine.tree(), 11);
  PlainReading reading;
  machine.devices(reading);
  Usage usage;
  REQUIRE(machine.source().process(0, 10, false, usage, reading));
  CHECK(usage.used == 64 * kib);
  CHECK(usage.source == Source::drm);
  CHECK(machine.source().process(0, 11, false, usage, reading).failure().code ==
        Status::no_process);
  CHECK(machine.source().process(0, 99, false, usage, reading).failure().code ==
        Status::no_process);
  REQUIRE(machine.source().process(0, 11, true, usage, reading));
  CHECK(usage.pid == 11);
  CHECK(usage.used == 0u);
  hmn_fake::set_self(machine.tree(), 10);
  REQUIRE(machine.source().process(0, 10, true, usage, reading));
  CHECK(usage.used == 64 * kib);
}

TEST_CASE("one walk over a process serves all cards of a reading") {
  Machine machine;
  add_v3d(machine);
  machine.add_platform("fe000000.gpu", "panfrost", {card1, render129});
  machine.add_process(10, {{3, "/dev/null", format_fdinfo(1, 64)}});
  hmn_fake::set_self(machine.tree(), 10);
  PlainReading reading;
  machine.devices(reading);
  hmn_fake::OpenWatch descriptors(machine.tree().path("proc/10/fd"));
  Usage usage;
  REQUIRE(machine.source().process(0, 10, true, usage, reading));
  CHECK(usage.used == 64 * kib);
  REQUIRE(machine.source().process(1, 10, true, usage, reading));
  CHECK(usage.used == 0u);
  CHECK(descriptors.opened_names().size() == 1);
  // The next reading walks again, and finds what was opened since.
  machine.tree().link("proc/10/fd/4", "/dev/full");
  machine.tree().write("proc/10/fdinfo/4",
                       "drm-driver:\tpanfrost\ndrm-client-id:\t2\n"
                       "drm-resident-memory:\t8 KiB\n");
  REQUIRE(machine.source().prepare(reading));
  REQUIRE(machine.source().process(1, 10, true, usage, reading));
  CHECK(usage.used == 8 * kib);
  // The process with that PID in another namespace is not the caller.
  hmn_fake::set_self(machine.tree(), 11);
  machine.add_process(11, {});
  REQUIRE(machine.source().process(0, 10, false, usage, reading));
  CHECK(usage.used == 64 * kib);
}

TEST_CASE("an unreadable descriptor of the caller leaves its use unknown, not 0") {
  Machine machine;
  machine.add_pci(nouveau(), {card0, render128});
  machine.add_process(10, {{3, "/dev/null", "pos:\t0\n"}});
  hmn_fake::set_self(machine.tree(), 10);
  PlainReading reading;
  machine.devices(reading);
  Usage usage;
  REQUIRE(machine.source().process(0, 10, true, usage, reading));
  CHECK_FALSE(usage.used);
  const Diagnostic* const diagnostic = reading.find("memory of clients is not reported");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->subject == subject::self);
}

TEST_CASE("fdinfo of a sleeping card is not read") {
  Machine machine;
  machine.add_pci(radeon(), {card0, render128});
  hmn_fake::PciDevice card = radeon();
  card.runtime_status = "suspended";
  machine.add_pci(card, {card0, render128});
  const std::string text = "drm-driver:\tradeon\ndrm-client-id:\t1\ndrm-resident-vram:\t1 KiB\n";
  machine.add_process(10, {{3, "/dev/null", text}});
  machine.add_process(11, {});
  PlainReading reading;
  machine.devices(reading);
  std::vector<Usage> rows;
  CHECK(machine.source().processes(0, rows, reading).failure().code == Status::asleep);
  Usage usage;
  CHECK(machine.source().process(0, 10, false, usage, reading).failure().code == Status::asleep);
  hmn_fake::set_self(machine.tree(), 11);
  REQUIRE(machine.source().process(0, 11, true, usage, reading));
  CHECK(usage.used == 0u);
  Machine waking(true);
  waking.add_pci(card, {card0, render128});
  waking.add_process(10, {{3, "/dev/null", text}});
  waking.devices(reading);
  CHECK(waking.rows(0, reading).at(0).used == kib);
}

TEST_CASE("fdinfo counters that are in RAM are read while the device sleeps") {
  Machine machine;
  add_v3d(machine);
  machine.tree().write("sys/devices/platform/fd500000.gpu/power/runtime_status", "suspended\n");
  machine.add_process(10, {{3, "/dev/null", format_fdinfo(1, 64)}});
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 1);
  CHECK(devices[0].state == State::asleep);
  CHECK(machine.rows(0, reading).at(0).used == 64 * kib);
}

TEST_CASE("processes that cannot be inspected are counted, except kernel threads") {
  Machine machine;
  add_v3d(machine);
  machine.add_process(10, {{3, "/dev/null", format_fdinfo(1, 64)}});
  machine.add_process(11, {{3, "/dev/null", format_fdinfo(2, 64)}});
  machine.add_process(12, {});
  hmn_fake::StatLine kernel;
  kernel.flags = 0x00200000;
  machine.tree().write("proc/12/stat", hmn_fake::format_text(12, kernel));
  for (const char* folder : {"proc/11/fd", "proc/11/fdinfo", "proc/12/fd"}) {
    machine.tree().mode(folder, 0);
  }
  machine.tree().mode(".", 0755);
  std::optional<NobodyUser> nobody(std::in_place);
  PlainReading reading;
  machine.devices(reading);
  CHECK(machine.rows(0, reading).size() == 1);
  const Diagnostic* const diagnostic = reading.find(Status::permission);
  REQUIRE(diagnostic != nullptr);
  CHECK(mentions(diagnostic->failure, "1 of 2 processes"));
  CHECK(diagnostic->unreadable_processes == 1);
  CHECK(diagnostic->subject == subject::processes);
  CHECK(diagnostic->failure.native.code == EACCES);
  CHECK(mentions(diagnostic->failure, "; CAP_SYS_PTRACE shows"));
  Usage usage;
  const auto result = machine.source().process(0, 11, false, usage, reading);
  CHECK(result.failure().code == Status::permission);
  CHECK(mentions(result.failure(), "; CAP_SYS_PTRACE allows it"));
  nobody.reset();
  machine.tree().mode("proc/11/fdinfo", 0755);
  nobody.emplace();
  ScanFixture fixture(machine);
  CHECK(fixture.scan().is_complete());
  CHECK(fixture.clients.all().size() == 2);
  nobody.reset();
  for (const char* folder : {"proc/11/fd", "proc/12/fd"}) machine.tree().mode(folder, 0755);
}

TEST_CASE("CAP_SYS_PTRACE is not advised if it is held or a user namespace cannot give it") {
  for (const bool has_capability : {true, false}) {
    Machine machine;
    add_v3d(machine);
    machine.add_process(10, {{3, "/dev/null", format_fdinfo(1, 64)}});
    machine.add_process(11, {{3, "/dev/null", format_fdinfo(2, 64)}});
    machine.tree().write("proc/self/status", has_capability ? "CapEff:\t0000000000080000\n"
                                                            : "CapEff:\t0000000000000000\n");
    machine.tree().link("proc/self/ns/user",
                        has_capability ? "user:[4026531837]" : "user:[4026532999]");
    for (const char* folder : {"proc/11/fd", "proc/11/fdinfo"}) machine.tree().mode(folder, 0);
    machine.tree().mode(".", 0755);
    std::optional<NobodyUser> nobody(std::in_place);
    PlainReading reading;
    machine.devices(reading);
    machine.rows(0, reading);
    const Diagnostic* const diagnostic = reading.find(Status::permission);
    REQUIRE(diagnostic != nullptr);
    CHECK(diagnostic->failure.message == "1 of 2 processes cannot be inspected");
    Usage usage;
    CHECK(machine.source().process(0, 11, false, usage, reading).failure().message ==
          "process 11 cannot be inspected");
    nobody.reset();
    for (const char* folder : {"proc/11/fd", "proc/11/fdinfo"}) machine.tree().mode(folder, 0755);
  }
}

TEST_CASE("if no process can be inspected, the list is an error, not empty") {
  Machine machine;
  add_v3d(machine);
  machine.add_process(10, {{3, "/dev/null", format_fdinfo(1, 64)}});
  machine.add_process(11, {{3, "/dev/null", format_fdinfo(2, 64)}});
  constexpr const char* folders[] = {"proc/10/fd", "proc/10/fdinfo", "proc/11/fd",
                                     "proc/11/fdinfo"};
  for (const char* folder : folders) machine.tree().mode(folder, 0);
  machine.tree().mode(".", 0755);
  std::optional<NobodyUser> nobody(std::in_place);
  PlainReading reading;
  machine.devices(reading);
  std::vector<Usage> rows;
  const auto result = machine.source().processes(0, rows, reading);
  CHECK(rows.empty());
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::permission);
  CHECK(mentions(result.failure(), "none of the 2 processes can be inspected"));
  nobody.reset();
  for (const char* folder : folders) machine.tree().mode(folder, 0755);
}

TEST_CASE("a caller that may inspect only itself gets an error, not an empty list") {
  Machine machine;
  add_v3d(machine);
  machine.add_process(10, {});
  machine.add_process(11, {{3, "/dev/null", format_fdinfo(2, 64)}});
  machine.tree().link("proc/self", "10");
  constexpr const char* folders[] = {"proc/11/fd", "proc/11/fdinfo"};
  for (const char* folder : folders) machine.tree().mode(folder, 0);
  machine.tree().mode(".", 0755);
  std::optional<NobodyUser> nobody(std::in_place);
  PlainReading reading;
  machine.devices(reading);
  std::vector<Usage> rows;
  const auto result = machine.source().processes(0, rows, reading);
  CHECK(rows.empty());
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::permission);
  CHECK(mentions(result.failure(), "none of the 1 other processes can be inspected"));
  // Nor does it know the load of the engines.
  std::vector<Metric> metrics;
  REQUIRE(machine.source().metrics(0, true, metrics, reading));
  CHECK(metrics.empty());
  const auto* const diagnostic = reading.find("none of the 1 other processes");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->subject == subject::metrics);
  CHECK(diagnostic->field == missing_metric(MetricId::engine_percent));
  nobody.reset();
  for (const char* folder : folders) machine.tree().mode(folder, 0755);

  Machine hidden_machine;
  add_v3d(hidden_machine);
  hidden_machine.add_process(10, {});
  hidden_machine.tree().link("proc/self", "10");
  hidden_machine.tree().write("proc/10/mountinfo",
                              "22 1 0:20 / /proc rw,relatime - proc proc rw,hidepid=invisible\n");
  hidden_machine.devices(reading);
  CHECK(mentions(hidden_machine.source().processes(0, rows, reading).failure(), "hidepid"));
}

// proc(5), hidepid=2 and 4: what cannot be inspected is not in the list.
TEST_CASE("a /proc mounted with hidepid is reported") {
  constexpr const char* plain = "22 1 0:20 / /proc rw,relatime - proc proc rw\n";
  constexpr const char* hiding = "22 1 0:20 / /proc rw,relatime - proc proc rw,hidepid=invisible\n";
  Machine machine;
  add_v3d(machine);
  machine.add_process(10, {{3, "/dev/null", format_fdinfo(1, 64)}});
  const auto is_reported = [&] {
    PlainReading reading;
    machine.devices(reading);
    CHECK(machine.rows(0, reading).size() == 1);
    const Diagnostic* const diagnostic = reading.find(Status::permission);
    if (diagnostic != nullptr) CHECK(mentions(diagnostic->failure, "hidepid"));
    return diagnostic != nullptr;
  };
  CHECK_FALSE(is_reported());  // a copied tree without mountinfo
  machine.tree().write("proc/self/mountinfo", plain);
  CHECK_FALSE(is_reported());
  machine.tree().write("proc/self/mountinfo", hiding);
  CHECK(is_reported());
  ScanFixture fixture(machine);
  CHECK_FALSE(fixture.scan().is_complete());
  machine.add_process(1, {});
  CHECK_FALSE(is_reported());  // they are visible to this caller
}

TEST_CASE("without /proc there are no rows, and a reason") {
  Machine machine;
  add_v3d(machine);
  machine.tree().remove("proc");
  PlainReading reading;
  machine.devices(reading);
  std::vector<Usage> rows;
  CHECK(machine.source().processes(0, rows, reading).failure().code == Status::no_source);
}

TEST_CASE("known clients are read again without a search") {
  Machine machine;
  add_v3d(machine);
  machine.add_process(10, {{3, "/dev/null", format_fdinfo(1, 64)}});
  machine.add_process(11, {});
  ScanFixture fixture(machine);
  CHECK(fixture.scan().processes == 2);
  REQUIRE(fixture.clients.all().size() == 1);
  // A new descriptor waits for its turn, a new process does not.
  machine.tree().link("proc/10/fd/7", "/dev/null");
  machine.tree().write("proc/10/fdinfo/7", format_fdinfo(2, 8));
  machine.tree().write("proc/10/fdinfo/3", format_fdinfo(1, 65));
  machine.add_process(12, {{3, "/dev/null", format_fdinfo(3, 4)}});
  fixture.scan(2000);
  REQUIRE(fixture.clients.all().size() == 2);
  CHECK(fixture.clients.all()[0].use.resident == 65 * kib);
  CHECK(fixture.clients.all()[1].pid == 12);
  fixture.scanner.forget();
  fixture.scan(3000);
  CHECK(fixture.clients.all().size() == 3);
}

TEST_CASE("a new descriptor is found within the rescan interval") {
  Machine machine;
  add_v3d(machine);
  machine.add_process(10, {});
  constexpr std::uint64_t second = platform::ns_per_second;
  ScanFixture fixture(machine, 2 * second);
  fixture.scan(second);
  machine.tree().link("proc/10/fd/7", "/dev/null");
  machine.tree().write("proc/10/fdinfo/7", format_fdinfo(2, 8));
  fixture.scan(second + second / 2);
  CHECK(fixture.clients.all().empty());
  fixture.scan(3 * second);
  CHECK(fixture.clients.all().size() == 1);
}

TEST_CASE("without processor time for a search, known clients are read and their age is reported") {
  Machine machine;
  add_v3d(machine);
  machine.add_process(10, {{3, "/dev/null", format_fdinfo(1, 64)}});
  machine.add_process(11, {});
  constexpr std::uint64_t second = platform::ns_per_second;
  ScanFixture fixture(machine, 2 * second, 0);
  CHECK(fixture.scan(second).is_complete());
  machine.tree().write("proc/10/fdinfo/3", format_fdinfo(1, 65));
  machine.tree().link("proc/11/fd/7", "/dev/null");
  machine.tree().write("proc/11/fdinfo/7", format_fdinfo(2, 8));
  machine.add_process(12, {{3, "/dev/null", format_fdinfo(3, 4)}});
  auto coverage = fixture.scan(3 * second);
  REQUIRE(fixture.clients.all().size() == 1);
  CHECK(fixture.clients.all()[0].use.resident == 65 * kib);
  CHECK(coverage.oldest_search_ns == second);
  CHECK(coverage.is_complete());
  // A process that uses the card already has its turn in time.
  machine.tree().link("proc/10/fd/7", "/dev/null");
  machine.tree().write("proc/10/fdinfo/7", format_fdinfo(4, 16));
  coverage = fixture.scan(5 * second);
  CHECK(fixture.clients.all().size() == 2);
  CHECK(coverage.oldest_search_ns == second);
  CHECK(coverage.is_outdated);
  CHECK_FALSE(coverage.is_complete());
}

TEST_CASE("an implausible load is absent, not limited to 100") {
  Machine machine;
  add_v3d(machine);
  machine.add_process(10, {{3, "/dev/null", format_fdinfo(1, 64, 1000)}});
  Settings settings = machine.settings();
  settings.rescan_ns = platform::ns_per_ms;
  settings.rescan_percent = 100;
  drm::DrmSource source(settings);
  PlainReading reading;
  Telemetry load;
  std::vector<Device> devices;
  REQUIRE(source.prepare(reading));
  REQUIRE(source.devices(devices, reading));
  static_cast<void>(source.telemetry(0, telemetry_field::gpu_busy_percent, load, reading));
  platform::sleep_ns(120 * platform::ns_per_ms);
  // An hour of engine time since then.
  machine.tree().write("proc/10/fdinfo/3", format_fdinfo(1, 64, 3600 * platform::ns_per_second));
  REQUIRE(source.prepare(reading));
  REQUIRE(source.telemetry(0, telemetry_field::gpu_busy_percent, load, reading));
  REQUIRE_FALSE(keep_plausible(load, 0, reading));
  CHECK_FALSE(load.gpu_busy_percent);
  CHECK(reading.find("above 100: implausible") != nullptr);
}

TEST_CASE("the load is a lower bound with a reason if the search is late") {
  Machine machine;
  add_v3d(machine);
  machine.add_process(10, {{3, "/dev/null", format_fdinfo(1, 64, 1000)}});
  machine.add_process(11, {});
  Settings settings = machine.settings();
  settings.rescan_ns = platform::ns_per_ms;
  for (const std::uint32_t percent : {0U, 100U}) {
    CAPTURE(percent);
    settings.rescan_percent = percent;
    drm::DrmSource source(settings);
    PlainReading reading;
    Telemetry load;
    std::vector<Device> devices;
    REQUIRE(source.prepare(reading));
    REQUIRE(source.devices(devices, reading));
    static_cast<void>(source.telemetry(0, telemetry_field::gpu_busy_percent, load, reading));
    CHECK(reading.find(Status::limit) == nullptr);
    platform::sleep_ns(120 * platform::ns_per_ms);
    REQUIRE(source.prepare(reading));
    REQUIRE(source.telemetry(0, telemetry_field::gpu_busy_percent, load, reading));
    CHECK(load.gpu_busy_percent.has_value());
    CHECK(((load.notes & note::lower_bound) != 0) == (percent == 0));
    const Diagnostic* const diagnostic = reading.find(Status::limit);
    REQUIRE((diagnostic != nullptr) == (percent == 0));
    if (diagnostic == nullptr) continue;
    CHECK(diagnostic->subject == subject::processes);
    CHECK(mentions(diagnostic->failure, "rescan_percent"));
  }
}

TEST_CASE("a process that has ended is not searched again") {
  Machine machine;
  add_v3d(machine);
  machine.add_process(10, {{3, "/dev/null", format_fdinfo(1, 64)}});
  machine.add_process(11, {});
  ScanFixture fixture(machine, 2 * platform::ns_per_second, 0);
  fixture.scan();
  machine.tree().remove("proc/10");
  CHECK(fixture.scan(2000).processes == 1);
  machine.add_process(10, {{3, "/dev/null", format_fdinfo(2, 32)}});
  CHECK(fixture.scan(3000).processes == 1);
  CHECK(fixture.clients.all().empty());
}

TEST_CASE("a descriptor or PID that is reused is not taken for the old one") {
  Machine machine;
  add_v3d(machine);
  machine.add_platform("fe000000.gpu", "panfrost", {card1, render129});
  machine.add_process(10, {{3, "/dev/null", format_fdinfo(1, 64)}});
  machine.add_process(11, {{3, "/dev/null", format_fdinfo(2, 32)}});
  machine.add_process(12, {{3, "/dev/null", format_fdinfo(3, 16)}});
  ScanFixture fixture(machine);
  fixture.scan();
  CHECK(fixture.clients.all().size() == 3);
  machine.tree().link("proc/10/fd/3", "/dev/full");
  machine.add_process(11, {{5, "/dev/null", format_fdinfo(4, 8)}});
  machine.tree().remove("proc/12");
  fixture.scan(2000);
  REQUIRE(fixture.clients.all().size() == 2);
  CHECK(fixture.clients.all()[0].pid == 10);
  CHECK(fixture.clients.all()[1].key.value == 4);
  CHECK(fixture.clients.all()[0].key.card != fixture.clients.all()[1].key.card);
}

TEST_CASE("a walk ends at the deadline and counts what it did not reach") {
  Machine machine;
  add_v3d(machine);
  machine.add_process(10, {{3, "/dev/null", format_fdinfo(1, 64)}});
  machine.add_process(11, {});
  ScanFixture fixture(machine);
  const auto coverage = fixture.scan(1000, 1);
  CHECK(coverage.not_reached == 2);
  CHECK_FALSE(coverage.is_complete());
  CHECK(fixture.clients.all().empty());
  PlainReading late(0);
  machine.devices(late);
  std::vector<Usage> rows;
  REQUIRE(machine.source().prepare(late));
  const Result<void> result = machine.source().processes(0, rows, late);
  REQUIRE_FALSE(result);  // no rows do not mean an empty list
  CHECK(result.failure().code == Status::timeout);
  CHECK(rows.empty());
  const Diagnostic* const diagnostic = late.find(Status::timeout);
  REQUIRE(diagnostic != nullptr);
  CHECK(mentions(diagnostic->failure, "2 processes"));
}
