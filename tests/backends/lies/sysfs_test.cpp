// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Invalid kernel files: missing, changing while they are read, or not regular files.
#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "witness.hpp"

using namespace lies_test;

namespace {

constexpr const char* slot_address = "0000:03:00.0";

class AmdCard {
 public:
  AmdCard() : witness(0) {
    hmn_fake::PciDevice device = hmn_fake::amd_card(slot_address);
    device.drm_nodes = {"card0", "renderD128"};
    device.files = {{"mem_info_vram_total", "8388608\n"},
                    {"mem_info_vram_used", "2048\n"},
                    {"gpu_busy_percent", "37\n"},
                    {"hwmon/hwmon4/name", "amdgpu\n"},
                    {"hwmon/hwmon4/temp1_input", "56000\n"},
                    {"hwmon/hwmon4/temp1_label", "edge\n"},
                    {"hwmon/hwmon4/power1_average", "36500000\n"},
                    {"hwmon/hwmon4/power1_cap", "289000000\n"}};
    hmn_fake::add_pci_device(witness.tree(), device);
  }
  [[nodiscard]] static std::string path(const std::string& file) {
    return "sys/" + hmn_fake::pci_folder(slot_address) + "/" + file;
  }

  Witness witness;
};

struct FileValue {
  const char* file;
  const char* key;
  const char* honest;
};
constexpr FileValue files[] = {{"mem_info_vram_used", "used_bytes", "2048"},
                               {"gpu_busy_percent", "gpu_busy_percent", "37"},
                               {"hwmon/hwmon4/temp1_input", "temperature_celsius", "56"},
                               {"hwmon/hwmon4/power1_average", "power_watts", "36.5"},
                               {"hwmon/hwmon4/power1_cap", "power_limit_watts", "289"}};

struct Change {
  const char* name;
  void (*make)(const hmn_fake::Tree& tree, const std::string& path);
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
     [](const auto& tree, const auto& path) {
       tree.remove(path);
       tree.directory(path);
     },
     "failed"},
    {"it is a link to itself",
     [](const auto& tree, const auto& path) {
       tree.remove(path);
       tree.link(path, path.substr(path.rfind('/') + 1));
     },
     "failed"},
    {"it is a link to nothing",
     [](const auto& t, const auto& path) { t.link(path, "/nowhere/at/all"); }, "unsupported"},
    {"reading it fails", [](const auto& t, const auto& path) { t.link(path, "/proc/self/mem"); },
     "failed"},
};

}  // namespace

TEST_CASE("sysfs: an invalid file has a reason, and does not affect the others") {
  for (const FileValue& value : files) {
    for (const Change& change : changes) {
      INFO((std::string(value.file) + ": " + change.name));
      AmdCard card;
      card.witness.take_snapshot();
      card.witness.check({{value.key, value.honest}});
      change.make(card.witness.tree(), AmdCard::path(value.file));
      card.witness.take_snapshot();
      card.witness.check({{value.key, change.reason}});
      for (const FileValue& other : files) {
        if (other.key != value.key) card.witness.check({{other.key, other.honest}});
      }
    }
  }
}

TEST_CASE("sysfs: a missing sensor folder costs only its own values") {
  AmdCard card;
  card.witness.tree().remove(AmdCard::path("hwmon"));
  card.witness.take_snapshot();
  card.witness.check({{"temperature_celsius", "unsupported"}, {"used_bytes", "2048"}});
}

TEST_CASE("fdinfo: an impossible amount of a client is absent, with a reason") {
  const std::string client =
      "pos:\t0\nflags:\t02\ndrm-driver:\tamdgpu\ndrm-client-id:\t7\ndrm-pdev:\t0000:03:00.0\n";
  const auto resident = [&](const std::string& amount) {
    return client + "drm-resident-vram:\t" + amount;
  };
  const auto unknown = [](const char* reason) {
    return std::vector<Expectation>{{"pid:7", reason}, {"unattributed_bytes", "ambiguous"}};
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
  for (const Lie& lie : all) {
    AmdCard card;
    hmn_fake::Process process = hmn_fake::simple_process(7, "a", 1, 100);
    process.descriptors = {{3, "/dev/null"}};
    process.fdinfo = {{3, lie.output}};
    hmn_fake::add_process(card.witness.tree(), process);
    card.witness.tree().write(AmdCard::path("drm/renderD128/dev"),
                              "1:3\n");  // the number of /dev/null
    card.witness.take_snapshot();
    check_lie(card.witness, lie);
  }
}

// Between two readings of a file, and while it is read.
TEST_CASE("sysfs: a file that changes all the time has one of its values, or a reason") {
  AmdCard card;
  const std::string path = card.witness.tree().path(AmdCard::path("mem_info_vram_used"));
  std::atomic<bool> is_over = false;
  std::thread writer([&] {
    while (!is_over) {
      std::filesystem::remove(path);
      card.witness.tree().write(AmdCard::path("mem_info_vram_used"), "1024\n");
      card.witness.tree().write(AmdCard::path("mem_info_vram_used"), "4096\n");
    }
  });
  for (int i = 0; i < 100; ++i) {
    card.witness.take_snapshot();
    const std::string value = card.witness.read("used_bytes");
    const bool is_true = value == "2048" || value == "1024" || value == "4096" ||
                         value == "unsupported" || value == "not_understood";
    CAPTURE(value);
    CHECK(is_true);
    card.witness.check({{"total_bytes", "8388608"}});
  }
  is_over = true;
  writer.join();
}
