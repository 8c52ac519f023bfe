// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/scanner.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/shared/sysfs/attribute.hpp"
#include "model/failure.hpp"
#include "model/scan.hpp"
#include "platform/clock.hpp"
#include "procfs/process.hpp"
#include "procfs/tree.hpp"

namespace hmn::drm {
namespace {

// Slightly faster than needed, so that readings that are a little late leave none overdue.
constexpr double haste = 16.0 / 15;
constexpr std::uint64_t few_readings = 3;

constexpr std::uint32_t turns = 8;
// Time whose share of the processor can be saved up for readings in quick succession.
constexpr std::uint64_t saved_ns = platform::ns_per_second;

using platform::Directory;

// Beyond this number, descriptors of no card are checked each time instead of remembered.
constexpr std::size_t most_others = std::size_t{1} << 20;

constexpr std::size_t most_mounts = std::size_t{1} << 20;  // bytes

// Holds "fdinfo/4294967295".
class ShortPath {
 public:
  ShortPath(std::string_view folder, std::string_view name) noexcept {
    const auto made = compose_in(std::span(bytes_).first(bytes_.size() - 1), {folder, "/", name});
    bytes_[made.size()] = '\0';
  }
  [[nodiscard]] const char* c_str() const noexcept { return bytes_.data(); }

 private:
  std::array<char, 32> bytes_;
};

bool one_must_sleep(const CardList& cards, bool may_wake) noexcept {
  const auto all = cards.all();
  return std::ranges::any_of(all, [&](const Card& c) { return must_sleep(c, may_wake); });
}

// The last resort: resolves a descriptor's target, in a tree whose links are dangling.
const Card* card_behind_link(const Directory& from, std::string_view name, const CardList& cards) {
  std::array<char, 256> target;
  const auto got = from.read_link(ShortPath("fd", name).c_str(), target);
  if (!got) return nullptr;
  return cards.by_node({target.data(), got.value});
}

const Card* card_of(const Directory& from, std::string_view name, const Fdinfo& info,
                    const CardList& cards) {
  if (const Card* const of = cards.by_address(info.pci_address)) return of;
  if (const Card* const of = card_behind_link(from, name, cards)) return of;
  return cards.by_driver(info.driver);
}

// /proc lists descriptors in ascending order. In a copied tree, which need not, they are checked
// again.
bool is_next(std::span<const std::uint32_t>& others, std::string_view name) noexcept {
  if (others.empty()) return false;
  const std::uint64_t number = scan::decimal(name).value_or(0);
  while (!others.empty() && others.front() < number) others = others.subspan(1);
  return !others.empty() && others.front() == number;
}

}  // namespace

std::int64_t ScanSchedule::share_of(std::uint64_t time_ns) const noexcept {
  return static_cast<std::int64_t>(time_ns / 100 * percent_);
}

void ScanSchedule::begin(std::uint64_t now_ns, std::size_t known) noexcept {
  const bool is_later = last_ns_ != 0 && now_ns >= last_ns_;
  const std::uint64_t passed = is_later ? now_ns - last_ns_ : 0;
  is_first_ = !is_later || known == 0;
  const std::uint64_t gone = std::min(passed, every_ns_);
  const auto all = static_cast<double>(known);
  if (every_ns_ != 0) {
    credit_ += all * haste * static_cast<double>(gone) / static_cast<double>(every_ns_);
  }
  credit_ = std::min(credit_, all);
  last_pid_ = 0;
  // Overdue: would be late at the next reading, if the time until then is the same.
  latest_ns_ = now_ns + gone - gone / 16;
  last_ns_ = now_ns;
  const std::int64_t saved = share_of(saved_ns);
  allowed_ns_ = is_first_ ? saved : std::min(allowed_ns_, saved) + share_of(passed);
  // At least so much that no reading is late for the next one.
  new_allowed_ns_ = std::max(allowed_ns_, static_cast<std::int64_t>(passed / 4));
  is_spent_ = false;
}

// Listing may take at most half of the time, unless much is left.
bool ScanSchedule::may_list() const noexcept {
  if (is_first_ || !is_limited() || allowed_ns_ > share_of(saved_ns) / 2) return true;
  return allowed_ns_ > 0 &&
         share_of(last_ns_ - listed_ns_) / 2 >= static_cast<std::int64_t>(listing_ns_);
}

void ScanSchedule::listed(std::uint64_t used_ns) noexcept {
  listed_ns_ = last_ns_;
  listing_ns_ = used_ns;
  used(used_ns);
}

bool ScanSchedule::may_add() const noexcept {
  return is_first_ || !is_limited() || new_allowed_ns_ > 0;
}

void ScanSchedule::used(std::uint64_t used_ns) noexcept {
  if (is_first_) return;
  allowed_ns_ -= static_cast<std::int64_t>(used_ns);
  new_allowed_ns_ -= static_cast<std::int64_t>(used_ns);
}

Search ScanSchedule::of_known(std::uint32_t pid, std::uint64_t looked_ns, bool is_client,
                              Search otherwise) noexcept {
  const bool must = is_client && is_overdue(looked_ns);
  is_spent_ = is_spent_ || (is_limited() && allowed_ns_ <= 0);
  if (is_spent_ || pid <= resume_) return must ? Search::all : Search::none;
  last_pid_ = pid;
  if (!is_behind_) return is_due(pid, looked_ns) ? Search::all : otherwise;
  return must || pid % turns == turn_ ? Search::all : std::max(otherwise, Search::count);
}

bool ScanSchedule::is_overdue(std::uint64_t looked_ns) const noexcept {
  return looked_ns > last_ns_ || latest_ns_ - looked_ns > every_ns_;
}

bool ScanSchedule::is_due(std::uint32_t pid, std::uint64_t looked_ns) noexcept {
  if (pid > cursor_ && credit_ >= 1) {
    credit_ -= 1;
    cursor_ = pid;
    return true;
  }
  return is_overdue(looked_ns);
}

void ScanSchedule::end() noexcept {
  if (is_spent_) {
    is_behind_ = true;
    resume_ = std::max(resume_, last_pid_);
    return;
  }
  if (is_behind_) turn_ = (turn_ + 1) % turns;
  is_behind_ = false;
  resume_ = 0;
  if (cursor_ < last_pid_ && credit_ < 1) return;
  cursor_ = 0;
  credit_ = 0;
}

bool ScanSchedule::is_slow(std::uint64_t now_ns) const noexcept {
  return last_ns_ == 0 || now_ns - last_ns_ > every_ns_ / few_readings;
}

void Scanner::forget() noexcept {
  known_->clear();
}

// The processor time of this thread is measured only where it is limited.
std::uint64_t Scanner::used_ns() const noexcept {
  return schedule_.is_limited() ? platform::thread_used_ns() : 0;
}

int Scanner::list_pids(std::uint64_t now_ns) {
  if (!pids_.empty() && !schedule_.may_list()) return 0;
  const std::uint64_t begun = used_ns();
  pids_.clear();
  if (const int error = procfs::list_pids(proc_root_.c_str(), pids_); error != 0) {
    pids_.clear();
    return error;
  }
  std::ranges::sort(pids_);
  is_hidden_ = hides_others();
  own_pid_ = find_own_pid();
  listed_ns_ = now_ns;
  schedule_.listed(used_ns() - begun);
  return 0;
}

std::uint32_t Scanner::find_own_pid() const {
  std::array<char, 16> target;
  const auto got = platform::read_link(sysfs::PathText{proc_root_, "/self"}.c_str(), target);
  return scan::number<std::uint32_t>({target.data(), got ? got.value : 0}).value_or(0);
}

// Every PID namespace has a process 1; a copied tree may lack it.
bool Scanner::hides_others() {
  if (pids_.empty() || pids_.front() == 1) return false;
  const sysfs::PathText path{proc_root_, "/self/mountinfo"};
  std::string mounts;
  return platform::read_whole(path.c_str(), mounts, most_mounts) &&
         mounts.find("hidepid=") != std::string::npos;
}

Coverage Scanner::scan(const CardList& cards, bool may_wake, std::uint64_t now_ns,
                       std::uint64_t deadline_ns, ClientList& out, Extent how) {
  const Walk w{cards, may_wake, out, now_ns, how};
  Coverage seen;
  out.clear();
  out.taken_ns = now_ns;
  out.suspended_ns = platform::suspended_ns();
  schedule_.begin(now_ns, known_->processes.size());
  seen.no_tree = list_pids(now_ns);
  if (seen.no_tree != 0) return seen;
  seen.is_hidden = is_hidden_;
  seen.oldest_look = listed_ns_;
  fresh_->clear();
  auto next = known_->processes.begin();
  for (std::uint32_t& pid : pids_) {
    while (next != known_->processes.end() && next->pid < pid) ++next;
    const Process* const before =
        next != known_->processes.end() && next->pid == pid ? &*next : nullptr;
    if (platform::monotonic_ns() > deadline_ns) {
      ++seen.not_reached;
      if (before != nullptr) carry_over(*before);
      continue;
    }
    if (before == nullptr && !schedule_.may_add()) {
      ++seen.waiting;
      continue;
    }
    Process p = start(pid);
    if (take(p, before, w)) {
      fresh_->processes.push_back(p);
      count(p, w, seen);
    } else {
      pid = 0;
    }
  }
  const auto gone = std::ranges::remove(pids_, 0U);
  pids_.erase(gone.begin(), gone.end());
  schedule_.end();
  seen.is_outdated = schedule_.is_outdated(seen.oldest_look);
  std::swap(known_, fresh_);
  out.finish();
  return seen;
}

int Scanner::scan_one(std::string_view who, std::uint32_t pid, const CardList& cards, bool may_wake,
                      ClientList& out) {
  out.clear();
  out.taken_ns = platform::monotonic_ns();
  out.suspended_ns = platform::suspended_ns();
  fresh_->clear();
  Process p = start(pid);
  visit(p, who, nullptr, {cards, may_wake, out, out.taken_ns, Extent::complete});
  out.finish();
  return is_gone(p.error) ? ESRCH : p.error;
}

Scanner::Process Scanner::start(std::uint32_t pid) const noexcept {
  Process p;
  p.pid = pid;
  p.first_held = fresh_->held_ones.size();
  p.first_other = fresh_->others.size();
  return p;
}

bool Scanner::take(Process& p, const Process* before, const Walk& w) {
  Search how = Search::all;
  if (before != nullptr) {
    const Search otherwise = is_passing(before->error)   ? Search::all
                             : w.how == Extent::complete ? Search::count
                                                         : Search::none;
    how = schedule_.of_known(p.pid, before->looked_ns, before->held_count != 0, otherwise);
  }
  // A process with clients costs as much to read again, so only the others count as searched.
  const bool is_search = how != Search::none && (before == nullptr || before->held_count == 0);
  const std::uint64_t begun = is_search ? used_ns() : 0;
  if (how == Search::count && holds_as_many(*before)) how = Search::none;
  if (how != Search::none || !revisit(p, *before, w)) {
    std::array<char, 16> digits;
    visit(p, compose_in(digits, {p.pid}), how == Search::all ? nullptr : before, w);
  }
  if (is_search) schedule_.used(used_ns() - begun);
  if (!is_gone(p.error)) return true;
  w.out.drop_last(p.pid);
  return false;
}

bool Scanner::holds_as_many(const Process& before) const noexcept {
  const sysfs::PathText path{proc_root_, "/", before.pid, "/fd"};
  const auto found = platform::status_of(path.c_str());
  const std::uint64_t known = std::uint64_t{before.held_count} + before.other_count;
  return found && found.value.inode == before.inode && found.value.size == known && known != 0;
}

void Scanner::count(const Process& p, const Walk& w, Coverage& seen) const noexcept {
  if (p.is_kernel_thread) return;
  ++seen.processes;
  if (p.looked_ns != w.now_ns) {
    ++seen.remembered;
    seen.oldest_look = std::min(seen.oldest_look, p.looked_ns);
  }
  seen.has_own = seen.has_own || (p.error == 0 && p.pid == own_pid_);
  if (p.error == 0) return;
  ++seen.unreadable;
  seen.error = p.error;
}

void Scanner::remember(Process& p, const Process& before) {
  p.inode = before.inode;
  p.looked_ns = before.looked_ns;
  p.error = before.error;
  p.is_kernel_thread = before.is_kernel_thread;
  p.other_count = before.other_count;
  const auto from = known_->others.begin() + static_cast<std::ptrdiff_t>(before.first_other);
  fresh_->others.insert(fresh_->others.end(), from, from + before.other_count);
}

// Keeps a process that this walk did not reach. Its clients are read when one does.
void Scanner::carry_over(const Process& before) {
  Process p = start(before.pid);
  remember(p, before);
  p.held_count = before.held_count;
  for (const Held& h : std::span(known_->held_ones).subspan(before.first_held, before.held_count)) {
    fresh_->held_ones.push_back(h);
  }
  fresh_->processes.push_back(p);
}

void Scanner::visit(Process& p, std::string_view who, const Process* before, const Walk& w) {
  const sysfs::PathText path{proc_root_, "/", who};
  const auto opened = Directory::open(path.c_str());
  p.error = opened.error;
  if (!opened) return;
  p.inode = opened.value.status_of("fd").value.inode;
  Look l{w, p, opened.value, {}};
  p.looked_ns = w.now_ns;
  if (before != nullptr && before->inode == p.inode) {
    l.others = std::span(known_->others).subspan(before->first_other, before->other_count);
    p.looked_ns = before->looked_ns;
  }
  look_through(l);
  if (p.error != 0) w.out.mark_last_partial(p.pid);
}

void Scanner::look_through(Look& l) {
  const auto each = [&](std::string_view name) { return look_at(l, name), true; };
  const auto links = l.from.open_folder("fd");
  l.links = &links.value;
  int error = links ? links.value.for_each_entry(each) : links.error;
  l.links = nullptr;
  if (is_refused(error)) {
    // The folder of links may be unreadable while that of texts is readable.
    error = l.from.for_each_entry(
        "fdinfo", [&](std::string_view name) { return look_at_unknown(l, name, 0), true; });
    if (error != 0) note_kernel_thread(l);
  }
  if (error != 0) l.p.error = error;
}

void Scanner::note_kernel_thread(const Look& l) {
  const auto got = l.from.read_small("stat", text_);
  l.p.is_kernel_thread = got && procfs::is_kernel_thread({text_.data(), got.value});
}

// Text that fills the buffer may continue, so it is cut: unterminated, it counts as truncated.
platform::ErrnoOr<std::string_view> Scanner::read_text(const Look& l, std::string_view name) {
  const auto got = l.from.read_small(ShortPath("fdinfo", name).c_str(), text_);
  return {{text_.data(), std::min(got.value, text_.size() - 1)}, got.error};
}

void Scanner::keep(Look& l, std::string_view name, const Card& of) {
  const auto descriptor = scan::decimal(name);
  if (!descriptor) return;
  fresh_->held_ones.push_back({static_cast<std::uint32_t>(*descriptor), of.number});
  ++l.p.held_count;
}

void Scanner::keep_other(Look& l, std::string_view name) {
  const auto descriptor = scan::decimal(name);
  if (!descriptor || fresh_->others.size() >= most_others) return;
  fresh_->others.push_back(static_cast<std::uint32_t>(*descriptor));
  ++l.p.other_count;
}

void Scanner::add_known(Look& l, std::string_view name, const Card& of) {
  keep(l, name, of);
  if (must_sleep(of, l.w.may_wake)) {
    l.w.out.add_asleep(of.number);
    return;
  }
  const auto text = read_text(l, name);
  // ENOENT: closed in the meantime. ESRCH would mean the whole process.
  if (text.error == ENOENT) return;
  if (!text) {
    l.p.error = text.error;
    l.w.out.add_unread(of, l.p.pid, text.error);
    return;
  }
  const auto info = parse_fdinfo(text.value);
  if (!info && is_cut(text.value)) return l.w.out.add_unread(of, l.p.pid, EBADMSG);
  l.w.out.add(of, l.p.pid, info ? &*info : nullptr);
}

void Scanner::look_at(Look& l, std::string_view name) {
  if (is_next(l.others, name)) return keep_other(l, name);
  const auto found = l.links != nullptr ? l.links->status_of(name.data())
                                        : l.from.status_of(ShortPath("fd", name).c_str());
  if (!found) return look_at_unknown(l, name, found.error);
  const Card* of = nullptr;
  if (found.value.is_character_device) {
    of = l.w.cards.by_numbers(found.value.special_device_major, found.value.special_device_minor);
  }
  if (of == nullptr) return keep_other(l, name);
  add_known(l, name, *of);
}

// Without a device number, the text decides whether it is a DRM client, and of which card.
void Scanner::look_at_unknown(Look& l, std::string_view name, int error) {
  const CardList& cards = l.w.cards;
  if (is_refused(error) || is_passing(error)) l.p.error = error;
  if (one_must_sleep(cards, l.w.may_wake)) {
    const Card* const of = card_behind_link(l.from, name, cards);
    if (of != nullptr) add_known(l, name, *of);
    return;
  }
  const auto text = read_text(l, name);
  if (!text && text.error != ENOENT) l.p.error = text.error;
  const auto info = parse_fdinfo(text ? text.value : std::string_view());
  const Card* const of = info ? card_of(l.from, name, *info, cards) : nullptr;
  if (of == nullptr) return;
  keep(l, name, *of);
  l.w.out.add(*of, l.p.pid, &*info);
}

// Returns false if the process has changed and must be scanned.
bool Scanner::revisit(Process& p, const Process& before, const Walk& w) {
  bool is_same = true;
  if (before.held_count != 0) {
    const sysfs::PathText path{proc_root_, "/", p.pid};
    const auto opened = Directory::open(path.c_str());
    is_same = opened && read_known({w, p, opened.value, {}}, before);
  }
  if (is_same) {
    remember(p, before);
    return true;
  }
  w.out.drop_last(p.pid);
  fresh_->held_ones.erase(fresh_->held_ones.begin() + static_cast<std::ptrdiff_t>(p.first_held),
                          fresh_->held_ones.end());
  fresh_->others.resize(p.first_other);
  p = start(p.pid);
  return false;
}

bool Scanner::read_known(Look l, const Process& before) {
  for (std::size_t i = 0; i < before.held_count; ++i) {
    const Held& h = known_->held_ones[before.first_held + i];
    std::array<char, 16> digits;
    look_at(l, compose_in(digits, {h.descriptor}));
    const bool is_it = l.p.held_count == i + 1 && fresh_->held_ones.back().card == h.card;
    if (!is_it || l.p.error != 0) return false;
  }
  return true;
}

}  // namespace hmn::drm
