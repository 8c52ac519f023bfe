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
constexpr double speedup = 16.0 / 15;
constexpr std::uint64_t few_readings = 3;

constexpr std::uint32_t passes = 8;
// Time whose share of the processor can be saved up for readings in quick succession.
constexpr std::uint64_t max_saved_ns = platform::ns_per_second;

using platform::Directory;

// Beyond this number, descriptors of no card are checked each time instead of remembered.
constexpr std::size_t max_others = std::size_t{1} << 20;

constexpr std::size_t max_mounts = std::size_t{1} << 20;  // bytes

// Holds "fdinfo/4294967295".
class ShortPath {
 public:
  ShortPath(std::string_view folder, std::string_view name) noexcept {
    const auto text = compose_into(std::span(bytes_).first(bytes_.size() - 1), {folder, "/", name});
    bytes_[text.size()] = '\0';
  }
  [[nodiscard]] const char* c_str() const noexcept { return bytes_.data(); }

 private:
  std::array<char, 32> bytes_;
};

bool has_sleeping_card(const CardList& cards, bool may_wake) noexcept {
  const auto all = cards.all();
  return std::ranges::any_of(all, [&](const Card& card) { return must_not_wake(card, may_wake); });
}

// The last resort: resolves a descriptor's target, in a tree whose links are dangling.
const Card* find_card_behind_link(const Directory& folder, std::string_view name,
                             const CardList& cards) {
  std::array<char, 256> target;
  const auto link = folder.read_link(ShortPath("fd", name).c_str(), target);
  if (!link) return nullptr;
  return cards.find_by_node({target.data(), link.value});
}

const Card* find_card(const Directory& folder, std::string_view name, const Fdinfo& info,
                      const CardList& cards) {
  if (const Card* const card = cards.find_by_address(info.pci_address)) return card;
  if (const Card* const card = find_card_behind_link(folder, name, cards)) return card;
  return cards.find_by_driver(info.driver);
}

// /proc lists descriptors in ascending order. In a copied tree, which need not, they are checked
// again.
bool is_next(std::span<const std::uint32_t>& others, std::string_view name) noexcept {
  if (others.empty()) return false;
  const std::uint64_t number = scan::parse_decimal(name).value_or(0);
  while (!others.empty() && others.front() < number) others = others.subspan(1);
  return !others.empty() && others.front() == number;
}

}  // namespace

std::int64_t ScanSchedule::allowed_share(std::uint64_t time_ns) const noexcept {
  return static_cast<std::int64_t>(time_ns / 100 * percent_);
}

void ScanSchedule::begin(std::uint64_t now_ns, std::size_t known_count) noexcept {
  const bool is_later = last_ns_ != 0 && now_ns >= last_ns_;
  const std::uint64_t elapsed_ns = is_later ? now_ns - last_ns_ : 0;
  is_first_ = !is_later || known_count == 0;
  const std::uint64_t covered_ns = std::min(elapsed_ns, interval_ns_);
  const auto count = static_cast<double>(known_count);
  if (interval_ns_ != 0) {
    credit_ +=
        count * speedup * static_cast<double>(covered_ns) / static_cast<double>(interval_ns_);
  }
  credit_ = std::min(credit_, count);
  last_pid_ = 0;
  // Overdue: would be late at the next reading, if the time until then is the same.
  next_ns_ = now_ns + covered_ns - covered_ns / 16;
  last_ns_ = now_ns;
  const std::int64_t saved = allowed_share(max_saved_ns);
  allowed_ns_ = is_first_ ? saved : std::min(allowed_ns_, saved) + allowed_share(elapsed_ns);
  // At least so much that no reading is late for the next one.
  new_allowed_ns_ = std::max(allowed_ns_, static_cast<std::int64_t>(elapsed_ns / 4));
  is_spent_ = false;
}

// Listing may take at most half of the time, unless much is left.
bool ScanSchedule::may_list() const noexcept {
  if (is_first_ || !is_limited() || allowed_ns_ > allowed_share(max_saved_ns) / 2) return true;
  return allowed_ns_ > 0 && allowed_share(last_ns_ - last_listing_ns_) / 2 >=
                                static_cast<std::int64_t>(listing_used_ns_);
}

void ScanSchedule::count_listing(std::uint64_t used_ns) noexcept {
  last_listing_ns_ = last_ns_;
  listing_used_ns_ = used_ns;
  count_search(used_ns);
}

bool ScanSchedule::may_add() const noexcept {
  return is_first_ || !is_limited() || new_allowed_ns_ > 0;
}

void ScanSchedule::count_search(std::uint64_t used_ns) noexcept {
  if (is_first_) return;
  allowed_ns_ -= static_cast<std::int64_t>(used_ns);
  new_allowed_ns_ -= static_cast<std::int64_t>(used_ns);
}

Search ScanSchedule::choose_search(std::uint32_t pid, std::uint64_t searched_ns, bool is_client,
                                   Search default_search) noexcept {
  const bool must_search = is_client && is_overdue(searched_ns);
  is_spent_ = is_spent_ || (is_limited() && allowed_ns_ <= 0);
  if (is_spent_ || pid <= resume_pid_) return must_search ? Search::all : Search::none;
  last_pid_ = pid;
  if (!is_behind_) return is_due(pid, searched_ns) ? Search::all : default_search;
  return must_search || pid % passes == pass_ ? Search::all
                                              : std::max(default_search, Search::count);
}

bool ScanSchedule::is_overdue(std::uint64_t searched_ns) const noexcept {
  return searched_ns > last_ns_ || next_ns_ - searched_ns > interval_ns_;
}

bool ScanSchedule::is_due(std::uint32_t pid, std::uint64_t searched_ns) noexcept {
  if (pid > cursor_ && credit_ >= 1) {
    credit_ -= 1;
    cursor_ = pid;
    return true;
  }
  return is_overdue(searched_ns);
}

void ScanSchedule::end() noexcept {
  if (is_spent_) {
    is_behind_ = true;
    resume_pid_ = std::max(resume_pid_, last_pid_);
    return;
  }
  if (is_behind_) pass_ = (pass_ + 1) % passes;
  is_behind_ = false;
  resume_pid_ = 0;
  if (cursor_ < last_pid_ && credit_ < 1) return;
  cursor_ = 0;
  credit_ = 0;
}

bool ScanSchedule::is_slow(std::uint64_t now_ns) const noexcept {
  return last_ns_ == 0 || now_ns - last_ns_ > interval_ns_ / few_readings;
}

void Scanner::forget() noexcept {
  previous_->clear();
}

// The processor time of this thread is measured only where it is limited.
std::uint64_t Scanner::used_ns() const noexcept {
  return schedule_.is_limited() ? platform::thread_cpu_ns() : 0;
}

int Scanner::list_pids(std::uint64_t now_ns) {
  if (!pids_.empty() && !schedule_.may_list()) return 0;
  const std::uint64_t start_ns = used_ns();
  pids_.clear();
  if (const int error = procfs::list_pids(proc_root_.c_str(), pids_); error != 0) {
    pids_.clear();
    return error;
  }
  std::ranges::sort(pids_);
  is_hidden_ = hides_others();
  own_pid_ = find_own_pid();
  listed_ns_ = now_ns;
  schedule_.count_listing(used_ns() - start_ns);
  return 0;
}

std::uint32_t Scanner::find_own_pid() const {
  std::array<char, 16> target;
  const auto link = platform::read_link(sysfs::PathText{proc_root_, "/self"}.c_str(), target);
  return scan::parse_number<std::uint32_t>({target.data(), link ? link.value : 0}).value_or(0);
}

// Every PID namespace has a process 1; a copied tree may lack it.
bool Scanner::hides_others() {
  if (pids_.empty() || pids_.front() == 1) return false;
  const sysfs::PathText path{proc_root_, "/self/mountinfo"};
  std::string mounts;
  return platform::read_whole(path.c_str(), mounts, max_mounts) &&
         mounts.find("hidepid=") != std::string::npos;
}

Coverage Scanner::scan(const CardList& cards, bool may_wake, std::uint64_t now_ns,
                       std::uint64_t deadline_ns, ClientList& out, ScanScope scope) {
  const Walk walk{cards, may_wake, out, now_ns, scope};
  Coverage coverage;
  out.clear();
  out.start_ns = now_ns;
  out.suspended_ns = platform::suspended_ns();
  schedule_.begin(now_ns, previous_->processes.size());
  coverage.tree_error = list_pids(now_ns);
  if (coverage.tree_error != 0) return coverage;
  coverage.hides_others = is_hidden_;
  coverage.oldest_search_ns = listed_ns_;
  current_->clear();
  auto it = previous_->processes.begin();
  for (std::uint32_t& pid : pids_) {
    while (it != previous_->processes.end() && it->pid < pid) ++it;
    const Process* const previous =
        it != previous_->processes.end() && it->pid == pid ? &*it : nullptr;
    if (platform::monotonic_ns() > deadline_ns) {
      ++coverage.not_reached;
      if (previous != nullptr) carry_over(*previous);
      continue;
    }
    if (previous == nullptr && !schedule_.may_add()) {
      ++coverage.waiting;
      continue;
    }
    Process process = make_process(pid);
    if (update_process(process, previous, walk)) {
      current_->processes.push_back(process);
      count(process, walk, coverage);
    } else {
      pid = 0;
    }
  }
  const auto removed = std::ranges::remove(pids_, 0U);
  pids_.erase(removed.begin(), removed.end());
  schedule_.end();
  coverage.is_outdated = schedule_.is_outdated(coverage.oldest_search_ns);
  std::swap(previous_, current_);
  out.finish();
  return coverage;
}

int Scanner::scan_process(std::string_view name, std::uint32_t pid, const CardList& cards,
                          bool may_wake, ClientList& out) {
  out.clear();
  out.start_ns = platform::monotonic_ns();
  out.suspended_ns = platform::suspended_ns();
  current_->clear();
  Process process = make_process(pid);
  search_process(process, name, nullptr, {cards, may_wake, out, out.start_ns, ScanScope::complete});
  out.finish();
  return is_gone(process.error) ? ESRCH : process.error;
}

Scanner::Process Scanner::make_process(std::uint32_t pid) const noexcept {
  Process process;
  process.pid = pid;
  process.first_descriptor = current_->descriptors.size();
  process.first_other = current_->others.size();
  return process;
}

bool Scanner::update_process(Process& process, const Process* previous, const Walk& walk) {
  Search search_mode = Search::all;
  if (previous != nullptr) {
    const Search default_search = is_transient(previous->error)       ? Search::all
                                  : walk.scope == ScanScope::complete ? Search::count
                                                                      : Search::none;
    search_mode = schedule_.choose_search(process.pid, previous->searched_ns,
                                          previous->descriptor_count != 0, default_search);
  }
  // A process with clients costs as much to read again, so only the others count as searched.
  const bool is_search =
      search_mode != Search::none && (previous == nullptr || previous->descriptor_count == 0);
  const std::uint64_t start_ns = is_search ? used_ns() : 0;
  if (search_mode == Search::count && has_same_count(*previous)) search_mode = Search::none;
  if (search_mode != Search::none || !reread_process(process, *previous, walk)) {
    std::array<char, 16> digits;
    search_process(process, compose_into(digits, {process.pid}),
                   search_mode == Search::all ? nullptr : previous, walk);
  }
  if (is_search) schedule_.count_search(used_ns() - start_ns);
  if (!is_gone(process.error)) return true;
  walk.clients.drop_last(process.pid);
  return false;
}

bool Scanner::has_same_count(const Process& previous) const noexcept {
  const sysfs::PathText path{proc_root_, "/", previous.pid, "/fd"};
  const auto status = platform::read_status(path.c_str());
  const std::uint64_t known_count = std::uint64_t{previous.descriptor_count} + previous.other_count;
  return status && status.value.inode == previous.inode && status.value.size == known_count &&
         known_count != 0;
}

void Scanner::count(const Process& process, const Walk& walk, Coverage& coverage) const noexcept {
  if (process.is_kernel_thread) return;
  ++coverage.processes;
  if (process.searched_ns != walk.now_ns) {
    ++coverage.remembered;
    coverage.oldest_search_ns = std::min(coverage.oldest_search_ns, process.searched_ns);
  }
  coverage.has_own = coverage.has_own || (process.error == 0 && process.pid == own_pid_);
  if (process.error == 0) return;
  ++coverage.unreadable;
  coverage.error = process.error;
}

void Scanner::remember(Process& process, const Process& previous) {
  process.inode = previous.inode;
  process.searched_ns = previous.searched_ns;
  process.error = previous.error;
  process.is_kernel_thread = previous.is_kernel_thread;
  process.other_count = previous.other_count;
  const auto first = previous_->others.begin() + static_cast<std::ptrdiff_t>(previous.first_other);
  current_->others.insert(current_->others.end(), first, first + previous.other_count);
}

// Keeps a process that this walk did not reach. Its clients are read when one does.
void Scanner::carry_over(const Process& previous) {
  Process process = make_process(previous.pid);
  remember(process, previous);
  process.descriptor_count = previous.descriptor_count;
  for (const CardDescriptor& descriptor :
       std::span(previous_->descriptors)
           .subspan(previous.first_descriptor, previous.descriptor_count)) {
    current_->descriptors.push_back(descriptor);
  }
  current_->processes.push_back(process);
}

void Scanner::search_process(Process& process, std::string_view name, const Process* previous,
                             const Walk& walk) {
  const sysfs::PathText path{proc_root_, "/", name};
  const auto folder = Directory::open(path.c_str());
  process.error = folder.error;
  if (!folder) return;
  process.inode = folder.value.read_status("fd").value.inode;
  Inspection inspection{walk, process, folder.value, {}};
  process.searched_ns = walk.now_ns;
  if (previous != nullptr && previous->inode == process.inode) {
    inspection.others =
        std::span(previous_->others).subspan(previous->first_other, previous->other_count);
    process.searched_ns = previous->searched_ns;
  }
  inspect_descriptors(inspection);
  if (process.error != 0) walk.clients.mark_last_partial(process.pid);
}

void Scanner::inspect_descriptors(Inspection& inspection) {
  const auto visit = [&](std::string_view name) {
    return inspect_descriptor(inspection, name), true;
  };
  const auto links = inspection.folder.open_folder("fd");
  inspection.links = &links.value;
  int error = links ? links.value.for_each_entry(visit) : links.error;
  inspection.links = nullptr;
  if (is_refused(error)) {
    // The folder of links may be unreadable while that of texts is readable.
    error = inspection.folder.for_each_entry("fdinfo", [&](std::string_view name) {
      return inspect_unknown(inspection, name, 0), true;
    });
    if (error != 0) note_kernel_thread(inspection);
  }
  if (error != 0) inspection.process.error = error;
}

void Scanner::note_kernel_thread(const Inspection& inspection) {
  const auto stat = inspection.folder.read_small("stat", text_);
  inspection.process.is_kernel_thread =
      stat && procfs::is_kernel_thread({text_.data(), stat.value});
}

// Text that fills the buffer may continue, so it is cut: unterminated, it counts as truncated.
platform::ErrnoOr<std::string_view> Scanner::read_text(const Inspection& inspection,
                                                       std::string_view name) {
  const auto text = inspection.folder.read_small(ShortPath("fdinfo", name).c_str(), text_);
  return {{text_.data(), std::min(text.value, text_.size() - 1)}, text.error};
}

void Scanner::store_descriptor(Inspection& inspection, std::string_view name, const Card& card) {
  const auto descriptor = scan::parse_decimal(name);
  if (!descriptor) return;
  current_->descriptors.push_back({static_cast<std::uint32_t>(*descriptor), card.slot});
  ++inspection.process.descriptor_count;
}

void Scanner::store_other(Inspection& inspection, std::string_view name) {
  const auto descriptor = scan::parse_decimal(name);
  if (!descriptor || current_->others.size() >= max_others) return;
  current_->others.push_back(static_cast<std::uint32_t>(*descriptor));
  ++inspection.process.other_count;
}

void Scanner::add_client(Inspection& inspection, std::string_view name, const Card& card) {
  store_descriptor(inspection, name, card);
  if (must_not_wake(card, inspection.walk.may_wake)) {
    inspection.walk.clients.add_asleep(card.slot);
    return;
  }
  const auto text = read_text(inspection, name);
  // ENOENT: closed in the meantime. ESRCH would mean the whole process.
  if (text.error == ENOENT) return;
  if (!text) {
    inspection.process.error = text.error;
    inspection.walk.clients.add_unread(card, inspection.process.pid, text.error);
    return;
  }
  const auto info = parse_fdinfo(text.value);
  if (!info && is_cut(text.value))
    return inspection.walk.clients.add_unread(card, inspection.process.pid, EBADMSG);
  inspection.walk.clients.add(card, inspection.process.pid, info ? &*info : nullptr);
}

void Scanner::inspect_descriptor(Inspection& inspection, std::string_view name) {
  if (is_next(inspection.others, name)) return store_other(inspection, name);
  const auto status = inspection.links != nullptr
                          ? inspection.links->read_status(name.data())
                          : inspection.folder.read_status(ShortPath("fd", name).c_str());
  if (!status) return inspect_unknown(inspection, name, status.error);
  const Card* card = nullptr;
  if (status.value.is_character_device) {
    card = inspection.walk.cards.find_by_numbers(status.value.special_device_major,
                                                 status.value.special_device_minor);
  }
  if (card == nullptr) return store_other(inspection, name);
  add_client(inspection, name, *card);
}

// Without a device number, the text decides whether it is a DRM client, and of which card.
void Scanner::inspect_unknown(Inspection& inspection, std::string_view name, int error) {
  const CardList& cards = inspection.walk.cards;
  if (is_refused(error) || is_transient(error)) inspection.process.error = error;
  if (has_sleeping_card(cards, inspection.walk.may_wake)) {
    const Card* const card = find_card_behind_link(inspection.folder, name, cards);
    if (card != nullptr) add_client(inspection, name, *card);
    return;
  }
  const auto text = read_text(inspection, name);
  if (!text && text.error != ENOENT) inspection.process.error = text.error;
  const auto info = parse_fdinfo(text ? text.value : std::string_view());
  const Card* const card = info ? find_card(inspection.folder, name, *info, cards) : nullptr;
  if (card == nullptr) return;
  store_descriptor(inspection, name, *card);
  inspection.walk.clients.add(*card, inspection.process.pid, &*info);
}

// Returns false if the process has changed and must be scanned.
bool Scanner::reread_process(Process& process, const Process& previous, const Walk& walk) {
  bool is_same = true;
  if (previous.descriptor_count != 0) {
    const sysfs::PathText path{proc_root_, "/", process.pid};
    const auto folder = Directory::open(path.c_str());
    is_same = folder && read_known({walk, process, folder.value, {}}, previous);
  }
  if (is_same) {
    remember(process, previous);
    return true;
  }
  walk.clients.drop_last(process.pid);
  current_->descriptors.erase(
      current_->descriptors.begin() + static_cast<std::ptrdiff_t>(process.first_descriptor),
      current_->descriptors.end());
  current_->others.resize(process.first_other);
  process = make_process(process.pid);
  return false;
}

bool Scanner::read_known(Inspection inspection, const Process& previous) {
  for (std::size_t i = 0; i < previous.descriptor_count; ++i) {
    const CardDescriptor& descriptor = previous_->descriptors[previous.first_descriptor + i];
    std::array<char, 16> digits;
    inspect_descriptor(inspection, compose_into(digits, {descriptor.number}));
    const bool is_same_card = inspection.process.descriptor_count == i + 1 &&
                              current_->descriptors.back().card == descriptor.card;
    if (!is_same_card || inspection.process.error != 0) return false;
  }
  return true;
}

}  // namespace hmn::drm
