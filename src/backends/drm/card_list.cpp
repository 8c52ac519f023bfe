// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/card_list.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "backends/drm/discovery.hpp"
#include "backends/drm/driver.hpp"
#include "backends/shared/idle/backoff.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "model/failure.hpp"
#include "model/message_text.hpp"
#include "model/pci_address.hpp"
#include "platform/file.hpp"

namespace hmn::drm {
namespace {

std::string dev_root_of(const Settings& s) {
  if (!s.dev_root.empty()) return s.dev_root;
  return s.sys_root == "/sys" ? "/dev" : "";
}

// Compares more than the slot: another card in the same slot is another device.
bool is_same(const Card& a, const Card& b) noexcept {
  const bool is_reported = a.pci_device && b.pci_device;
  return a.folder == b.folder &&
         (!is_reported || (a.vendor == b.vendor && a.pci_device == b.pci_device));
}

// Driver "msm_dpu" is "msm" in fdinfo, and "amdxdna" is "amdxdna_accel_driver".
std::string_view stem_of(std::string_view driver) noexcept {
  return driver.substr(0, driver.find_first_of("_-"));
}

using Word = std::array<char, 32>;

std::string_view word_of(std::string_view folder, std::string_view file, Word& buffer) noexcept {
  const auto line = sysfs::read_line(folder, file, buffer);
  return line ? line.value : std::string_view();
}

// Looks for an active connector: <card>/drm/card1/card1-HDMI-A-1/enabled. A card whose connectors
// cannot be listed may have one.
bool drives_display(const Card& c) {
  const Node* const n = c.find(Node::Kind::card);
  if (n == nullptr) return false;
  const std::string folder = compose({c.folder.view(), "/drm/", n->name.view()});
  bool is_driven = false;
  const int error = platform::for_each_entry(folder.c_str(), [&](std::string_view entry) {
    Word buffer;
    is_driven = entry.starts_with(n->name.view()) &&
                word_of(folder, compose({entry, "/enabled"}), buffer) == "enabled";
    return !is_driven;
  });
  return is_driven || (error != 0 && error != ENOENT);
}

}  // namespace

CardList::CardList(const Settings& s)
    : sys_root_(s.sys_root), dev_root_(dev_root_of(s)), drivers_(make_drivers(s)) {}

std::uint64_t CardList::all_drivers() const noexcept {
  std::uint64_t all = 0;
  for (const auto& d : drivers_) {
    if (d) all |= bit_of(d->from()) | bit_of(d->behind());
  }
  return all;
}

int CardList::refresh() {
  found_.clear();
  const int error = find_cards(sys_root_, found_);
  if (error != 0 && error != ENOENT) return error;
  for (Card& c : cards_) c.is_here = false;
  for (Card& c : found_) adopt(c);
  refresh_states();
  return error;
}

void CardList::adopt(Card& fresh) {
  fresh.is_here = true;
  fresh.has_node = has_node(fresh);
  for (const std::unique_ptr<Driver>& d : drivers_) {
    if (d && fresh.by == nullptr && d->serves(fresh)) fresh.by = d.get();
  }
  if (fresh.by != nullptr && !fresh.by->lists(fresh)) return;
  for (Card& c : cards_) {
    if (!is_same(c, fresh)) continue;
    fresh.number = c.number;
    fresh.is_resting = c.is_resting && !fresh.is_asleep;
    c = fresh;
    return;
  }
  fresh.number = static_cast<Slot>(cards_.size());
  cards_.push_back(fresh);
}

std::uint64_t CardList::fingerprint() const noexcept {
  // FNV-1a
  std::uint64_t sum = 0xcbf29ce484222325;
  const auto take = [&](std::uint64_t more) { sum = (sum ^ more) * 0x100000001b3; };
  for (const Card& c : cards_) {
    if (!c.is_here) continue;
    take(c.number);
    for (const Node& n : c.nodes()) take(std::uint64_t{n.major} << 32 | n.minor);
  }
  return sum;
}

void CardList::refresh_states() {
  for (Card& c : cards_) {
    if (!c.is_here) continue;
    const auto suspended = sysfs::is_asleep(c.folder.view());
    c.state_error = suspended.error;
    c.is_asleep = suspended.value || suspended.error != 0;
    c.counts_engines = c.by == nullptr || c.by->counts_engines(c);
  }
}

std::string CardList::path_of(const Node& n) const {
  const std::string_view folder = n.what == Node::Kind::accel ? "/accel/" : "/dri/";
  return compose({dev_root_, folder, n.name.view()});
}

// Ignores nodes left behind by another card, or named by the tree of another machine.
std::string CardList::node_path(const Card& c, Node::Kind what) const {
  const Node* const n = dev_root_.empty() ? nullptr : c.find(what);
  if (n == nullptr) return {};
  std::string path = path_of(*n);
  const auto found = platform::status_of(path.c_str());
  const bool is_it = found && found.value.is_character_device &&
                     found.value.special_device_major == n->major &&
                     found.value.special_device_minor == n->minor;
  return is_it || is_passing(found.error) ? path : std::string();
}

bool CardList::has_node(const Card& c) const {
  if (dev_root_.empty()) return true;
  for (const Node& n : c.nodes()) {
    if (!node_path(c, n.what).empty()) return true;
  }
  return false;
}

const Card* CardList::by_numbers(std::uint64_t major, std::uint64_t minor) const noexcept {
  if (major == 0) return nullptr;
  for (const Card& c : cards_) {
    for (const Node& n : c.nodes()) {
      if (c.is_here && n.major == major && n.minor == minor) return &c;
    }
  }
  return nullptr;
}

const Card* CardList::by_address(std::string_view pci_address) const noexcept {
  const Text<32> wanted = normal_pci_address(pci_address);
  for (const Card& c : cards_) {
    if (c.is_here && !wanted.empty() && c.pci_bus_id == wanted) return &c;
  }
  return nullptr;
}

const Card* CardList::by_node(std::string_view path) const noexcept {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const Card& c : cards_) {
    for (const Node& n : c.nodes()) {
      if (c.is_here && n.name.view() == name) return &c;
    }
  }
  return nullptr;
}

const Card* CardList::by_driver(std::string_view name) const noexcept {
  const Card* found = nullptr;
  for (const Card& c : cards_) {
    if (!c.is_here || stem_of(c.driver_name.view()) != stem_of(name)) continue;
    if (found != nullptr) return nullptr;
    found = &c;
  }
  return found;
}

bool could_sleep(const Card& c) {
  Word buffer;
  return idle::says_may_sleep(word_of(c.folder.view(), "power/control", buffer)) &&
         !drives_display(c);
}

bool CardBackoff::begin(const Card& c, std::uint64_t now_ns) {
  while (!knows(c)) states_.push_back({idle::Backoff(patience_ns_)});
  State& s = of(c);
  s.was_asked = false;
  s.backoff.begin(now_ns, c.is_asleep);
  return s.backoff.is_on();
}

bool CardBackoff::is_due(const Card& c, std::uint64_t now_ns) noexcept {
  return knows(c) && of(c).was_asked && of(c).backoff.is_due(now_ns);
}

void CardBackoff::start(const Card& c, std::uint64_t now_ns) {
  Word buffer;
  const auto delay = word_of(c.folder.view(), "power/autosuspend_delay_ms", buffer);
  of(c).backoff.start(now_ns, idle::delay_ns(delay));
}

}  // namespace hmn::drm
