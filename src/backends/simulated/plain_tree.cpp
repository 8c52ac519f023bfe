// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/plain_tree.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/compose.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::simulated {
namespace {

using platform::recorded_file;
using platform::recording;

// Not "/sys": the default tree would include the nodes of /dev.
constexpr std::string_view sys = "/machine/sys";
// Render nodes are unknown in copies: numbered as on a machine without other cards.
constexpr std::uint32_t first_render_minor = 128;  // drivers/gpu/drm/drm_drv.c

bool is_folder(const std::string& path) {
  const auto found = platform::status_of(path.c_str());
  return found && found.value.is_directory;
}

// Returns the value of a key in "uevent"; empty: none.
std::string_view reported(std::string_view uevent, std::string_view key) {
  while (!uevent.empty()) {
    std::string_view line = scan::take_line(uevent);
    if (scan::take_until(line, '=') == key) return line;
  }
  return {};
}

void set_text(recording& out, const std::string& path, std::string text) {
  recorded_file& f = out.at(path);
  f.text = std::move(text);
  f.errors[recorded_file::contents] = 0;
}

void set_link(recording& out, const std::string& path, std::string target) {
  recorded_file& f = out.at(path);
  f.link = std::move(target);
  f.errors[recorded_file::target] = 0;
}

void add_name(recording& out, const std::string& folder, const std::string& name) {
  recorded_file& f = out.at(folder);
  f.entries.push_back(name);
  f.errors[recorded_file::names] = 0;
}

// Restores what a copy of <sys>/class/drm/card<n> lost: its links, and its render node.
class card_folder {
 public:
  card_folder(std::string folder, std::uint32_t number, std::uint32_t position, recording& out)
      : folder_(std::move(folder)),
        number_(number),
        render_(first_render_minor + position),
        out_(out) {
    static_cast<void>(
        platform::read_whole((folder_ + "/device/uevent").c_str(), uevent_, std::size_t{65536}));
  }

  void add() {
    const std::string_view address = reported(uevent_, "PCI_SLOT_NAME");
    const bool is_pci = !address.empty();
    const std::string card = compose({"card", number_});
    below_ = is_pci ? compose({"/devices/pci/", address}) : compose({"/devices/platform/", card});
    device_ = compose({sys, below_});
    out_.mount(device_, folder_ + "/device");
    out_.mount(compose({device_, "/drm/", card}), folder_);
    const std::string_view driver = reported(uevent_, "DRIVER");
    if (!driver.empty()) set_link(out_, device_ + "/driver", compose({"drivers/", driver}));
    set_link(out_, device_ + "/subsystem", is_pci ? "bus/pci" : "bus/platform");
    add_ids("PCI_ID", "vendor", "device");
    add_ids("PCI_SUBSYS_ID", "subsystem_vendor", "subsystem_device");
    add_node(card, number_, driver);
    add_node(compose({"renderD", render_}), render_, driver);
  }

 private:
  void add_node(const std::string& name, std::uint32_t minor, std::string_view driver) {
    const std::string entry = compose({sys, "/class/drm/", name});
    add_name(out_, compose({sys, "/class/drm"}), name);
    add_name(out_, device_ + "/drm", name);
    set_link(out_, entry, compose({"../..", below_, "/drm/", name}));
    set_link(out_, entry + "/device/driver", compose({"drivers/", driver}));
    set_text(out_, entry + "/dev", compose({"226:", minor, "\n"}));
  }

  // Uses "1002:15BF" if the two files are missing.
  void add_ids(std::string_view key, const char* first, const char* second) {
    std::string_view rest = reported(uevent_, key);
    for (const char* const name : {first, second}) {
      const std::string_view id = scan::take_until(rest, ':');
      if (id.empty() || platform::exists(compose({folder_, "/device/", name}).c_str())) continue;
      set_text(out_, compose({device_, "/", name}), compose({"0x", id, "\n"}));
    }
  }

  const std::string folder_;
  std::uint32_t number_;
  std::uint32_t render_;
  recording& out_;
  std::string uevent_;
  std::string below_, device_;
};

std::optional<std::uint32_t> card_number(std::string_view name) {
  constexpr std::string_view prefix = "card";
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto number = scan::number<std::uint32_t>(name.substr(prefix.size()));
  return number && *number < first_render_minor / 2 ? number : std::nullopt;
}

bool add_cards(const std::string& folder, recording& out) {
  std::vector<std::uint32_t> numbers;
  static_cast<void>(platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    const auto number = card_number(name);
    if (number && is_folder(compose({folder, "/", name, "/device"}))) numbers.push_back(*number);
    return true;
  }));
  std::sort(numbers.begin(), numbers.end());
  std::uint32_t position = 0;
  for (const std::uint32_t number : numbers) {
    card_folder(compose({folder, "/card", number}), number, position++, out).add();
  }
  if (!numbers.empty()) return true;
  if (!is_folder(folder + "/device")) return false;
  const auto number = card_number(std::string_view(folder).substr(folder.rfind('/') + 1));
  card_folder(folder, number.value_or(0), 0, out).add();
  return true;
}

}  // namespace

bool open_plain_tree(const std::string& folder, settings& s, recording& out) {
  const bool has_sys = is_folder(folder + "/sys");
  const bool is_sys = !has_sys && is_folder(folder + "/class/drm");
  const bool has_dev = has_sys && is_folder(folder + "/dev");
  s.proc_root = "/proc";
  s.sys_root = has_dev ? "/sys" : sys;
  s.dev_root.clear();
  s.cgroup_root.clear();
  out.mount("/proc", folder + "/proc");
  out.mount("/dev", folder + "/dev");
  const std::string real_sys = is_sys ? folder : folder + "/sys";
  out.mount("/sys", real_sys);
  out.mount(std::string(sys), real_sys);
  return has_sys || is_sys || is_folder(folder + "/proc") || add_cards(folder, out);
}

}  // namespace hmn::simulated
