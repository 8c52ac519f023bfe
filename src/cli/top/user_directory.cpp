// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/user_directory.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "cli/system/process_facts.hpp"

namespace hmn::cli::top {
namespace {

// What a directory on the same machine needs, so that most first readings have names.
constexpr std::chrono::milliseconds patience_for_name(20);

}  // namespace

struct user_directory::shared {
  std::mutex mutex;
  std::condition_variable is_known;
  std::map<std::uint32_t, std::string> names;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> wanted;  // pid, uid
  bool is_searching = false;
};

namespace {

template <class Shared>
void search(const std::shared_ptr<Shared>& in) {
  std::unique_lock lock(in->mutex);
  while (!in->wanted.empty()) {
    const auto [pid, uid] = in->wanted.back();
    in->wanted.pop_back();
    lock.unlock();
    auto name = process_user(pid, uid);
    lock.lock();
    if (name) in->names[uid] = *std::move(name);
  }
  in->is_searching = false;
  in->is_known.notify_all();
}

}  // namespace

user_directory::user_directory() : shared_(std::make_shared<shared>()) {}

std::string user_directory::of(std::uint32_t pid, std::uint32_t uid) {
  std::unique_lock lock(shared_->mutex);
  if (const auto found = shared_->names.find(uid); found != shared_->names.end())
    return found->second;
  shared_->names[uid] = fmt::to_string(uid);
  shared_->wanted.emplace_back(pid, uid);
  if (!shared_->is_searching) {
    shared_->is_searching = true;
    std::thread([in = shared_] { search(in); }).detach();
  }
  const auto is_done = [this] { return !shared_->is_searching; };
  shared_->is_known.wait_for(lock, patience_for_name, is_done);
  return shared_->names[uid];
}

}  // namespace hmn::cli::top
