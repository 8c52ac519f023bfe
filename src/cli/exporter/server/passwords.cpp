// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server/passwords.hpp"

#include <crypt.h>

#include <array>
#include <memory>
#include <utility>

namespace hmn::cli {
namespace {

constexpr std::size_t max_queue_size = 32;
// Of an unknown password: an unknown user takes as long to refuse as a known one.
constexpr const char* dummy_hash = "$2y$10$......................ABCDEFGHIJKLMNOPQRSTUVWXYZabcde";

std::string hash_password(const std::string& password, const std::string& setting) {
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
  return !hash.empty() && hash.front() != '*' && is_same(hash_password(password, hash), hash);
}

// A hash with a random salt and the fewest rounds: below 2 ms.
std::string make_quick_hash(const std::string& password) {
  std::array<char, CRYPT_GENSALT_OUTPUT_SIZE> salt{};
  if (crypt_gensalt_rn("$5$", 1000, nullptr, 0, salt.data(), static_cast<int>(salt.size())) ==
      nullptr)
    return {};
  return hash_password(password, salt.data());
}

}  // namespace

PasswordChecker::PasswordChecker(std::map<std::string, std::string> users)
    : users_(std::move(users)) {
  if (!users_.empty()) worker_ = std::thread([this] { work(); });
}

PasswordChecker::~PasswordChecker() {
  stop();
}

PasswordChecker::Answer PasswordChecker::check_cached(const std::string& user,
                                                      const std::string& password) {
  std::string hash;
  {
    const std::lock_guard lock(mutex_);
    const auto it = quick_hashes_.find(user);
    if (it == quick_hashes_.end()) return Answer::unknown;
    hash = it->second;
  }
  return matches(password, hash) ? Answer::right : Answer::unknown;
}

bool PasswordChecker::check(std::string user, std::string password, Callback callback) {
  const std::lock_guard lock(mutex_);
  if (is_stopped_ || queue_.size() >= max_queue_size) return false;
  queue_.push_back({std::move(user), std::move(password), std::move(callback)});
  changed_.notify_one();
  return true;
}

void PasswordChecker::stop() {
  std::deque<LoginAttempt> left;
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    left.swap(queue_);
    changed_.notify_one();
  }
  for (const auto& attempt : left) attempt.callback(false);
  if (worker_.joinable()) worker_.join();
}

void PasswordChecker::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_stopped_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const auto attempt = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    attempt.callback(is_right(attempt));
  }
}

bool PasswordChecker::is_right(const LoginAttempt& attempt) {
  // Asked again by a client that waited for the first answer.
  if (check_cached(attempt.user, attempt.password) == Answer::right) return true;
  const auto it = users_.find(attempt.user);
  const bool is_user = it != users_.end();
  const bool is_right = matches(attempt.password, is_user ? it->second : dummy_hash);
  if (!is_user || !is_right) return false;
  auto hash = make_quick_hash(attempt.password);
  const std::lock_guard lock(mutex_);
  if (!hash.empty() && hash.front() != '*') quick_hashes_[attempt.user] = std::move(hash);
  return true;
}

}  // namespace hmn::cli
