// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/discovery.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "backends/shared/sysfs/attribute.hpp"
#include "model/failure.hpp"
#include "model/pci_address.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::drm {
namespace {

constexpr std::string_view class_folders[] = {"/class/drm", "/class/accel"};

struct Prefix {
  std::string_view text;
  Node::Kind what;
};
constexpr Prefix prefixes[] = {
    {"renderD", Node::Kind::render}, {"card", Node::Kind::card}, {"accel", Node::Kind::accel}};

std::string_view last_part(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

std::string_view parent_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return path.substr(0, slash == std::string_view::npos ? 0 : slash);
}

// Absent files are no error, nor are other file types in a copied tree.
bool is_no_answer(int error) noexcept {
  constexpr int answers[] = {0, sysfs::no_number, ENOENT, ENOTDIR, EINVAL, ELOOP, ENAMETOOLONG};
  return std::ranges::find(answers, error) == std::end(answers);
}

struct Listing {
  std::string_view sys_root;
  std::vector<Card>& all;
  int error = 0;  // makes the list unreliable

  void note(int found) noexcept {
    if (is_no_answer(found)) error = found;
  }
};

// A class of a copied tree has folders instead of links, and the device is then one level down.
sysfs::PathText folder_of(Listing& in, const sysfs::PathText& entry) {
  std::array<char, 1024> target;
  const auto got = platform::read_link(entry.c_str(), target);
  in.note(got.error);
  const std::string_view part = device_part({target.data(), got.value});
  return part.empty() ? sysfs::PathText{entry.view(), "/device"}
                      : sysfs::PathText{in.sys_root, "/", part};
}

std::optional<std::uint32_t> id_in(Listing& in, std::string_view folder, std::string_view name) {
  const auto value = sysfs::read_hex(folder, name);
  if (!is_refused(value.error)) in.note(value.error);
  return value ? std::optional(static_cast<std::uint32_t>(value.value)) : std::nullopt;
}

Text<64> link_name(Listing& in, const Card& c, std::string_view name) {
  int error = 0;
  const Text<64> found = sysfs::read_link_name(c.folder.view(), name, &error);
  in.note(error);
  return found;
}

// The nodes of a virtio device belong to its parent (seen on Linux 6.1 and 7.3), and only one
// driver of such devices has nodes.
bool is_virtio_transport(std::string_view driver) noexcept {
  return driver == "virtio-pci" || driver == "virtio-mmio";
}

// Copied trees have no links, but uevent has the names.
void fill_names(Listing& in, Card& c) {
  c.driver_name.assign(link_name(in, c, "driver").view());
  c.bus.assign(link_name(in, c, "subsystem").view());
  if (!c.bus.empty()) return;
  std::array<char, 1024> buffer;
  auto [rest, error] = sysfs::read_text(c.folder.view(), "uevent", buffer);
  in.note(error);
  while (!rest.empty()) {
    std::string_view value = scan::take_line(rest);
    const std::string_view key = scan::take_until(value, '=');
    if (key == "DRIVER" && c.driver_name.empty()) c.driver_name.assign(value);
    if (key != "PCI_SLOT_NAME") continue;
    c.pci_bus_id = normal_pci_address(value);
    c.bus.assign("pci");
  }
}

void fill_ids(Listing& in, Card& c) {
  // Nodes of a virtio device may be on its PCI function or below it.
  const bool is_below = c.bus.view() == "virtio";
  const std::string_view folder = is_below ? parent_of(c.folder.view()) : c.folder.view();
  if (c.pci_bus_id.empty()) c.pci_bus_id = normal_pci_address(last_part(folder));
  if (c.pci_bus_id.empty()) return;
  c.vendor = id_in(in, folder, "vendor").value_or(vendor::unknown);
  c.pci_device = id_in(in, folder, "device");
  const auto subsystem = id_in(in, folder, "subsystem_device");
  const auto maker = id_in(in, folder, "subsystem_vendor");
  if (subsystem && maker) c.pci_subsystem = *subsystem << 16 | *maker;
}

Card& card_at(std::vector<Card>& all, std::string_view folder) {
  for (Card& c : all) {
    if (c.folder.view() == folder) return c;
  }
  Card fresh;
  fresh.folder.assign(folder);
  all.push_back(fresh);
  return all.back();
}

void add_node(Listing& in, const sysfs::PathText& entry, Node n) {
  std::array<char, 32> buffer;
  const auto numbers = sysfs::read_line(entry.view(), "dev", buffer);
  in.note(numbers.error);
  if (numbers) parse_numbers(numbers.value, n);
  Card& c = card_at(in.all, folder_of(in, entry).view());
  if (c.node_count < c.nodes_.size()) c.nodes_[c.node_count++] = n;
}

int list_class(Listing& in, std::string_view folder) {
  const sysfs::PathText whole{in.sys_root, folder};
  const int error = platform::for_each_entry(whole.c_str(), [&](std::string_view name) {
    if (const auto n = parse_node(name)) add_node(in, {whole.view(), "/", name}, *n);
    return true;
  });
  in.note(error);
  return error;
}

// Display-only devices (a display controller, a server's management chip) are no GPUs.
bool computes(const Card& c) noexcept {
  return c.find(Node::Kind::render) != nullptr || c.find(Node::Kind::accel) != nullptr;
}

// Devices being removed lose their link to the bus before the driver releases the nodes
// (bus_remove_device); a copied class folder has none of these links.
bool is_leaving(const Card& c, std::string_view sys_root) noexcept {
  std::string_view folder = c.folder.view();
  if (!c.bus.empty() || !folder.starts_with(sys_root)) return false;
  folder.remove_prefix(sys_root.size());
  return folder.starts_with("/devices/");
}

}  // namespace

std::optional<Node> parse_node(std::string_view name) {
  for (const Prefix& p : prefixes) {
    if (!name.starts_with(p.text)) continue;
    const auto number = scan::number<std::uint32_t>(name.substr(p.text.size()));
    if (!number) return std::nullopt;
    return Node{p.what, Text<24>(name), *number, 0, 0};
  }
  return std::nullopt;
}

void parse_numbers(std::string_view text, Node& into) noexcept {
  const std::string_view first = scan::take_until(text, ':');
  const auto major = scan::number<std::uint32_t>(first);
  const auto minor = scan::number<std::uint32_t>(text);
  if (!major || !minor) return;
  into.major = *major;
  into.minor = *minor;
}

std::string_view device_part(std::string_view target) noexcept {
  const std::size_t start = target.find("devices/");
  if (start == std::string_view::npos) return {};
  const std::string_view class_folder = parent_of(target.substr(start));
  const std::string_view name = last_part(class_folder);
  return name == "drm" || name == "accel" ? parent_of(class_folder) : std::string_view();
}

bool is_left_alone(std::string_view driver, std::string_view bus, std::string_view name) noexcept {
  if (driver == "nvidia" || bus == "faux") return true;
  return name == "vgem" || name == "vkms";
}

int find_cards(std::string_view sys_root, std::vector<Card>& out) {
  Listing in{sys_root, out};
  const int drm = list_class(in, class_folders[0]);
  const int accel = list_class(in, class_folders[1]);
  for (Card& c : out) {
    fill_names(in, c);
    if (is_virtio_transport(c.driver_name.view())) c.driver_name.assign("virtio_gpu");
    fill_ids(in, c);
  }
  const auto gone = std::ranges::remove_if(out, [sys_root](const Card& c) {
    return !computes(c) || is_leaving(c, sys_root) ||
           is_left_alone(c.driver_name.view(), c.bus.view(), last_part(c.folder.view()));
  });
  out.erase(gone.begin(), gone.end());
  if (in.error != 0) return in.error;
  return drm == 0 || accel == 0 ? 0 : ENOENT;
}

bool has_card(std::string_view sys_root) {
  bool found = false;
  for (const auto& folder : class_folders) {
    const sysfs::PathText whole{sys_root, folder};
    const int error = platform::for_each_entry(whole.c_str(), [&](std::string_view name) {
      const auto n = parse_node(name);
      if (!n || n->what == Node::Kind::card) return true;
      const sysfs::PathText entry{whole.view(), "/", name};
      const auto link = [&](std::string_view of) {
        return sysfs::read_link_name(entry.view(), of);
      };
      found = !is_left_alone(link("device/driver").view(), link("device/subsystem").view(),
                             link("device").view());
      return !found;
    });
    if (found || is_no_answer(error)) return true;
  }
  return false;
}

bool is_partition_node(const Card& c) noexcept {
  return c.bus.view() == "platform" && last_part(c.folder.view()).starts_with("amdgpu_xcp");
}

bool is_function_of_listed(const Card& c, std::span<const Card> all) noexcept {
  const Text<64> whole = sysfs::read_link_name(c.folder.view(), "physfn");
  return !whole.empty() && std::ranges::any_of(all, [&](const Card& other) {
    return other.is_here && other.pci_bus_id.view() == whole.view();
  });
}

Failure of_whole_only(Source from, std::string_view what) {
  return FailureOf{from}(
      Status::unsupported,
      {what, " of the whole GPU only, not of this part of it: see the GPU's own row"});
}

}  // namespace hmn::drm
