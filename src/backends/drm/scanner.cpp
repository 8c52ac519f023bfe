// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/scanner.hpp"

#include <algorithm>
#include <cerrno>

#include "backends/drm/attribute.hpp"
#include "backends/drm/process_stat.hpp"
#include "model/scan.hpp"
#include "platform/clock.hpp"

namespace hmn::drm {
namespace {

using platform::directory;

bool is_gone(int error) noexcept {
  return error == ENOENT || error == ESRCH;
}

// Room for "fdinfo/4294967295".
class short_path {
 public:
  short_path(std::string_view folder, std::string_view name) noexcept {
    const auto made = compose_in(std::span(bytes_).first(bytes_.size() - 1), {folder, "/", name});
    bytes_[made.size()] = '\0';
  }
  [[nodiscard]] const char* c_str() const noexcept { return bytes_.data(); }

 private:
  std::array<char, 32> bytes_;
};

bool one_must_sleep(const roster& cards, bool may_wake) noexcept {
  const auto all = cards.all();
  return std::any_of(all.begin(), all.end(),
                     [&](const card& c) { return must_sleep(c, may_wake); });
}

// Where a descriptor leads, in a tree whose links lead nowhere and as a last resort.
const card* card_behind_link(const directory& from, std::string_view name, const roster& cards) {
  std::array<char, 256> target;
  const auto got = from.read_link(short_path("fd", name).c_str(), target);
  if (!got) return nullptr;
  return cards.by_node({target.data(), got.value});
}

}  // namespace

void scanner::forget() noexcept {
  known_.clear();
  held_.clear();
}

bool scanner::met_asleep(slot card) const noexcept {
  return std::find(asleep_.begin(), asleep_.end(), card) != asleep_.end();
}

int scanner::list_pids() {
  pids_.clear();
  const int error = platform::for_each_entry(proc_root_.c_str(), [&](std::string_view name) {
    const auto pid = scan::decimal(name);
    if (pid && *pid != 0 && *pid <= 0xFFFFFFFF) pids_.push_back(static_cast<std::uint32_t>(*pid));
    return true;
  });
  if (!std::is_sorted(pids_.begin(), pids_.end())) std::sort(pids_.begin(), pids_.end());
  return error;
}

// Spread, so that not all fall due at once.
std::uint64_t scanner::next_due(std::uint32_t pid, std::uint64_t now_ns) const noexcept {
  const std::uint64_t half = rescan_ns_ / 2;
  return now_ns + half + (half == 0 ? 0 : pid * std::uint64_t{0x9E3779B97F4A7C15} % half);
}

coverage scanner::scan(const roster& cards, bool may_wake, std::uint64_t now_ns,
                       std::uint64_t deadline_ns, client_list& out) {
  const walk w{cards, may_wake, out};
  coverage seen;
  out.clear();
  out.taken_ns = now_ns;
  asleep_.clear();
  fresh_.clear();
  fresh_held_.clear();
  seen.no_tree = list_pids();
  auto before = known_.begin();
  for (const std::uint32_t pid : pids_) {
    if (platform::monotonic_ns() > deadline_ns) {
      ++seen.not_reached;
      continue;
    }
    before = std::find_if(before, known_.end(), [&](const process& p) { return p.pid >= pid; });
    const bool is_known = before != known_.end() && before->pid == pid;
    process p;
    p.pid = pid;
    p.first_held = fresh_held_.size();
    if (is_known && before->due_ns > now_ns && revisit(p, *before, w)) {
      p.due_ns = before->due_ns;
    } else {
      p.held_count = 0;
      fresh_held_.resize(p.first_held);
      const path_text who{pid};
      visit(p, who.view(), w);
      p.due_ns = next_due(pid, now_ns);
    }
    if (is_gone(p.error)) continue;
    fresh_.push_back(p);
    if (p.is_kernel_thread) continue;
    ++seen.processes;
    if (p.error == 0) continue;
    ++seen.unreadable;
    seen.error = p.error;
  }
  known_.swap(fresh_);
  held_.swap(fresh_held_);
  out.finish();
  return seen;
}

int scanner::scan_one(std::string_view who, std::uint32_t pid, const roster& cards, bool may_wake,
                      client_list& out) {
  out.clear();
  out.taken_ns = platform::monotonic_ns();
  asleep_.clear();
  fresh_held_.clear();
  process p;
  p.pid = pid;
  visit(p, who, {cards, may_wake, out});
  out.finish();
  return is_gone(p.error) ? ESRCH : p.error;
}

void scanner::visit(process& p, std::string_view who, const walk& w) {
  const path_text path{proc_root_, "/", who};
  const auto opened = directory::open(path.c_str());
  p.error = opened.error;
  if (opened) look_into(p, opened.value, w);
}

void scanner::look_into(process& p, const directory& from, const walk& w) {
  p.error =
      from.for_each_entry("fd", [&](std::string_view name) { return look_at(p, from, name, w); });
  if (p.error != EACCES && p.error != EPERM) return;
  // The folder of links may be closed where that of texts is not.
  p.error = from.for_each_entry(
      "fdinfo", [&](std::string_view name) { return look_at_unknown(p, from, name, w); });
  if (p.error != 0) note_kernel_thread(p, from);
}

void scanner::note_kernel_thread(process& p, const directory& from) {
  const auto got = from.read_small("stat", text_);
  p.is_kernel_thread = got && is_kernel_thread({text_.data(), got.value});
}

platform::errno_or<std::string_view> scanner::read_text(const directory& from,
                                                        std::string_view name) {
  const auto got = from.read_small(short_path("fdinfo", name).c_str(), text_);
  return {{text_.data(), got.value}, got.error};
}

void scanner::keep(process& p, std::string_view name, const card& of) {
  const auto descriptor = scan::decimal(name);
  if (!descriptor) return;
  fresh_held_.push_back({static_cast<std::uint32_t>(*descriptor), of.number});
  ++p.held_count;
}

void scanner::add_known(process& p, const directory& from, std::string_view name, const card& of,
                        const walk& w) {
  keep(p, name, of);
  if (must_sleep(of, w.may_wake)) {
    asleep_.push_back(of.number);
    return;
  }
  const auto text = read_text(from, name);
  if (is_gone(text.error)) return;
  const auto info = parse_fdinfo(text.value);
  w.out.add(of, p.pid, info ? &*info : nullptr);
}

bool scanner::look_at(process& p, const directory& from, std::string_view name, const walk& w) {
  const auto found = from.status_of(short_path("fd", name).c_str());
  if (!found) return look_at_unknown(p, from, name, w);
  if (!found.value.is_character_device) return true;
  const card* const of =
      w.cards.by_numbers(found.value.special_device_major, found.value.special_device_minor);
  if (of != nullptr) add_known(p, from, name, *of, w);
  return true;
}

const card* scanner::card_of(const directory& from, std::string_view name, const fdinfo& info,
                             const walk& w) const {
  if (const card* const of = w.cards.by_address(info.pci_address)) return of;
  if (const card* const of = card_behind_link(from, name, w.cards)) return of;
  return w.cards.by_driver(info.driver);
}

// No device number was to be had: the text tells whether it is a DRM client, and of which card.
bool scanner::look_at_unknown(process& p, const directory& from, std::string_view name,
                              const walk& w) {
  if (one_must_sleep(w.cards, w.may_wake)) {
    const card* const of = card_behind_link(from, name, w.cards);
    if (of != nullptr) add_known(p, from, name, *of, w);
    return true;
  }
  const auto info = parse_fdinfo(read_text(from, name).value);
  const card* const of = info ? card_of(from, name, *info, w) : nullptr;
  if (of == nullptr) return true;
  keep(p, name, *of);
  w.out.add(*of, p.pid, &*info);
  return true;
}

// False: it is not as it was, and must be looked into anew.
bool scanner::revisit(process& p, const process& before, const walk& w) {
  p.error = before.error;
  p.is_kernel_thread = before.is_kernel_thread;
  if (before.held_count == 0) return true;
  const path_text path{proc_root_, "/", p.pid};
  const auto opened = directory::open(path.c_str());
  if (!opened) return false;
  for (std::size_t i = 0; i < before.held_count; ++i) {
    const held& h = held_[before.first_held + i];
    const path_text name{h.descriptor};
    const std::uint32_t count = p.held_count;
    look_at(p, opened.value, name.view(), w);
    if (p.held_count == count || fresh_held_.back().card != h.card) return false;
  }
  return true;
}

}  // namespace hmn::drm
