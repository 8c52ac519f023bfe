// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/user_names.hpp"

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cli/system/process.hpp"

namespace hmn::cli {

struct user_names::shared {
  // Where users have no numbers, they are known by their processes.
  using key = std::pair<std::optional<std::uint32_t>, std::uint64_t>;
  struct search_for {
    key of;
    std::uint32_t pid;
  };

  void search() {
    std::unique_lock lock(mutex);
    while (!wanted.empty()) {
      const auto [of, pid] = wanted.back();
      wanted.pop_back();
      lock.unlock();
      auto name = process_user(pid, of.first);
      lock.lock();
      names[of] = std::move(name);
    }
    is_searching = false;
    is_done.notify_all();
  }

  std::mutex mutex;
  std::condition_variable is_done;
  std::map<key, std::optional<std::string>> names;
  std::vector<search_for> wanted;
  bool is_searching = false;
};

user_names::user_names(bool is_simulated)
    : shared_(is_simulated ? nullptr : std::make_shared<shared>()) {}

std::optional<std::string> user_names::of(const hypomnesis::usage& row, clock::time_point until) {
  const auto number = row.uid ? std::optional(std::to_string(*row.uid)) : std::nullopt;
  if (!shared_ || has(row.notes, hypomnesis::note::foreign_pid)) return number;
  const shared::key key{row.uid, row.uid ? 0 : row.process_key.value_or(row.pid)};
  constexpr std::size_t most_names = 1000;
  std::unique_lock lock(shared_->mutex);
  if (shared_->names.size() > most_names) shared_->names.clear();
  const auto [at, is_new] = shared_->names.try_emplace(key, number);
  if (!is_new) return at->second;
  shared_->wanted.push_back({key, row.pid});
  if (shared_->is_searching) return number;  // the one before is late
  try {
    std::thread([in = shared_] { in->search(); }).detach();
  } catch (const std::system_error&) {
    return number;
  }
  shared_->is_searching = true;
  shared_->is_done.wait_until(lock, until, [this] { return !shared_->is_searching; });
  return shared_->names[key];
}

}  // namespace hmn::cli
