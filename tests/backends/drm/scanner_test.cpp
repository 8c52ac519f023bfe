// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The walk over /proc, seen through the rows that it makes.
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

std::string v3d_fdinfo(unsigned client, unsigned resident_kib, std::uint64_t busy_ns = 0,
                       unsigned shared_kib = 0) {
  return "pos:\t0\nflags:\t02400002\ndrm-driver:\tv3d\ndrm-client-id:\t" + std::to_string(client) +
         "\ndrm-engine-render:\t" + std::to_string(busy_ns) + " ns\ndrm-total-memory:\t" +
         std::to_string(resident_kib * 2) + " KiB\ndrm-shared-memory:\t" +
         std::to_string(shared_kib) + " KiB\ndrm-resident-memory:\t" +
         std::to_string(resident_kib) + " KiB\n";
}

Machine& with_v3d(Machine& m) {
  m.add_platform("fd500000.gpu", "v3d", {card0, render128});
  return m;
}

// A scanner that forgets nothing until forget() is called.
struct Patient {
  explicit Patient(Machine& m, std::uint64_t rescan_ns = ~std::uint64_t{0} >> 2,
                   std::uint32_t percent = 100)
      : card_list(m.settings()), scanner(m.tree().proc(), rescan_ns, percent) {
    card_list.refresh();
  }
  drm::Coverage scan(std::uint64_t now_ns = 1000, std::uint64_t deadline_ns = ~std::uint64_t{0}) {
    return scanner.scan(card_list, false, now_ns, deadline_ns, list);
  }

  drm::CardList card_list;
  drm::Scanner scanner;
  drm::ClientList list;
};

// Root reads folders that are closed to it; for a while it is somebody else.
class Nobody {
 public:
  Nobody() { setfsuid(65534); }
  ~Nobody() { setfsuid(geteuid()); }
};

}  // namespace

TEST_CASE("a descriptor counts by its device number, not by its path") {
  Machine m;
  with_v3d(m);
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64)}, {4, "/dev/zero", v3d_fdinfo(2, 32)}});
  m.add_process(11,
                {{3, "/dev/random", v3d_fdinfo(3, 64)}, {4, "/etc/hostname", v3d_fdinfo(4, 64)}});
  PlainReading r;
  m.devices(r);
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 10);
  CHECK(rows[0].from == Source::drm);
  CHECK(rows[0].used == 96 * kib);
  CHECK(rows[0].resident == 96 * kib);
  CHECK(rows[0].committed == 192 * kib);
  CHECK(rows[0].accounting == Accounting::resident);
  CHECK(rows[0].kinds == 0u);
  CHECK(rows[0].busy_ns == 0u);
  CHECK(rows[0].notes == 0);
  CHECK(r.find(Status::permission) == nullptr);
}

TEST_CASE("descriptors of one client count once, also across processes") {
  Machine m;
  with_v3d(m);
  m.add_process(10,
                {{3, "/dev/null", v3d_fdinfo(1, 64, 5)}, {9, "/dev/null", v3d_fdinfo(1, 64, 5)}});
  m.add_process(
      11, {{3, "/dev/null", v3d_fdinfo(1, 64, 5)}, {5, "/dev/zero", v3d_fdinfo(2, 16, 7, 4)}});
  PlainReading r;
  m.devices(r);
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].used == 64 * kib);
  CHECK(rows[0].shared == 64 * kib);
  CHECK(rows[0].busy_ns == 5u);
  CHECK(rows[0].kinds == usage_kind::graphics);
  CHECK(rows[1].used == 80 * kib);
  CHECK(rows[1].shared == 68 * kib);
  CHECK(rows[1].busy_ns == 12u);
  Pools p;
  REQUIRE(m.source().memory(0, p, r));
  const Pool* const main = p.find(PoolKind::main);
  REQUIRE(main != nullptr);
  CHECK(main->kind == PoolKind::unified);
  CHECK(main->used == 80 * kib);
  CHECK((main->notes & note::lower_bound) != 0);
  CHECK_FALSE(main->total);
}

TEST_CASE("the same client id on two cards is two clients") {
  Machine m;
  with_v3d(m);
  m.add_platform("fe000000.gpu", "panfrost", {card1, render129});
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64)}, {4, "/dev/full", v3d_fdinfo(1, 16)}});
  PlainReading r;
  m.devices(r);
  const auto one = m.rows(0, r);
  const auto other = m.rows(1, r);
  CHECK(*one.at(0).used + *other.at(0).used == 80 * kib);
  CHECK(*one.at(0).shared + *other.at(0).shared == 0);
}

TEST_CASE("where no device number is to be had the text tells the card") {
  Machine m;
  with_v3d(m);
  m.add_pci(nouveau(), {card1, render129});
  const std::string by_address =
      "drm-driver:\tnouveau\ndrm-client-id:\t3\n"
      "drm-pdev:\t0000:01:00.0\ndrm-resident-vram:\t5 KiB\n";
  m.add_process(10, {{3, "/gone/dri/renderD128", v3d_fdinfo(1, 64)}});
  m.add_process(11, {{3, "/gone/odd/path", v3d_fdinfo(2, 32)}});
  m.add_process(12, {{3, "/gone/odd/path", by_address}});
  m.add_process(13, {{3, "/gone/file", "pos:\t0\n"}, {4, "/gone/other", "drm-driver:\tlima\n"}});
  PlainReading r;
  m.devices(r);
  const Slot first = m.devices(r).at(0).vendor == vendor::nvidia ? 0 : 1;
  const auto on_nouveau = m.rows(first, r);
  REQUIRE(on_nouveau.size() == 1);
  CHECK(on_nouveau[0].pid == 12);
  CHECK(on_nouveau[0].used == 5 * kib);
  const auto on_v3d = m.rows(1 - first, r);
  REQUIRE(on_v3d.size() == 2);
  CHECK(on_v3d[0].used == 64 * kib);
  CHECK(on_v3d[1].used == 32 * kib);
}

TEST_CASE("a driver that tells nothing of its clients has rows without figures") {
  Machine m;
  m.add_pci(nouveau(), {card0, render128});
  m.add_process(10, {{3, "/dev/null", "pos:\t0\n"}});
  m.add_process(11, {{3, "/dev/null", ""}});
  PlainReading r;
  m.devices(r);
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);  // 11 closed it between the two looks
  CHECK(rows[0].pid == 10);
  CHECK_FALSE(rows[0].used);
  CHECK(rows[0].accounting == Accounting::none);
  CHECK((rows[0].notes & note::lower_bound) == 0);
  const Diagnostic* const why = r.find("memory of clients is not reported");
  REQUIRE(why != nullptr);
  CHECK(why->why.code == Status::unsupported);
  CHECK(why->field == usage_field::used);
  CHECK(why->pid == 10u);
}

TEST_CASE("clients that nothing tells apart count as one, a lower bound") {
  Machine m;
  with_v3d(m);
  const std::string text = "drm-driver:\tv3d\ndrm-resident-memory:\t";
  m.add_process(10, {{3, "/dev/null", text + "4 KiB\n"}, {4, "/dev/null", text + "9 KiB\n"}});
  m.add_process(11, {{3, "/dev/null", text + "4 KiB\n"}});
  PlainReading r;
  m.devices(r);
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].used == 9 * kib);
  CHECK((rows[0].notes & note::lower_bound) != 0);
  CHECK(rows[1].used == 4 * kib);
  CHECK(rows[1].notes == 0);
}

TEST_CASE("one process, and the caller") {
  Machine m;
  with_v3d(m);
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64)}});
  m.add_process(11, {});
  hmn_fake::set_self(m.tree(), 11);
  PlainReading r;
  m.devices(r);
  Usage u;
  REQUIRE(m.source().process(0, 10, false, u, r));
  CHECK(u.used == 64 * kib);
  CHECK(u.from == Source::drm);
  CHECK(m.source().process(0, 11, false, u, r).why().code == Status::no_process);
  CHECK(m.source().process(0, 99, false, u, r).why().code == Status::no_process);
  REQUIRE(m.source().process(0, 11, true, u, r));
  CHECK(u.pid == 11);
  CHECK(u.used == 0u);
  hmn_fake::set_self(m.tree(), 10);
  REQUIRE(m.source().process(0, 10, true, u, r));
  CHECK(u.used == 64 * kib);
}

TEST_CASE("one walk over a process serves all cards of a reading") {
  Machine m;
  with_v3d(m);
  m.add_platform("fe000000.gpu", "panfrost", {card1, render129});
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64)}});
  hmn_fake::set_self(m.tree(), 10);
  PlainReading r;
  m.devices(r);
  hmn_fake::OpenWatch descriptors(m.tree().path("proc/10/fd"));
  Usage u;
  REQUIRE(m.source().process(0, 10, true, u, r));
  CHECK(u.used == 64 * kib);
  REQUIRE(m.source().process(1, 10, true, u, r));
  CHECK(u.used == 0u);
  CHECK(descriptors.opened().size() == 1);
  // The next reading walks again, and finds what was opened since.
  m.tree().link("proc/10/fd/4", "/dev/full");
  m.tree().write("proc/10/fdinfo/4",
                 "drm-driver:\tpanfrost\ndrm-client-id:\t2\n"
                 "drm-resident-memory:\t8 KiB\n");
  REQUIRE(m.source().prepare(r));
  REQUIRE(m.source().process(1, 10, true, u, r));
  CHECK(u.used == 8 * kib);
  // The process of that number in a tree of another namespace is not the caller.
  hmn_fake::set_self(m.tree(), 11);
  m.add_process(11, {});
  REQUIRE(m.source().process(0, 10, false, u, r));
  CHECK(u.used == 64 * kib);
}

TEST_CASE("the caller's zero is not claimed where a descriptor could not be read") {
  Machine m;
  m.add_pci(nouveau(), {card0, render128});
  m.add_process(10, {{3, "/dev/null", "pos:\t0\n"}});
  hmn_fake::set_self(m.tree(), 10);
  PlainReading r;
  m.devices(r);
  Usage u;
  REQUIRE(m.source().process(0, 10, true, u, r));
  CHECK_FALSE(u.used);
  const Diagnostic* const why = r.find("memory of clients is not reported");
  REQUIRE(why != nullptr);
  CHECK(why->about == subject::self);
}

TEST_CASE("fdinfo of a sleeping card is not read") {
  Machine m;
  m.add_pci(radeon(), {card0, render128});
  hmn_fake::PciDevice d = radeon();
  d.runtime_status = "suspended";
  m.add_pci(d, {card0, render128});
  const std::string text = "drm-driver:\tradeon\ndrm-client-id:\t1\ndrm-resident-vram:\t1 KiB\n";
  m.add_process(10, {{3, "/dev/null", text}});
  m.add_process(11, {});
  PlainReading r;
  m.devices(r);
  std::vector<Usage> rows;
  CHECK(m.source().processes(0, rows, r).why().code == Status::asleep);
  Usage u;
  CHECK(m.source().process(0, 10, false, u, r).why().code == Status::asleep);
  hmn_fake::set_self(m.tree(), 11);
  REQUIRE(m.source().process(0, 11, true, u, r));
  CHECK(u.used == 0u);
  Machine waking(true);
  waking.add_pci(d, {card0, render128});
  waking.add_process(10, {{3, "/dev/null", text}});
  waking.devices(r);
  CHECK(waking.rows(0, r).at(0).used == kib);
}

TEST_CASE("counters in RAM are read while their device sleeps") {
  Machine m;
  with_v3d(m);
  m.tree().write("sys/devices/platform/fd500000.gpu/power/runtime_status", "suspended\n");
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64)}});
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found.size() == 1);
  CHECK(found[0].state == State::asleep);
  CHECK(m.rows(0, r).at(0).used == 64 * kib);
}

TEST_CASE("processes that cannot be inspected are counted, kernel threads are not") {
  Machine m;
  with_v3d(m);
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64)}});
  m.add_process(11, {{3, "/dev/null", v3d_fdinfo(2, 64)}});
  m.add_process(12, {});
  hmn_fake::StatLine kernel;
  kernel.flags = 0x00200000;
  m.tree().write("proc/12/stat", hmn_fake::text_of(12, kernel));
  for (const char* folder : {"proc/11/fd", "proc/11/fdinfo", "proc/12/fd"}) {
    m.tree().mode(folder, 0);
  }
  m.tree().mode(".", 0755);
  std::optional<Nobody> asking(std::in_place);
  PlainReading r;
  m.devices(r);
  CHECK(m.rows(0, r).size() == 1);
  const Diagnostic* const why = r.find(Status::permission);
  REQUIRE(why != nullptr);
  CHECK(mentions(why->why, "1 of 2 processes"));
  CHECK(why->unreadable_processes == 1);
  CHECK(why->about == subject::processes);
  CHECK(why->why.native.code == EACCES);
  CHECK(mentions(why->why, "; CAP_SYS_PTRACE shows"));
  Usage u;
  const auto refused = m.source().process(0, 11, false, u, r);
  CHECK(refused.why().code == Status::permission);
  CHECK(mentions(refused.why(), "; CAP_SYS_PTRACE allows it"));
  asking.reset();
  m.tree().mode("proc/11/fdinfo", 0755);
  asking.emplace();
  Patient p(m);
  CHECK(p.scan().is_complete());
  CHECK(p.list.all().size() == 2);
  asking.reset();
  for (const char* folder : {"proc/11/fd", "proc/12/fd"}) m.tree().mode(folder, 0755);
}

TEST_CASE("a right that is held, or that a user namespace cannot give, is not advised") {
  for (const bool is_held : {true, false}) {
    Machine m;
    with_v3d(m);
    m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64)}});
    m.add_process(11, {{3, "/dev/null", v3d_fdinfo(2, 64)}});
    m.tree().write("proc/self/status",
                   is_held ? "CapEff:\t0000000000080000\n" : "CapEff:\t0000000000000000\n");
    m.tree().link("proc/self/ns/user", is_held ? "user:[4026531837]" : "user:[4026532999]");
    for (const char* folder : {"proc/11/fd", "proc/11/fdinfo"}) m.tree().mode(folder, 0);
    m.tree().mode(".", 0755);
    std::optional<Nobody> asking(std::in_place);
    PlainReading r;
    m.devices(r);
    m.rows(0, r);
    const Diagnostic* const why = r.find(Status::permission);
    REQUIRE(why != nullptr);
    CHECK(why->why.message == "1 of 2 processes cannot be inspected");
    Usage u;
    CHECK(m.source().process(0, 11, false, u, r).why().message == "process 11 cannot be inspected");
    asking.reset();
    for (const char* folder : {"proc/11/fd", "proc/11/fdinfo"}) m.tree().mode(folder, 0755);
  }
}

TEST_CASE("processes of which none can be inspected are not an empty list") {
  Machine m;
  with_v3d(m);
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64)}});
  m.add_process(11, {{3, "/dev/null", v3d_fdinfo(2, 64)}});
  constexpr const char* folders[] = {"proc/10/fd", "proc/10/fdinfo", "proc/11/fd",
                                     "proc/11/fdinfo"};
  for (const char* folder : folders) m.tree().mode(folder, 0);
  m.tree().mode(".", 0755);
  std::optional<Nobody> asking(std::in_place);
  PlainReading r;
  m.devices(r);
  std::vector<Usage> rows;
  const auto listed = m.source().processes(0, rows, r);
  CHECK(rows.empty());
  REQUIRE_FALSE(listed);
  CHECK(listed.why().code == Status::permission);
  CHECK(mentions(listed.why(), "none of the 2 processes can be inspected"));
  asking.reset();
  for (const char* folder : folders) m.tree().mode(folder, 0755);
}

TEST_CASE("a caller that may inspect only itself does not know an empty list") {
  Machine m;
  with_v3d(m);
  m.add_process(10, {});
  m.add_process(11, {{3, "/dev/null", v3d_fdinfo(2, 64)}});
  m.tree().link("proc/self", "10");
  constexpr const char* folders[] = {"proc/11/fd", "proc/11/fdinfo"};
  for (const char* folder : folders) m.tree().mode(folder, 0);
  m.tree().mode(".", 0755);
  std::optional<Nobody> asking(std::in_place);
  PlainReading r;
  m.devices(r);
  std::vector<Usage> rows;
  const auto listed = m.source().processes(0, rows, r);
  CHECK(rows.empty());
  REQUIRE_FALSE(listed);
  CHECK(listed.why().code == Status::permission);
  CHECK(mentions(listed.why(), "none of the 1 other processes can be inspected"));
  // Nor does it know the load of the engines.
  std::vector<Metric> all;
  REQUIRE(m.source().metrics(0, true, all, r));
  CHECK(all.empty());
  const auto* const why = r.find("none of the 1 other processes");
  REQUIRE(why != nullptr);
  CHECK(why->about == subject::metrics);
  CHECK(why->field == missing_metric(MetricId::engine_percent));
  asking.reset();
  for (const char* folder : folders) m.tree().mode(folder, 0755);

  Machine hidden;
  with_v3d(hidden);
  hidden.add_process(10, {});
  hidden.tree().link("proc/self", "10");
  hidden.tree().write("proc/10/mountinfo",
                      "22 1 0:20 / /proc rw,relatime - proc proc rw,hidepid=invisible\n");
  hidden.devices(r);
  CHECK(mentions(hidden.source().processes(0, rows, r).why(), "hidepid"));
}

// proc(5), hidepid=2 and 4: what cannot be inspected is not in the list.
TEST_CASE("a proc tree that hides other users' processes is said to") {
  constexpr const char* plain = "22 1 0:20 / /proc rw,relatime - proc proc rw\n";
  constexpr const char* hiding = "22 1 0:20 / /proc rw,relatime - proc proc rw,hidepid=invisible\n";
  Machine m;
  with_v3d(m);
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64)}});
  const auto said = [&] {
    PlainReading r;
    m.devices(r);
    CHECK(m.rows(0, r).size() == 1);
    const Diagnostic* const why = r.find(Status::permission);
    if (why != nullptr) CHECK(mentions(why->why, "hidepid"));
    return why != nullptr;
  };
  CHECK_FALSE(said());  // a copied tree, of which nothing is known
  m.tree().write("proc/self/mountinfo", plain);
  CHECK_FALSE(said());
  m.tree().write("proc/self/mountinfo", hiding);
  CHECK(said());
  Patient p(m);
  CHECK_FALSE(p.scan().is_complete());
  m.add_process(1, {});
  CHECK_FALSE(said());  // they are shown to this caller
}

TEST_CASE("without a proc tree there are no rows and a reason") {
  Machine m;
  with_v3d(m);
  m.tree().remove("proc");
  PlainReading r;
  m.devices(r);
  std::vector<Usage> rows;
  CHECK(m.source().processes(0, rows, r).why().code == Status::no_source);
}

TEST_CASE("what is known is read again without looking for it") {
  Machine m;
  with_v3d(m);
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64)}});
  m.add_process(11, {});
  Patient p(m);
  CHECK(p.scan().processes == 2);
  REQUIRE(p.list.all().size() == 1);
  // A new descriptor waits for its turn, a new process does not.
  m.tree().link("proc/10/fd/7", "/dev/null");
  m.tree().write("proc/10/fdinfo/7", v3d_fdinfo(2, 8));
  m.tree().write("proc/10/fdinfo/3", v3d_fdinfo(1, 65));
  m.add_process(12, {{3, "/dev/null", v3d_fdinfo(3, 4)}});
  p.scan(2000);
  REQUIRE(p.list.all().size() == 2);
  CHECK(p.list.all()[0].use.resident == 65 * kib);
  CHECK(p.list.all()[1].pid == 12);
  p.scanner.forget();
  p.scan(3000);
  CHECK(p.list.all().size() == 3);
}

TEST_CASE("a new descriptor is seen within the time that is given for it") {
  Machine m;
  with_v3d(m);
  m.add_process(10, {});
  constexpr std::uint64_t second = platform::ns_per_second;
  Patient p(m, 2 * second);
  p.scan(second);
  m.tree().link("proc/10/fd/7", "/dev/null");
  m.tree().write("proc/10/fdinfo/7", v3d_fdinfo(2, 8));
  p.scan(second + second / 2);
  CHECK(p.list.all().empty());
  p.scan(3 * second);
  CHECK(p.list.all().size() == 1);
}

TEST_CASE("without processor time for a search the known clients are read, and the age is known") {
  Machine m;
  with_v3d(m);
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64)}});
  m.add_process(11, {});
  constexpr std::uint64_t second = platform::ns_per_second;
  Patient p(m, 2 * second, 0);
  CHECK(p.scan(second).is_complete());
  m.tree().write("proc/10/fdinfo/3", v3d_fdinfo(1, 65));
  m.tree().link("proc/11/fd/7", "/dev/null");
  m.tree().write("proc/11/fdinfo/7", v3d_fdinfo(2, 8));
  m.add_process(12, {{3, "/dev/null", v3d_fdinfo(3, 4)}});
  auto seen = p.scan(3 * second);
  REQUIRE(p.list.all().size() == 1);
  CHECK(p.list.all()[0].use.resident == 65 * kib);
  CHECK(seen.oldest_look == second);
  CHECK(seen.is_complete());
  // A process that uses the card already has its turn in time.
  m.tree().link("proc/10/fd/7", "/dev/null");
  m.tree().write("proc/10/fdinfo/7", v3d_fdinfo(4, 16));
  seen = p.scan(5 * second);
  CHECK(p.list.all().size() == 2);
  CHECK(seen.oldest_look == second);
  CHECK(seen.is_outdated);
  CHECK_FALSE(seen.is_complete());
}

TEST_CASE("a load that cannot be is not cut to one that can") {
  Machine m;
  with_v3d(m);
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64, 1000)}});
  Settings s = m.settings();
  s.rescan_ns = platform::ns_per_ms;
  s.rescan_percent = 100;
  drm::DrmSource source(s);
  PlainReading r;
  Telemetry load;
  std::vector<Device> found;
  REQUIRE(source.prepare(r));
  REQUIRE(source.devices(found, r));
  static_cast<void>(source.telemetry(0, telemetry_field::gpu_busy_percent, load, r));
  platform::sleep_ns(120 * platform::ns_per_ms);
  // An hour of work since then.
  m.tree().write("proc/10/fdinfo/3", v3d_fdinfo(1, 64, 3600 * platform::ns_per_second));
  REQUIRE(source.prepare(r));
  REQUIRE(source.telemetry(0, telemetry_field::gpu_busy_percent, load, r));
  REQUIRE_FALSE(keep_plausible(load, 0, r));
  CHECK_FALSE(load.gpu_busy_percent);
  CHECK(r.find("above 100: implausible") != nullptr);
}

TEST_CASE("a load is a lower bound where the search has not seen all in time, with the reason") {
  Machine m;
  with_v3d(m);
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64, 1000)}});
  m.add_process(11, {});
  Settings s = m.settings();
  s.rescan_ns = platform::ns_per_ms;
  for (const std::uint32_t percent : {0U, 100U}) {
    CAPTURE(percent);
    s.rescan_percent = percent;
    drm::DrmSource source(s);
    PlainReading r;
    Telemetry load;
    std::vector<Device> found;
    REQUIRE(source.prepare(r));
    REQUIRE(source.devices(found, r));
    static_cast<void>(source.telemetry(0, telemetry_field::gpu_busy_percent, load, r));
    CHECK(r.find(Status::limit) == nullptr);
    platform::sleep_ns(120 * platform::ns_per_ms);
    REQUIRE(source.prepare(r));
    REQUIRE(source.telemetry(0, telemetry_field::gpu_busy_percent, load, r));
    CHECK(load.gpu_busy_percent.has_value());
    CHECK(((load.notes & note::lower_bound) != 0) == (percent == 0));
    const Diagnostic* const why = r.find(Status::limit);
    REQUIRE((why != nullptr) == (percent == 0));
    if (why == nullptr) continue;
    CHECK(why->about == subject::processes);
    CHECK(mentions(why->why, "rescan_percent"));
  }
}

TEST_CASE("a process that has ended is not looked for again") {
  Machine m;
  with_v3d(m);
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64)}});
  m.add_process(11, {});
  Patient p(m, 2 * platform::ns_per_second, 0);
  p.scan();
  m.tree().remove("proc/10");
  CHECK(p.scan(2000).processes == 1);
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(2, 32)}});
  CHECK(p.scan(3000).processes == 1);
  CHECK(p.list.all().empty());
}

TEST_CASE("a descriptor, or a pid, that is used again is not taken for the old one") {
  Machine m;
  with_v3d(m);
  m.add_platform("fe000000.gpu", "panfrost", {card1, render129});
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64)}});
  m.add_process(11, {{3, "/dev/null", v3d_fdinfo(2, 32)}});
  m.add_process(12, {{3, "/dev/null", v3d_fdinfo(3, 16)}});
  Patient p(m);
  p.scan();
  CHECK(p.list.all().size() == 3);
  m.tree().link("proc/10/fd/3", "/dev/full");
  m.add_process(11, {{5, "/dev/null", v3d_fdinfo(4, 8)}});
  m.tree().remove("proc/12");
  p.scan(2000);
  REQUIRE(p.list.all().size() == 2);
  CHECK(p.list.all()[0].pid == 10);
  CHECK(p.list.all()[1].key.value == 4);
  CHECK(p.list.all()[0].key.card != p.list.all()[1].key.card);
}

TEST_CASE("a deadline ends the walk, and what was not reached is counted") {
  Machine m;
  with_v3d(m);
  m.add_process(10, {{3, "/dev/null", v3d_fdinfo(1, 64)}});
  m.add_process(11, {});
  Patient p(m);
  const auto seen = p.scan(1000, 1);
  CHECK(seen.not_reached == 2);
  CHECK_FALSE(seen.is_complete());
  CHECK(p.list.all().empty());
  PlainReading late(0);
  m.devices(late);
  std::vector<Usage> rows;
  REQUIRE(m.source().prepare(late));
  const Result<void> listed = m.source().processes(0, rows, late);
  REQUIRE_FALSE(listed);  // no row is no empty list
  CHECK(listed.why().code == Status::timeout);
  CHECK(rows.empty());
  const Diagnostic* const why = late.find(Status::timeout);
  REQUIRE(why != nullptr);
  CHECK(mentions(why->why, "2 processes"));
}
