// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/clients.hpp"

#include <doctest/doctest.h>

#include <string>

#include "backends/drm/generic.hpp"

using namespace hmn;
using namespace hmn::drm;

namespace {

constexpr std::uint64_t second = 1'000'000'000;

struct Fixture {
  Fixture() { card.driver = driver.get(); }

  static ClientList& start_walk(ClientList& list, std::uint64_t ns) {
    list.clear();
    list.start_ns = ns;
    return list;
  }
  void add(ClientList& list, std::uint32_t pid, const std::string& lines) const {
    const std::string text = "drm-driver:\txe\n" + lines;
    const auto info = parse_fdinfo(text);
    list.add(card, pid, &*info);
  }
  Usage row(std::uint32_t pid = 1) const {
    Usage usage;
    fill_row(now, before, 0, pid, usage);
    return usage;
  }

  std::unique_ptr<Driver> driver = make_generic();
  Card card;
  ClientList before, now;
};

}  // namespace

TEST_CASE("busy percent is the share of the busiest engine since an earlier walk") {
  Fixture fixture;
  fixture.add(fixture.start_walk(fixture.before, second), 1,
              "drm-client-id:\t1\ndrm-engine-render:\t100 ns\ndrm-engine-copy:\t0 ns\n");
  fixture.before.finish();
  fixture.add(
      fixture.start_walk(fixture.now, 3 * second), 1,
      "drm-client-id:\t1\ndrm-engine-render:\t500000100 ns\ndrm-engine-copy:\t200000000 ns\n");
  fixture.now.finish();
  const Usage usage = fixture.row();
  CHECK(usage.busy_percent == doctest::Approx(25));
  CHECK(usage.window_ns == 2 * second);
  CHECK(usage.busy_ns == 700000100u);
}

TEST_CASE("a load across a suspend of the machine is absent") {
  Fixture fixture;
  const std::string lines = "drm-client-id:\t1\ndrm-engine-render:\t";
  for (const std::uint64_t suspended_ns : {9'000'000ULL, 11'000'000ULL}) {
    fixture.add(fixture.start_walk(fixture.before, second), 1, lines + "0 ns\n");
    fixture.before.finish();
    fixture.add(fixture.start_walk(fixture.now, 3 * second), 1, lines + "500000000 ns\n");
    fixture.now.suspended_ns = fixture.before.suspended_ns + suspended_ns;
    fixture.now.finish();
    EngineLoads sum;
    compute_loads(fixture.now, fixture.before, 0, sum);
    CHECK(sum.all().empty() == (suspended_ns > 10'000'000));
    CHECK(fixture.row().busy_percent.has_value() == (suspended_ns < 10'000'000));
    CHECK(fixture.row().busy_ns == 500000000u);
  }
}

TEST_CASE("engines of one name divide their busy time by their capacity") {
  Fixture fixture;
  const std::string lines = "drm-client-id:\t1\ndrm-engine-capacity-video:\t2\ndrm-engine-video:\t";
  fixture.add(fixture.start_walk(fixture.before, second), 1, lines + "0 ns\n");
  fixture.before.finish();
  fixture.add(fixture.start_walk(fixture.now, 2 * second), 1, lines + "1000000000 ns\n");
  fixture.now.finish();
  CHECK(fixture.row().busy_percent == doctest::Approx(50));
  CHECK(fixture.row().busy_ns == second / 2);
}

TEST_CASE("cycles are a share of the engine's clock") {
  Fixture fixture;
  const std::string id = "drm-client-id:\t1\n";
  fixture.add(fixture.start_walk(fixture.before, second), 1,
              id + "drm-cycles-rcs:\t10\ndrm-total-cycles-rcs:\t1000\n");
  fixture.before.finish();
  fixture.add(fixture.start_walk(fixture.now, 2 * second), 1,
              id + "drm-cycles-rcs:\t310\ndrm-total-cycles-rcs:\t2000\n");
  fixture.now.finish();
  CHECK(fixture.row().busy_percent == doctest::Approx(30));
  CHECK_FALSE(fixture.row().busy_ns);
  CHECK(fixture.row().kinds == usage_kind::graphics);
}

TEST_CASE("no percentage on a first walk, for a new client, a short window or too large a gain") {
  Fixture fixture;
  const auto lines = [](const char* id, const char* busy) {
    return std::string("drm-client-id:\t") + id + "\ndrm-engine-render:\t" + busy + " ns\n";
  };
  fixture.add(fixture.start_walk(fixture.now, 2 * second), 1, lines("1", "5"));
  fixture.now.finish();
  CHECK_FALSE(fixture.row().busy_percent);
  fixture.add(fixture.start_walk(fixture.before, second), 1, lines("2", "5"));
  fixture.before.finish();
  CHECK_FALSE(fixture.row().busy_percent);
  fixture.add(fixture.start_walk(fixture.before, 2 * second - 1), 1, lines("1", "5"));
  fixture.before.finish();
  CHECK_FALSE(fixture.row().busy_percent);
  fixture.start_walk(fixture.before, second);
  fixture.add(fixture.before, 1, lines("1", "0"));
  fixture.before.finish();
  fixture.add(fixture.start_walk(fixture.now, 2 * second), 1, lines("1", "1100000000"));
  fixture.now.finish();
  CHECK_FALSE(fixture.row().busy_percent);
  fixture.add(fixture.start_walk(fixture.now, 2 * second), 1, lines("1", "1001000000"));
  fixture.now.finish();
  CHECK(fixture.row().busy_percent == doctest::Approx(100));
}

TEST_CASE("a counter that decreases counts as no load") {
  Fixture fixture;
  fixture.add(fixture.start_walk(fixture.before, second), 1,
              "drm-client-id:\t1\ndrm-engine-render:\t900 ns\n");
  fixture.before.finish();
  fixture.add(fixture.start_walk(fixture.now, 2 * second), 1,
              "drm-client-id:\t1\ndrm-engine-render:\t800 ns\n");
  fixture.now.finish();
  CHECK(fixture.row().busy_percent == doctest::Approx(0));
}

TEST_CASE("the load of a card counts each client once") {
  Fixture fixture;
  const auto add_client = [&](ClientList& list, const char* busy) {
    const std::string busy_line = std::string("drm-engine-render:\t") + busy + " ns\n";
    fixture.add(list, 1, "drm-client-id:\t1\n" + busy_line);
    fixture.add(list, 2, "drm-client-id:\t1\n" + busy_line);
    fixture.add(list, 2, "drm-client-id:\t2\n" + busy_line);
    list.finish();
  };
  add_client(fixture.start_walk(fixture.before, second), "0");
  add_client(fixture.start_walk(fixture.now, 2 * second), "200000000");
  EngineLoads sum;
  compute_loads(fixture.now, fixture.before, 0, sum);
  const auto loads = sum.all();
  REQUIRE(loads.size() == 1);
  CHECK(loads[0].name.view() == "render");
  CHECK(loads[0].percent == doctest::Approx(40));
  CHECK(sum_card_use(fixture.now, 0).client_count == 2);
  CHECK(sum_card_use(fixture.now, 1).client_count == 0);
}

TEST_CASE("memory that clients may share counts once") {
  Fixture fixture;
  const auto add_client = [&](std::uint32_t pid, const char* id, const char* resident,
                              const char* shared) {
    std::string lines = std::string("drm-client-id:\t") + id + "\n";
    for (const char* region : {"vram0", "gtt"}) {
      lines += std::string("drm-total-") + region + ":\t1 MiB\ndrm-resident-" + region + ":\t" +
               resident + " KiB\ndrm-shared-" + region + ":\t" + shared + " KiB\n";
    }
    fixture.add(fixture.now, pid, lines);
  };
  fixture.start_walk(fixture.now, second);
  fixture.card.pci_bus_id.assign("0000:03:00.0");
  add_client(1, "1", "100", "60");
  add_client(2, "2", "90", "70");  // 60 of them may be shared with the first
  add_client(3, "3", "8", "0");
  fixture.now.finish();
  const CardUse use = sum_card_use(fixture.now, 0);
  CHECK(use.client_count == 3);
  CHECK(use.sum.resident == (40u + 20 + 8 + 70) << 10);
  CHECK(use.sum.host_pool == (40u + 20 + 8 + 70) << 10);
  // Each row has all memory of its process.
  CHECK(fixture.row(1).used == 100u << 10);
  CHECK(fixture.row(2).used == 90u << 10);
  CHECK(fixture.row(2).shared == 70u << 10);
}

TEST_CASE("shared memory is counted up to the size of resident memory") {
  Fixture fixture;
  fixture.start_walk(fixture.now, second);
  fixture.card.pci_bus_id.assign("0000:03:00.0");
  const auto add_client = [&](std::uint32_t pid, const char* id) {
    fixture.add(fixture.now, pid,
                std::string("drm-client-id:\t") + id +
                    "\ndrm-total-vram0:\t64 KiB\ndrm-resident-vram0:\t4 KiB\n"
                    "drm-shared-vram0:\t32 KiB\n");
  };
  add_client(1, "1");
  add_client(1, "2");
  add_client(2, "2");
  fixture.now.finish();
  // The larger of two shared parts, each limited to what is resident.
  CHECK(sum_card_use(fixture.now, 0).sum.resident == 4u << 10);
  CHECK(fixture.row(1).used == 4u << 10);
  CHECK(fixture.row(1).shared == 32u << 10);
  CHECK((fixture.row(1).notes & note::lower_bound) != 0);
  CHECK(fixture.row(2).used == 4u << 10);
  CHECK(fixture.row(2).shared == 32u << 10);
  CHECK(fixture.row(2).notes == 0);
  // The second process' client counts with the first process.
  REQUIRE(fixture.row(1).clients);
  CHECK(fixture.row(1).clients->used.upper_bound() == 8u << 10);
  REQUIRE(fixture.row(2).clients);
  CHECK(fixture.row(2).clients->used.upper_bound() == 0);
}

TEST_CASE("memory shared by clients of one process counts once, as a bound") {
  Fixture fixture;
  fixture.start_walk(fixture.now, second);
  fixture.card.pci_bus_id.assign("0000:03:00.0");
  const auto add_client = [&](std::uint32_t pid, const char* id, const std::string& shared) {
    fixture.add(fixture.now, pid,
                std::string("drm-client-id:\t") + id +
                    "\ndrm-total-vram0:\t1923 MiB\ndrm-resident-vram0:\t1923 MiB\n"
                    "drm-total-gtt:\t50 MiB\ndrm-resident-gtt:\t50 MiB\n" +
                    shared);
  };
  const std::string shared_lines = "drm-shared-vram0:\t1800 MiB\ndrm-shared-gtt:\t20 MiB\n";
  const std::string unshared_lines = "drm-shared-vram0:\t0\ndrm-shared-gtt:\t0\n";
  for (const char* id : {"1", "2", "3", "4"}) add_client(1, id, shared_lines);
  for (const char* id : {"5", "6"}) add_client(2, id, unshared_lines);
  for (const char* id : {"7", "8"}) add_client(3, id, "");
  add_client(4, "9", shared_lines);
  fixture.now.finish();

  const Usage browser = fixture.row(1);
  CHECK(browser.used == std::uint64_t{4 * 123 + 1800} << 20);
  CHECK(browser.committed == browser.used);
  CHECK(browser.host_pool == std::uint64_t{4 * 30 + 20} << 20);
  CHECK(browser.shared == std::uint64_t{1800} << 20);
  CHECK((browser.notes & note::lower_bound) != 0);
  CHECK(browser.has_all_clients);

  const Usage separate = fixture.row(2);
  CHECK(separate.used == std::uint64_t{2 * 1923} << 20);
  CHECK(separate.host_pool == std::uint64_t{100} << 20);
  CHECK(separate.notes == 0);

  // A kernel that does not report what is shared leaves open whether all of it is.
  const Usage unknown = fixture.row(3);
  CHECK(unknown.used == std::uint64_t{1923} << 20);
  CHECK(unknown.host_pool == std::uint64_t{50} << 20);
  CHECK_FALSE(unknown.shared);
  CHECK((unknown.notes & note::lower_bound) != 0);

  const Usage single = fixture.row(4);
  CHECK(single.used == std::uint64_t{1923} << 20);
  CHECK(single.notes == 0);
}

TEST_CASE("the pasid replaces the client id on old kernels") {
  Fixture fixture;
  fixture.start_walk(fixture.now, second);
  for (const char* pasid : {"1", "1", "2"}) {
    const std::string text =
        std::string("pdev:\t0000:03:00.0\npasid:\t") + pasid + "\nvram mem:\t4 kB\n";
    const auto info = parse_fdinfo(text);
    fixture.now.add(fixture.card, 1, &*info);
  }
  fixture.now.finish();
  CHECK(sum_card_use(fixture.now, 0).client_count == 2);
}
