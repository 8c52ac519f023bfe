// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server/access.hpp"

#include <crypt.h>

#include <array>
#include <memory>
#include <utility>

namespace hmn::cli {
namespace {

constexpr std::size_t most_waiting = 32;
// Of an unknown password: an unknown user takes as long to refuse as a known one.
constexpr const char* nobody = "$2y$10$......................ABCDEFGHIJKLMNOPQRSTUVWXYZabcde";

std::string hash_of(const std::string& password, const std::string& setting) {
  const auto data = std::make_unique<crypt_data>();
  const char* hash = crypt_r(password.c_str(), setting.c_str(), data.get());
  return hash == nullptr ? std::string("*") : std::string(hash);
}

// Takes the same time wherever the texts differ.
bool is_same(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

bool matches(const std::string& password, const std::string& hash) {
  return !hash.empty() && hash.front() != '*' && is_same(hash_of(password, hash), hash);
}

// A hash with a random salt and the fewest rounds: below 2 ms.
std::string quick_hash(const std::string& password) {
  std::array<char, CRYPT_GENSALT_OUTPUT_SIZE> salt{};
  if (crypt_gensalt_rn("$5$", 1000, nullptr, 0, salt.data(), static_cast<int>(salt.size())) ==
      nullptr)
    return {};
  return hash_of(password, salt.data());
}

}  // namespace

Passwords::Passwords(std::map<std::string, std::string> users) : users_(std::move(users)) {
  if (!users_.empty()) worker_ = std::thread([this] { work(); });
}

Passwords::~Passwords() {
  stop();
}

Passwords::Answer Passwords::known(const std::string& user, const std::string& password) {
  std::string hash;
  {
    const std::lock_guard lock(mutex_);
    const auto found = quick_.find(user);
    if (found == quick_.end()) return Answer::unknown;
    hash = found->second;
  }
  return matches(password, hash) ? Answer::right : Answer::unknown;
}

bool Passwords::check(std::string user, std::string password, Callback then) {
  const std::lock_guard lock(mutex_);
  if (stopped_ || waiting_.size() >= most_waiting) return false;
  waiting_.push_back({std::move(user), std::move(password), std::move(then)});
  changed_.notify_one();
  return true;
}

void Passwords::stop() {
  std::deque<Question> left;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    left.swap(waiting_);
    changed_.notify_one();
  }
  for (const auto& each : left) each.then(false);
  if (worker_.joinable()) worker_.join();
}

void Passwords::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const auto one = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    one.then(is_right(one));
  }
}

bool Passwords::is_right(const Question& of) {
  // Asked again by a client that waited for the first answer.
  if (known(of.user, of.password) == Answer::right) return true;
  const auto found = users_.find(of.user);
  const bool is_user = found != users_.end();
  const bool is_right = matches(of.password, is_user ? found->second : nobody);
  if (!is_user || !is_right) return false;
  auto quick = quick_hash(of.password);
  const std::lock_guard lock(mutex_);
  if (!quick.empty() && quick.front() != '*') quick_[of.user] = std::move(quick);
  return true;
}

}  // namespace hmn::cli
