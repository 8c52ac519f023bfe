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
  Fixture() { on.by = by.get(); }

  static ClientList& at(ClientList& list, std::uint64_t ns) {
    list.clear();
    list.taken_ns = ns;
    return list;
  }
  void add(ClientList& to, std::uint32_t pid, const std::string& lines) const {
    const std::string text = "drm-driver:\txe\n" + lines;
    const auto info = parse_fdinfo(text);
    to.add(on, pid, &*info);
  }
  Usage row(std::uint32_t pid = 1) const {
    Usage u;
    fill_row(now, before, 0, pid, u);
    return u;
  }

  std::unique_ptr<Driver> by = make_generic();
  Card on;
  ClientList before, now;
};

}  // namespace

TEST_CASE("a share of the time since an earlier walk, of the busiest engine") {
  Fixture f;
  f.add(f.at(f.before, second), 1,
        "drm-client-id:\t1\ndrm-engine-render:\t100 ns\ndrm-engine-copy:\t0 ns\n");
  f.before.finish();
  f.add(f.at(f.now, 3 * second), 1,
        "drm-client-id:\t1\ndrm-engine-render:\t500000100 ns\ndrm-engine-copy:\t200000000 ns\n");
  f.now.finish();
  const Usage u = f.row();
  CHECK(u.busy_percent == doctest::Approx(25));
  CHECK(u.window_ns == 2 * second);
  CHECK(u.busy_ns == 700000100u);
}

TEST_CASE("a load across a suspend of the machine is absent") {
  Fixture f;
  const std::string lines = "drm-client-id:\t1\ndrm-engine-render:\t";
  for (const std::uint64_t apart : {9'000'000ULL, 11'000'000ULL}) {
    f.add(f.at(f.before, second), 1, lines + "0 ns\n");
    f.before.finish();
    f.add(f.at(f.now, 3 * second), 1, lines + "500000000 ns\n");
    f.now.suspended_ns = f.before.suspended_ns + apart;
    f.now.finish();
    LoadSum sum;
    loads_of(f.now, f.before, 0, sum);
    CHECK(sum.all().empty() == (apart > 10'000'000));
    CHECK(f.row().busy_percent.has_value() == (apart < 10'000'000));
    CHECK(f.row().busy_ns == 500000000u);
  }
}

TEST_CASE("engines of one name share the time by their capacity") {
  Fixture f;
  const std::string lines = "drm-client-id:\t1\ndrm-engine-capacity-video:\t2\ndrm-engine-video:\t";
  f.add(f.at(f.before, second), 1, lines + "0 ns\n");
  f.before.finish();
  f.add(f.at(f.now, 2 * second), 1, lines + "1000000000 ns\n");
  f.now.finish();
  CHECK(f.row().busy_percent == doctest::Approx(50));
  CHECK(f.row().busy_ns == second / 2);
}

TEST_CASE("cycles are a share of the clock beside them") {
  Fixture f;
  const std::string id = "drm-client-id:\t1\n";
  f.add(f.at(f.before, second), 1, id + "drm-cycles-rcs:\t10\ndrm-total-cycles-rcs:\t1000\n");
  f.before.finish();
  f.add(f.at(f.now, 2 * second), 1, id + "drm-cycles-rcs:\t310\ndrm-total-cycles-rcs:\t2000\n");
  f.now.finish();
  CHECK(f.row().busy_percent == doctest::Approx(30));
  CHECK_FALSE(f.row().busy_ns);
  CHECK(f.row().kinds == usage_kind::graphics);
}

TEST_CASE("no percentage of a first walk, a new client, a short window or too large a gain") {
  Fixture f;
  const auto lines = [](const char* id, const char* busy) {
    return std::string("drm-client-id:\t") + id + "\ndrm-engine-render:\t" + busy + " ns\n";
  };
  f.add(f.at(f.now, 2 * second), 1, lines("1", "5"));
  f.now.finish();
  CHECK_FALSE(f.row().busy_percent);
  f.add(f.at(f.before, second), 1, lines("2", "5"));
  f.before.finish();
  CHECK_FALSE(f.row().busy_percent);
  f.add(f.at(f.before, 2 * second - 1), 1, lines("1", "5"));
  f.before.finish();
  CHECK_FALSE(f.row().busy_percent);
  f.at(f.before, second);
  f.add(f.before, 1, lines("1", "0"));
  f.before.finish();
  f.add(f.at(f.now, 2 * second), 1, lines("1", "1100000000"));
  f.now.finish();
  CHECK_FALSE(f.row().busy_percent);
  f.add(f.at(f.now, 2 * second), 1, lines("1", "1001000000"));
  f.now.finish();
  CHECK(f.row().busy_percent == doctest::Approx(100));
}

TEST_CASE("a counter that steps back has gained nothing") {
  Fixture f;
  f.add(f.at(f.before, second), 1, "drm-client-id:\t1\ndrm-engine-render:\t900 ns\n");
  f.before.finish();
  f.add(f.at(f.now, 2 * second), 1, "drm-client-id:\t1\ndrm-engine-render:\t800 ns\n");
  f.now.finish();
  CHECK(f.row().busy_percent == doctest::Approx(0));
}

TEST_CASE("a card's load is that of its clients, each once") {
  Fixture f;
  const auto put = [&](ClientList& to, const char* busy) {
    const std::string tail = std::string("drm-engine-render:\t") + busy + " ns\n";
    f.add(to, 1, "drm-client-id:\t1\n" + tail);
    f.add(to, 2, "drm-client-id:\t1\n" + tail);
    f.add(to, 2, "drm-client-id:\t2\n" + tail);
    to.finish();
  };
  put(f.at(f.before, second), "0");
  put(f.at(f.now, 2 * second), "200000000");
  LoadSum sum;
  loads_of(f.now, f.before, 0, sum);
  const auto loads = sum.all();
  REQUIRE(loads.size() == 1);
  CHECK(loads[0].name.view() == "render");
  CHECK(loads[0].percent == doctest::Approx(40));
  CHECK(use_of(f.now, 0).clients == 2);
  CHECK(use_of(f.now, 1).clients == 0);
}

TEST_CASE("what clients share counts once where it may be the same buffers") {
  Fixture f;
  const auto put = [&](std::uint32_t pid, const char* id, const char* resident,
                       const char* shared) {
    std::string lines = std::string("drm-client-id:\t") + id + "\n";
    for (const char* region : {"vram0", "gtt"}) {
      lines += std::string("drm-total-") + region + ":\t1 MiB\ndrm-resident-" + region + ":\t" +
               resident + " KiB\ndrm-shared-" + region + ":\t" + shared + " KiB\n";
    }
    f.add(f.now, pid, lines);
  };
  f.at(f.now, second);
  f.on.pci_bus_id.assign("0000:03:00.0");
  put(1, "1", "100", "60");
  put(2, "2", "90", "70");  // of it 60 may be those of the first
  put(3, "3", "8", "0");
  f.now.finish();
  const CardUse all = use_of(f.now, 0);
  CHECK(all.clients == 3);
  CHECK(all.sum.resident == (40u + 20 + 8 + 70) << 10);
  CHECK(all.sum.host_pool == (40u + 20 + 8 + 70) << 10);
  // Each row keeps all that its process holds.
  CHECK(f.row(1).used == 100u << 10);
  CHECK(f.row(2).used == 90u << 10);
  CHECK(f.row(2).shared == 70u << 10);
}

TEST_CASE("shared buffers without backing store are no more than all that is resident") {
  Fixture f;
  f.at(f.now, second);
  f.on.pci_bus_id.assign("0000:03:00.0");
  const auto put = [&](std::uint32_t pid, const char* id) {
    f.add(f.now, pid,
          std::string("drm-client-id:\t") + id +
              "\ndrm-total-vram0:\t64 KiB\ndrm-resident-vram0:\t4 KiB\n"
              "drm-shared-vram0:\t32 KiB\n");
  };
  put(1, "1");
  put(1, "2");
  put(2, "2");
  f.now.finish();
  // The larger of two shared parts, neither of which can have more than is resident.
  CHECK(use_of(f.now, 0).sum.resident == 4u << 10);
  CHECK(f.row(1).used == 4u << 10);
  CHECK(f.row(1).shared == 32u << 10);
  CHECK((f.row(1).notes & note::lower_bound) != 0);
  CHECK(f.row(2).used == 4u << 10);
  CHECK(f.row(2).shared == 32u << 10);
  CHECK(f.row(2).notes == 0);
  // The second process' client counts with the first process.
  REQUIRE(f.row(1).clients);
  CHECK(f.row(1).clients->used.at_most() == 8u << 10);
  REQUIRE(f.row(2).clients);
  CHECK(f.row(2).clients->used.at_most() == 0);
}

TEST_CASE("what several clients of a process share counts once, as a bound") {
  Fixture f;
  f.at(f.now, second);
  f.on.pci_bus_id.assign("0000:03:00.0");
  const auto put = [&](std::uint32_t pid, const char* id, const std::string& shared) {
    f.add(f.now, pid,
          std::string("drm-client-id:\t") + id +
              "\ndrm-total-vram0:\t1923 MiB\ndrm-resident-vram0:\t1923 MiB\n"
              "drm-total-gtt:\t50 MiB\ndrm-resident-gtt:\t50 MiB\n" +
              shared);
  };
  const std::string with_shared = "drm-shared-vram0:\t1800 MiB\ndrm-shared-gtt:\t20 MiB\n";
  const std::string without = "drm-shared-vram0:\t0\ndrm-shared-gtt:\t0\n";
  for (const char* id : {"1", "2", "3", "4"}) put(1, id, with_shared);
  for (const char* id : {"5", "6"}) put(2, id, without);
  for (const char* id : {"7", "8"}) put(3, id, "");
  put(4, "9", with_shared);
  f.now.finish();

  const Usage browser = f.row(1);
  CHECK(browser.used == std::uint64_t{4 * 123 + 1800} << 20);
  CHECK(browser.committed == browser.used);
  CHECK(browser.host_pool == std::uint64_t{4 * 30 + 20} << 20);
  CHECK(browser.shared == std::uint64_t{1800} << 20);
  CHECK((browser.notes & note::lower_bound) != 0);
  CHECK(browser.has_all_clients);

  const Usage apart = f.row(2);
  CHECK(apart.used == std::uint64_t{2 * 1923} << 20);
  CHECK(apart.host_pool == std::uint64_t{100} << 20);
  CHECK(apart.notes == 0);

  // A kernel that does not report what is shared leaves open whether all of it is.
  const Usage unknown = f.row(3);
  CHECK(unknown.used == std::uint64_t{1923} << 20);
  CHECK(unknown.host_pool == std::uint64_t{50} << 20);
  CHECK_FALSE(unknown.shared);
  CHECK((unknown.notes & note::lower_bound) != 0);

  const Usage single = f.row(4);
  CHECK(single.used == std::uint64_t{1923} << 20);
  CHECK(single.notes == 0);
}

TEST_CASE("pasid stands in for the id of old kernels") {
  Fixture f;
  f.at(f.now, second);
  for (const char* pasid : {"1", "1", "2"}) {
    const std::string text =
        std::string("pdev:\t0000:03:00.0\npasid:\t") + pasid + "\nvram mem:\t4 kB\n";
    const auto info = parse_fdinfo(text);
    f.now.add(f.on, 1, &*info);
  }
  f.now.finish();
  CHECK(use_of(f.now, 0).clients == 2);
}
