// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/card_backoff.hpp"

#include <array>
#include <cerrno>
#include <string>

#include "backends/shared/idle/backoff.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "platform/file.hpp"

namespace hmn::drm {
namespace {

using word = std::array<char, 32>;

// Reads a word; empty if it cannot be read.
std::string_view word_of(std::string_view folder, std::string_view file, word& buffer) noexcept {
  const auto line = sysfs::read_line(folder, file, buffer);
  return line ? line.value : std::string_view();
}

// Looks for an active connector: <card>/drm/card1/card1-HDMI-A-1/enabled. A card whose connectors
// cannot be listed may have one.
bool drives_display(const card& c) {
  const node* const n = c.find(node::kind::card);
  if (n == nullptr) return false;
  const std::string folder = compose({c.folder.view(), "/drm/", n->name.view()});
  bool is_driven = false;
  const int error = platform::for_each_entry(folder.c_str(), [&](std::string_view entry) {
    word buffer;
    is_driven = entry.starts_with(n->name.view()) &&
                word_of(folder, compose({entry, "/enabled"}), buffer) == "enabled";
    return !is_driven;
  });
  return is_driven || (error != 0 && error != ENOENT);
}

}  // namespace

bool could_sleep(const card& c) {
  word buffer;
  return idle::says_may_sleep(word_of(c.folder.view(), "power/control", buffer)) &&
         !drives_display(c);
}

bool card_backoff::begin(const card& c, std::uint64_t now_ns) {
  while (!knows(c)) states_.push_back({idle::backoff(patience_ns_)});
  state& s = of(c);
  s.was_asked = false;
  s.backoff.begin(now_ns, c.is_asleep);
  return s.backoff.is_on();
}

bool card_backoff::is_due(const card& c, std::uint64_t now_ns) noexcept {
  return knows(c) && of(c).was_asked && of(c).backoff.is_due(now_ns);
}

void card_backoff::start(const card& c, std::uint64_t now_ns) {
  word buffer;
  const auto delay = word_of(c.folder.view(), "power/autosuspend_delay_ms", buffer);
  of(c).backoff.start(now_ns, idle::delay_ns(delay));
}

}  // namespace hmn::drm
