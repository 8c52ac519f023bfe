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
  Node::Kind kind;
};
constexpr Prefix prefixes[] = {
    {"renderD", Node::Kind::render}, {"card", Node::Kind::card}, {"accel", Node::Kind::accel}};

std::string_view last_part(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

std::string_view find_parent(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return path.substr(0, slash == std::string_view::npos ? 0 : slash);
}

// Absent files are no error, nor are other file types in a copied tree.
bool is_real_error(int error) noexcept {
  constexpr int answers[] = {0, sysfs::no_number, ENOENT, ENOTDIR, EINVAL, ELOOP, ENAMETOOLONG};
  return std::ranges::find(answers, error) == std::end(answers);
}

struct Listing {
  std::string_view sys_root;
  std::vector<Card>& cards;
  int error = 0;  // makes the list unreliable

  void note_error(int code) noexcept {
    if (is_real_error(code)) error = code;
  }
};

// A class of a copied tree has folders instead of links, and the device is then one level down.
sysfs::PathText find_device_folder(Listing& listing, const sysfs::PathText& entry) {
  std::array<char, 1024> target;
  const auto link = platform::read_link(entry.c_str(), target);
  listing.note_error(link.error);
  const std::string_view part = device_part({target.data(), link.value});
  return part.empty() ? sysfs::PathText{entry.view(), "/device"}
                      : sysfs::PathText{listing.sys_root, "/", part};
}

std::optional<std::uint32_t> read_id(Listing& listing, std::string_view folder,
                                     std::string_view name) {
  const auto value = sysfs::read_hex(folder, name);
  if (!is_refused(value.error)) listing.note_error(value.error);
  return value ? std::optional(static_cast<std::uint32_t>(value.value)) : std::nullopt;
}

Text<64> read_card_link(Listing& listing, const Card& card, std::string_view name) {
  int error = 0;
  const Text<64> target = sysfs::read_link_name(card.folder.view(), name, &error);
  listing.note_error(error);
  return target;
}

// The nodes of a virtio device belong to its parent (seen on Linux 6.1 and 7.3), and only one
// driver of such devices has nodes.
bool is_virtio_transport(std::string_view driver) noexcept {
  return driver == "virtio-pci" || driver == "virtio-mmio";
}

// Copied trees have no links, but uevent has the names.
void fill_names(Listing& listing, Card& card) {
  card.driver_name.assign(read_card_link(listing, card, "driver").view());
  card.bus.assign(read_card_link(listing, card, "subsystem").view());
  if (!card.bus.empty()) return;
  std::array<char, 1024> buffer;
  auto [rest, error] = sysfs::read_text(card.folder.view(), "uevent", buffer);
  listing.note_error(error);
  while (!rest.empty()) {
    std::string_view value = scan::take_line(rest);
    const std::string_view key = scan::take_until(value, '=');
    if (key == "DRIVER" && card.driver_name.empty()) card.driver_name.assign(value);
    if (key != "PCI_SLOT_NAME") continue;
    card.pci_bus_id = normalize_pci_address(value);
    card.bus.assign("pci");
  }
}

void fill_ids(Listing& listing, Card& card) {
  // Nodes of a virtio device may be on its PCI function or below it.
  const bool is_below = card.bus.view() == "virtio";
  const std::string_view folder = is_below ? find_parent(card.folder.view()) : card.folder.view();
  if (card.pci_bus_id.empty()) card.pci_bus_id = normalize_pci_address(last_part(folder));
  if (card.pci_bus_id.empty()) return;
  card.vendor = read_id(listing, folder, "vendor").value_or(vendor::unknown);
  card.pci_device = read_id(listing, folder, "device");
  const auto subsystem = read_id(listing, folder, "subsystem_device");
  const auto subsystem_vendor = read_id(listing, folder, "subsystem_vendor");
  if (subsystem && subsystem_vendor) card.pci_subsystem = *subsystem << 16 | *subsystem_vendor;
}

Card& find_or_add_card(std::vector<Card>& cards, std::string_view folder) {
  for (Card& card : cards) {
    if (card.folder.view() == folder) return card;
  }
  Card added;
  added.folder.assign(folder);
  cards.push_back(added);
  return cards.back();
}

void add_node(Listing& listing, const sysfs::PathText& entry, Node node) {
  std::array<char, 32> buffer;
  const auto numbers = sysfs::read_line(entry.view(), "dev", buffer);
  listing.note_error(numbers.error);
  if (numbers) parse_numbers(numbers.value, node);
  Card& card = find_or_add_card(listing.cards, find_device_folder(listing, entry).view());
  if (card.node_count < card.nodes_.size()) card.nodes_[card.node_count++] = node;
}

int list_class(Listing& listing, std::string_view folder) {
  const sysfs::PathText class_path{listing.sys_root, folder};
  const int error = platform::for_each_entry(class_path.c_str(), [&](std::string_view name) {
    if (const auto node = parse_node(name))
      add_node(listing, {class_path.view(), "/", name}, *node);
    return true;
  });
  listing.note_error(error);
  return error;
}

// Display-only devices (a display controller, a server's management chip) are no GPUs.
bool can_compute(const Card& card) noexcept {
  return card.find(Node::Kind::render) != nullptr || card.find(Node::Kind::accel) != nullptr;
}

// Devices being removed lose their link to the bus before the driver releases the nodes
// (bus_remove_device); a copied class folder has none of these links.
bool is_being_removed(const Card& card, std::string_view sys_root) noexcept {
  std::string_view folder = card.folder.view();
  if (!card.bus.empty() || !folder.starts_with(sys_root)) return false;
  folder.remove_prefix(sys_root.size());
  return folder.starts_with("/devices/");
}

}  // namespace

std::optional<Node> parse_node(std::string_view name) {
  for (const Prefix& prefix : prefixes) {
    if (!name.starts_with(prefix.text)) continue;
    const auto number = scan::parse_number<std::uint32_t>(name.substr(prefix.text.size()));
    if (!number) return std::nullopt;
    return Node{prefix.kind, Text<24>(name), *number, 0, 0};
  }
  return std::nullopt;
}

void parse_numbers(std::string_view text, Node& node) noexcept {
  const std::string_view first = scan::take_until(text, ':');
  const auto major = scan::parse_number<std::uint32_t>(first);
  const auto minor = scan::parse_number<std::uint32_t>(text);
  if (!major || !minor) return;
  node.major = *major;
  node.minor = *minor;
}

std::string_view device_part(std::string_view target) noexcept {
  const std::size_t start = target.find("devices/");
  if (start == std::string_view::npos) return {};
  const std::string_view class_folder = find_parent(target.substr(start));
  const std::string_view name = last_part(class_folder);
  return name == "drm" || name == "accel" ? find_parent(class_folder) : std::string_view();
}

bool is_ignored(std::string_view driver, std::string_view bus, std::string_view name) noexcept {
  if (driver == "nvidia" || bus == "faux") return true;
  return name == "vgem" || name == "vkms";
}

int find_cards(std::string_view sys_root, std::vector<Card>& out) {
  Listing listing{sys_root, out};
  const int drm = list_class(listing, class_folders[0]);
  const int accel = list_class(listing, class_folders[1]);
  for (Card& card : out) {
    fill_names(listing, card);
    if (is_virtio_transport(card.driver_name.view())) card.driver_name.assign("virtio_gpu");
    fill_ids(listing, card);
  }
  const auto removed = std::ranges::remove_if(out, [sys_root](const Card& card) {
    return !can_compute(card) || is_being_removed(card, sys_root) ||
           is_ignored(card.driver_name.view(), card.bus.view(), last_part(card.folder.view()));
  });
  out.erase(removed.begin(), removed.end());
  if (listing.error != 0) return listing.error;
  return drm == 0 || accel == 0 ? 0 : ENOENT;
}

bool has_card(std::string_view sys_root) {
  bool has_match = false;
  for (const auto& folder : class_folders) {
    const sysfs::PathText class_path{sys_root, folder};
    const int error = platform::for_each_entry(class_path.c_str(), [&](std::string_view name) {
      const auto node = parse_node(name);
      if (!node || node->kind == Node::Kind::card) return true;
      const sysfs::PathText entry{class_path.view(), "/", name};
      const auto link = [&](std::string_view path) {
        return sysfs::read_link_name(entry.view(), path);
      };
      has_match = !is_ignored(link("device/driver").view(), link("device/subsystem").view(),
                              link("device").view());
      return !has_match;
    });
    if (has_match || is_real_error(error)) return true;
  }
  return false;
}

bool is_partition_node(const Card& card) noexcept {
  return card.bus.view() == "platform" && last_part(card.folder.view()).starts_with("amdgpu_xcp");
}

bool is_listed_virtual_function(const Card& card, std::span<const Card> cards) noexcept {
  const Text<64> physical_function = sysfs::read_link_name(card.folder.view(), "physfn");
  return !physical_function.empty() && std::ranges::any_of(cards, [&](const Card& other) {
    return other.is_present && other.pci_bus_id.view() == physical_function.view();
  });
}

Failure make_whole_only_failure(Source source, std::string_view clause) {
  return FailureFactory{source}(
      Status::unsupported,
      {clause, " of the whole GPU only, not of this part of it: see the GPU's own row"});
}

}  // namespace hmn::drm
