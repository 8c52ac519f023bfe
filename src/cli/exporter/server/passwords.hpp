// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace hmn::cli {

// Checks passwords against bcrypt hashes, on a thread of its own: a check takes long by design, and
// must not keep other clients waiting. A correct password is cached as a hash that is quick to
// check.
class PasswordChecker {
 public:
  enum class Answer { right, wrong, unknown };
  using Callback = std::function<void(bool is_right)>;

  explicit PasswordChecker(std::map<std::string, std::string> users);
  PasswordChecker(const PasswordChecker&) = delete;
  PasswordChecker& operator=(const PasswordChecker&) = delete;
  ~PasswordChecker();

  bool empty() const { return users_.empty(); }
  // Returns `right` for what was right before, else `unknown`.
  Answer check_cached(const std::string& user, const std::string& password);
  // Checks later and calls back on another thread; returns false when too many wait.
  bool check(std::string user, std::string password, Callback callback);
  // Checks nothing from now on; when it returns, all were called back.
  void stop();

 private:
  struct LoginAttempt {
    std::string user;
    std::string password;
    Callback callback;
  };
  void work();
  bool is_right(const LoginAttempt& attempt);

  const std::map<std::string, std::string> users_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<LoginAttempt> queue_;
  std::map<std::string, std::string> quick_hashes_;  // user -> hash of the password that was right
  bool is_stopped_ = false;
  std::thread worker_;
};

}  // namespace hmn::cli
