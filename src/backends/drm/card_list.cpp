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

std::string choose_dev_root(const Settings& settings) {
  if (!settings.dev_root.empty()) return settings.dev_root;
  return settings.sys_root == "/sys" ? "/dev" : "";
}

// Compares more than the slot: another card in the same slot is another device.
bool is_same(const Card& a, const Card& b) noexcept {
  const bool is_reported = a.pci_device && b.pci_device;
  return a.folder == b.folder &&
         (!is_reported || (a.vendor == b.vendor && a.pci_device == b.pci_device));
}

// Driver "msm_dpu" is "msm" in fdinfo, and "amdxdna" is "amdxdna_accel_driver".
std::string_view driver_stem(std::string_view driver) noexcept {
  return driver.substr(0, driver.find_first_of("_-"));
}

using Word = std::array<char, 32>;

std::string_view read_word(std::string_view folder, std::string_view file, Word& buffer) noexcept {
  const auto line = sysfs::read_line(folder, file, buffer);
  return line ? line.value : std::string_view();
}

// Looks for an active connector: <card>/drm/card1/card1-HDMI-A-1/enabled. A card whose connectors
// cannot be listed may have one.
bool drives_display(const Card& card) {
  const Node* const node = card.find(Node::Kind::card);
  if (node == nullptr) return false;
  const std::string folder = compose({card.folder.view(), "/drm/", node->name.view()});
  bool is_enabled = false;
  const int error = platform::for_each_entry(folder.c_str(), [&](std::string_view entry) {
    Word buffer;
    is_enabled = entry.starts_with(node->name.view()) &&
                 read_word(folder, compose({entry, "/enabled"}), buffer) == "enabled";
    return !is_enabled;
  });
  return is_enabled || (error != 0 && error != ENOENT);
}

}  // namespace

CardList::CardList(const Settings& settings)
    : sys_root_(settings.sys_root),
      dev_root_(choose_dev_root(settings)),
      drivers_(make_drivers(settings)) {}

std::uint64_t CardList::all_drivers() const noexcept {
  std::uint64_t bits = 0;
  for (const auto& driver : drivers_) {
    if (driver) bits |= source_bit(driver->source()) | source_bit(driver->inner_source());
  }
  return bits;
}

int CardList::refresh() {
  new_cards_.clear();
  const int error = find_cards(sys_root_, new_cards_);
  if (error != 0 && error != ENOENT) return error;
  for (Card& card : cards_) card.is_present = false;
  for (Card& card : new_cards_) adopt(card);
  refresh_states();
  return error;
}

void CardList::adopt(Card& card) {
  card.is_present = true;
  card.has_node = has_node(card);
  for (const std::unique_ptr<Driver>& driver : drivers_) {
    if (driver && card.driver == nullptr && driver->supports(card)) card.driver = driver.get();
  }
  if (card.driver != nullptr && !card.driver->should_list(card)) return;
  for (Card& previous : cards_) {
    if (!is_same(previous, card)) continue;
    card.slot = previous.slot;
    card.is_skipped = previous.is_skipped && !card.is_asleep;
    previous = card;
    return;
  }
  card.slot = static_cast<Slot>(cards_.size());
  cards_.push_back(card);
}

std::uint64_t CardList::fingerprint() const noexcept {
  // FNV-1a
  std::uint64_t sum = 0xcbf29ce484222325;
  const auto mix = [&](std::uint64_t value) { sum = (sum ^ value) * 0x100000001b3; };
  for (const Card& card : cards_) {
    if (!card.is_present) continue;
    mix(card.slot);
    for (const Node& node : card.nodes()) mix(std::uint64_t{node.major} << 32 | node.minor);
  }
  return sum;
}

void CardList::refresh_states() {
  for (Card& card : cards_) {
    if (!card.is_present) continue;
    const auto suspended = sysfs::is_asleep(card.folder.view());
    card.state_error = suspended.error;
    card.is_asleep = suspended.value || suspended.error != 0;
    card.counts_engines = card.driver == nullptr || card.driver->counts_engines(card);
  }
}

std::string CardList::make_path(const Node& node) const {
  const std::string_view folder = node.kind == Node::Kind::accel ? "/accel/" : "/dri/";
  return compose({dev_root_, folder, node.name.view()});
}

// Ignores nodes left behind by another card, or named by the tree of another machine.
std::string CardList::node_path(const Card& card, Node::Kind kind) const {
  const Node* const node = dev_root_.empty() ? nullptr : card.find(kind);
  if (node == nullptr) return {};
  std::string path = make_path(*node);
  const auto status = platform::read_status(path.c_str());
  const bool is_same_node = status && status.value.is_character_device &&
                            status.value.special_device_major == node->major &&
                            status.value.special_device_minor == node->minor;
  return is_same_node || is_transient(status.error) ? path : std::string();
}

bool CardList::has_node(const Card& card) const {
  if (dev_root_.empty()) return true;
  for (const Node& node : card.nodes()) {
    if (!node_path(card, node.kind).empty()) return true;
  }
  return false;
}

const Card* CardList::find_by_numbers(std::uint64_t major, std::uint64_t minor) const noexcept {
  if (major == 0) return nullptr;
  for (const Card& card : cards_) {
    for (const Node& node : card.nodes()) {
      if (card.is_present && node.major == major && node.minor == minor) return &card;
    }
  }
  return nullptr;
}

const Card* CardList::find_by_address(std::string_view pci_address) const noexcept {
  const Text<32> address = normalize_pci_address(pci_address);
  for (const Card& card : cards_) {
    if (card.is_present && !address.empty() && card.pci_bus_id == address) return &card;
  }
  return nullptr;
}

const Card* CardList::find_by_node(std::string_view path) const noexcept {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const Card& card : cards_) {
    for (const Node& node : card.nodes()) {
      if (card.is_present && node.name.view() == name) return &card;
    }
  }
  return nullptr;
}

const Card* CardList::find_by_driver(std::string_view name) const noexcept {
  const Card* match = nullptr;
  for (const Card& card : cards_) {
    if (!card.is_present || driver_stem(card.driver_name.view()) != driver_stem(name)) continue;
    if (match != nullptr) return nullptr;
    match = &card;
  }
  return match;
}

bool could_sleep(const Card& card) {
  Word buffer;
  return idle::allows_sleep(read_word(card.folder.view(), "power/control", buffer)) &&
         !drives_display(card);
}

bool CardBackoff::begin(const Card& card, std::uint64_t now_ns) {
  while (!has_state(card)) states_.push_back({idle::Backoff(patience_ns_)});
  State& state = find_state(card);
  state.was_queried = false;
  state.backoff.begin_reading(now_ns, card.is_asleep);
  return state.backoff.is_active();
}

bool CardBackoff::is_due(const Card& card, std::uint64_t now_ns) noexcept {
  return has_state(card) && find_state(card).was_queried &&
         find_state(card).backoff.is_check_due(now_ns);
}

void CardBackoff::start(const Card& card, std::uint64_t now_ns) {
  Word buffer;
  const auto delay = read_word(card.folder.view(), "power/autosuspend_delay_ms", buffer);
  find_state(card).backoff.start(now_ns, idle::parse_delay_ns(delay));
}

}  // namespace hmn::drm
