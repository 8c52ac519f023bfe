// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/discovery.hpp"

#include <algorithm>
#include <array>

#include "backends/drm/attribute.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::drm {
namespace {

constexpr std::string_view classes[] = {"/class/drm", "/class/accel"};

struct prefix {
  std::string_view text;
  node::kind what;
};
constexpr prefix prefixes[] = {
    {"renderD", node::kind::render}, {"card", node::kind::card}, {"accel", node::kind::accel}};

bool are_hex(std::string_view digits) noexcept {
  return scan::number(digits, 16).has_value();
}

std::string_view last_part(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

std::string_view parent_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return path.substr(0, slash == std::string_view::npos ? 0 : slash);
}

// Where a class holds folders instead of links, as in a copied tree, the device is one level down.
path_text folder_of(std::string_view sys_root, const path_text& entry) {
  std::array<char, 1024> target;
  const auto got = platform::read_link(entry.c_str(), target);
  const std::string_view part = device_part({target.data(), got.value});
  return part.empty() ? path_text{entry.view(), "/device"} : path_text{sys_root, "/", part};
}

std::optional<std::uint32_t> id_in(std::string_view folder, std::string_view name) {
  const auto value = read_hex(folder, name);
  return value ? std::optional(static_cast<std::uint32_t>(value.value)) : std::nullopt;
}

void fill_ids(card& c) {
  // The node of a virtio device may hang on its PCI function or below it.
  const bool is_below = c.bus.view() == "virtio";
  const std::string_view folder = is_below ? parent_of(c.folder.view()) : c.folder.view();
  c.pci_bus_id = parse_pci_name(last_part(folder));
  if (c.pci_bus_id.empty()) return;
  c.vendor = id_in(folder, "vendor").value_or(vendor::unknown);
  c.pci_device = id_in(folder, "device");
  const auto subsystem = id_in(folder, "subsystem_device");
  const auto maker = id_in(folder, "subsystem_vendor");
  if (subsystem && maker) c.pci_subsystem = *subsystem << 16 | *maker;
}

card& card_at(std::vector<card>& all, std::string_view folder) {
  for (card& c : all) {
    if (c.folder.view() == folder) return c;
  }
  card& fresh = all.emplace_back();
  fresh.folder.assign(folder);
  return fresh;
}

void add_node(std::string_view sys_root, const path_text& entry, node n, std::vector<card>& all) {
  std::array<char, 32> buffer;
  if (const auto numbers = read_line(entry.view(), "dev", buffer)) {
    parse_numbers(numbers.value, n);
  }
  card& c = card_at(all, folder_of(sys_root, entry).view());
  if (c.node_count < c.nodes_.size()) c.nodes_[c.node_count++] = n;
}

int list_class(std::string_view sys_root, std::string_view folder, std::vector<card>& all) {
  const path_text whole{sys_root, folder};
  return platform::for_each_entry(whole.c_str(), [&](std::string_view name) {
    if (const auto n = parse_node(name)) add_node(sys_root, {whole.view(), "/", name}, *n, all);
    return true;
  });
}

// What only shows pictures (a display controller, a server's management chip) is no GPU.
bool computes(const card& c) noexcept {
  return c.find(node::kind::render) != nullptr || c.find(node::kind::accel) != nullptr;
}

}  // namespace

std::optional<node> parse_node(std::string_view name) {
  for (const prefix& p : prefixes) {
    if (!name.starts_with(p.text)) continue;
    const auto number = scan::number<std::uint32_t>(name.substr(p.text.size()));
    if (!number) return std::nullopt;
    return node{p.what, text<24>(name), *number, 0, 0};
  }
  return std::nullopt;
}

void parse_numbers(std::string_view text, node& into) noexcept {
  const std::string_view first = scan::take_until(text, ':');
  const auto major = scan::number<std::uint32_t>(first);
  const auto minor = scan::number<std::uint32_t>(text);
  if (!major || !minor) return;
  into.major = *major;
  into.minor = *minor;
}

text<32> parse_pci_name(std::string_view name) noexcept {
  // 0000:01:00.0; the domain has more digits behind some bridges
  const std::size_t end = name.size() < 8 ? 0 : name.size() - 8;
  const std::string_view domain = name.substr(0, end);
  const std::string_view rest = name.substr(end);
  const bool is_one = domain.size() >= 4 && domain.size() <= 8 && are_hex(domain) &&
                      rest[0] == ':' && are_hex(rest.substr(1, 2)) && rest[3] == ':' &&
                      are_hex(rest.substr(4, 2)) && rest[6] == '.' && are_hex(rest.substr(7));
  if (!is_one) return {};
  constexpr std::string_view zeros = "0000";
  const std::size_t padding = domain.size() == 4 ? 0 : 8 - domain.size();
  std::array<char, 32> buffer;
  return text<32>(compose_in(buffer, {zeros.substr(0, padding), name}));
}

std::string_view device_part(std::string_view target) noexcept {
  const std::size_t start = target.find("devices/");
  if (start == std::string_view::npos) return {};
  const std::string_view class_folder = parent_of(target.substr(start));
  const std::string_view name = last_part(class_folder);
  return name == "drm" || name == "accel" ? parent_of(class_folder) : std::string_view();
}

bool is_left_alone(std::string_view driver_name) noexcept {
  constexpr std::string_view names[] = {"nvidia", "vgem", "vkms"};
  return std::find(std::begin(names), std::end(names), driver_name) != std::end(names);
}

int find_cards(std::string_view sys_root, std::vector<card>& out) {
  const int drm = list_class(sys_root, classes[0], out);
  const int accel = list_class(sys_root, classes[1], out);
  for (card& c : out) {
    c.driver_name.assign(read_link_name(c.folder.view(), "driver").view());
    c.bus.assign(read_link_name(c.folder.view(), "subsystem").view());
    fill_ids(c);
  }
  std::erase_if(out,
                [](const card& c) { return !computes(c) || is_left_alone(c.driver_name.view()); });
  return drm == 0 || accel == 0 ? 0 : drm;
}

bool has_card(std::string_view sys_root) {
  bool found = false;
  for (const std::string_view folder : classes) {
    const path_text whole{sys_root, folder};
    (void)platform::for_each_entry(whole.c_str(), [&](std::string_view name) {
      const auto n = parse_node(name);
      if (!n || n->what == node::kind::card) return true;
      const path_text entry{whole.view(), "/", name};
      found = !is_left_alone(read_link_name(entry.view(), "device/driver").view());
      return !found;
    });
    if (found) break;
  }
  return found;
}

bool is_suspended(const card& c) noexcept {
  std::array<char, 32> buffer;
  const auto line = read_line(c.folder.view(), "power/runtime_status", buffer);
  return line && line.value.starts_with("suspend");
}

}  // namespace hmn::drm
