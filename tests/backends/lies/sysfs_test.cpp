// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The kernel's files lie: they vanish, change while they are read, and are no files.
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "witness.hpp"

using namespace lies_test;

namespace {

constexpr const char* slot_address = "0000:03:00.0";

class Card {
 public:
  Card() : w(0) {
    hmn_fake::PciDevice d = hmn_fake::amd_card(slot_address);
    d.drm_nodes = {"card0", "renderD128"};
    d.files = {{"mem_info_vram_total", "8388608\n"},
               {"mem_info_vram_used", "2048\n"},
               {"gpu_busy_percent", "37\n"},
               {"hwmon/hwmon4/name", "amdgpu\n"},
               {"hwmon/hwmon4/temp1_input", "56000\n"},
               {"hwmon/hwmon4/temp1_label", "edge\n"},
               {"hwmon/hwmon4/power1_average", "36500000\n"},
               {"hwmon/hwmon4/power1_cap", "289000000\n"}};
    hmn_fake::add_pci_device(w.tree(), d);
  }
  [[nodiscard]] static std::string path(const std::string& file) {
    return "sys/" + hmn_fake::pci_folder(slot_address) + "/" + file;
  }

  Witness w;
};

struct FileOf {
  const char* file;
  const char* key;
  const char* honest;
};
constexpr FileOf files[] = {{"mem_info_vram_used", "used_bytes", "2048"},
                            {"gpu_busy_percent", "gpu_busy_percent", "37"},
                            {"hwmon/hwmon4/temp1_input", "temperature_celsius", "56"},
                            {"hwmon/hwmon4/power1_average", "power_watts", "36.5"},
                            {"hwmon/hwmon4/power1_cap", "power_limit_watts", "289"}};

struct Change {
  const char* name;
  void (*make)(const hmn_fake::Tree& t, const std::string& path);
  const char* reason;
};
const Change changes[] = {
    {"it vanishes", [](const auto& t, const auto& path) { t.remove(path); }, "unsupported"},
    {"it is empty", [](const auto& t, const auto& path) { t.write(path, ""); }, "not_understood"},
    {"it holds words", [](const auto& t, const auto& path) { t.write(path, "much\n"); },
     "not_understood"},
    {"it holds a fraction", [](const auto& t, const auto& path) { t.write(path, "1.5\n"); },
     "not_understood"},
    {"it grows to a million digits",
     [](const auto& t, const auto& path) { t.write(path, std::string(1'000'000, '9')); },
     "not_understood"},
    {"it is a folder",
     [](const auto& t, const auto& path) {
       t.remove(path);
       t.directory(path);
     },
     "failed"},
    {"it is a link to itself",
     [](const auto& t, const auto& path) {
       t.remove(path);
       t.link(path, path.substr(path.rfind('/') + 1));
     },
     "failed"},
    {"it is a link to nothing",
     [](const auto& t, const auto& path) { t.link(path, "/nowhere/at/all"); }, "unsupported"},
    {"reading it fails", [](const auto& t, const auto& path) { t.link(path, "/proc/self/mem"); },
     "failed"},
};

}  // namespace

TEST_CASE("sysfs: a file that lies has a reason, and voids no other") {
  for (const FileOf& f : files) {
    for (const Change& c : changes) {
      INFO((std::string(f.file) + ": " + c.name));
      Card one;
      one.w.take();
      one.w.check({{f.key, f.honest}});
      c.make(one.w.tree(), Card::path(f.file));
      one.w.take();
      one.w.check({{f.key, c.reason}});
      for (const FileOf& other : files) {
        if (other.key != f.key) one.w.check({{other.key, other.honest}});
      }
    }
  }
}

TEST_CASE("sysfs: a folder of sensors that vanishes") {
  Card one;
  one.w.tree().remove(Card::path("hwmon"));
  one.w.take();
  one.w.check({{"temperature_celsius", "unsupported"}, {"used_bytes", "2048"}});
}

TEST_CASE("fdinfo: what it has of a client") {
  const std::string client =
      "pos:\t0\nflags:\t02\ndrm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\n";
  const auto resident = [&](const std::string& amount) {
    return client + "drm-resident-vram:\t" + amount;
  };
  const auto unknown = [](const char* why) {
    return std::vector<Expectation>{{"pid:7", why}, {"unattributed_bytes", "ambiguous"}};
  };
  const Lie all[] = {
      {"honest", resident("1 KiB\n"), {{"pid:7", "1024"}, {"unattributed_bytes", "1024"}}},
      {"more than the card has", resident("9 MiB\n"), unknown("implausible")},
      {"no memory", client, unknown("unsupported")},
      {"more than 64 bits", resident("18446744073709551615 MiB\n"), unknown("not_understood")},
      {"a word", resident("much\n"), unknown("not_understood")},
      {"below 0", resident("-1 KiB\n"), unknown("not_understood")},
      {"another unit", resident("1 MB\n"), unknown("not_understood")},
      {"cut in the amount", resident("1"), unknown("not_understood")},
      {"cut before it names a driver", client.substr(0, 14), unknown("not_understood")},
      {"no text", std::string("\0\0\0garbage", 10), unknown("not_understood")},
  };
  for (const Lie& l : all) {
    Card one;
    hmn_fake::Process p = hmn_fake::simple_process(7, "a", 1, 100);
    p.descriptors = {{3, "/dev/null"}};
    p.fdinfo = {{3, l.printed}};
    hmn_fake::add_process(one.w.tree(), p);
    one.w.tree().write(Card::path("drm/renderD128/dev"), "1:3\n");  // that of /dev/null
    one.w.take();
    check_lie(one.w, l);
  }
}

// Between two readings of a file, and while it is read.
TEST_CASE("sysfs: a file that changes all the time has one of its values, or a reason") {
  Card one;
  const std::string path = one.w.tree().path(Card::path("mem_info_vram_used"));
  std::atomic<bool> is_over = false;
  std::thread changing([&] {
    while (!is_over) {
      std::filesystem::remove(path);
      one.w.tree().write(Card::path("mem_info_vram_used"), "1024\n");
      one.w.tree().write(Card::path("mem_info_vram_used"), "4096\n");
    }
  });
  for (int i = 0; i < 100; ++i) {
    one.w.take();
    const std::string seen = one.w.see("used_bytes");
    const bool is_true = seen == "2048" || seen == "1024" || seen == "4096" ||
                         seen == "unsupported" || seen == "not_understood";
    CAPTURE(seen);
    CHECK(is_true);
    one.w.check({{"total_bytes", "8388608"}});
  }
  is_over = true;
  changing.join();
}
