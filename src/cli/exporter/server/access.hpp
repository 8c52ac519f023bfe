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
// must not keep other clients waiting. A password that was right is kept as a hash that is quick to
// check.
class Passwords {
 public:
  enum class Answer { right, wrong, unknown };
  using Callback = std::function<void(bool is_right)>;

  explicit Passwords(std::map<std::string, std::string> users);
  Passwords(const Passwords&) = delete;
  Passwords& operator=(const Passwords&) = delete;
  ~Passwords();

  bool empty() const { return users_.empty(); }
  // Returns `right` for what was right before, else `unknown`.
  Answer known(const std::string& user, const std::string& password);
  // Checks later and calls back on another thread; returns false when too many wait.
  bool check(std::string user, std::string password, Callback then);
  // Checks nothing from now on; when it returns, all were called back.
  void stop();

 private:
  struct Question {
    std::string user;
    std::string password;
    Callback then;
  };
  void work();
  bool is_right(const Question& of);

  const std::map<std::string, std::string> users_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Question> waiting_;
  std::map<std::string, std::string> quick_;  // user -> hash of the password that was right
  bool stopped_ = false;
  std::thread worker_;
};

}  // namespace hmn::cli
