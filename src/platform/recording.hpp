// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the services of this folder were asked and what they answered: kept for later, or given in
// the place of the system.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/mutex.hpp"
#include "platform/stand_in.hpp"

namespace hmn::platform {

// What is known of one path.
struct recorded_file {
  enum part : unsigned { contents, target, names, status, presence, parts };
  static constexpr int unasked = -1;

  explicit recorded_file(std::string where) : path(std::move(where)) { errors.fill(unasked); }
  [[nodiscard]] bool has(part p) const noexcept { return errors[p] == 0; }

  std::string path;
  std::array<int, parts> errors;  // errno; 0: what is below holds
  bool is_program = false;
  bool is_cut = false;  // `text` is a beginning
  file_status about;
  std::string text;
  std::string link;
  std::vector<std::string> entries;
};

struct recorded_run {
  std::string path;
  std::vector<std::string> arguments;
  outcome told;
};

struct recorded_answer {
  std::string node;
  device_question what;
  int error = 0;
  std::string bytes;
};

class recording final : public stand_in {
 public:
  enum class use {
    keep,    // the system answers
    replay,  // what is here answers; what is not here is not there
  };

  explicit recording(use how) noexcept : how_(how) {}

  // To fill one for a replay, before it is used.
  recorded_file& at(std::string_view path);
  void add(recorded_run r) { runs_.push_back(std::move(r)); }
  void add(recorded_answer a) { answers_.push_back(std::move(a)); }
  // Paths below `at` that have no answer of their own are those below `real`, a folder of this
  // system.
  void mount(std::string at, std::string real);
  void set_page_size(std::size_t bytes) noexcept { page_size_ = bytes; }
  [[nodiscard]] bool has_runs() const noexcept { return !runs_.empty(); }

  // Of one that keeps: visits while nothing can be added.
  template <class F>
  void look(F&& see) const {
    const std::lock_guard lock(mutex_);
    see(files_, runs_, answers_);
  }
  // 0; ENOMEM: memory ran out, ENOBUFS: the cap was met. Then something is missing from it.
  [[nodiscard]] int lost() const noexcept { return lost_; }

  errno_or<std::size_t> read_small(const char* path, std::span<char> buffer) noexcept override;
  errno_or<bool> read_whole(const char* path, std::string& out, std::size_t cap) override;
  errno_or<std::size_t> read_link(const char* path, std::span<char> buffer) noexcept override;
  errno_or<file_status> status_of(const char* path) noexcept override;
  bool exists(const char* path) noexcept override;
  bool is_executable_file(const char* path) noexcept override;
  int for_each_entry(const char* path, entry_visitor visit) override;
  int open_directory(const char* path) noexcept override;
  outcome run(const command& what, running really) override;
  errno_or<std::size_t> ask_device(const char* node, device_question what,
                                   std::span<std::byte> room, asking really) noexcept override;
  [[nodiscard]] std::size_t page_size(std::size_t real) const noexcept override {
    return page_size_ != 0 ? page_size_ : real;
  }

 private:
  using part = recorded_file::part;
  using files = std::vector<std::unique_ptr<recorded_file>>;  // by path
  struct mounted {
    std::string at;
    std::string real;
  };
  class real_path;

  [[nodiscard]] files::const_iterator first_from(std::string_view path) const noexcept;
  [[nodiscard]] const recorded_file* find(std::string_view path) const noexcept;
  // 0: `out` has it; -1: the system is to be asked, at `real`.
  int answer(const char* path, part p, const recorded_file*& out, real_path& real) const noexcept;
  template <class F>
  void keep(const char* path, part p, int error, F&& fill) noexcept;
  void keep_text(const char* path, int error, std::string_view text, bool is_cut) noexcept;
  void count(std::size_t bytes) noexcept;

  const use how_;
  std::size_t page_size_ = 0;
  mutable mutex mutex_;  // of one that keeps
  std::atomic<int> lost_{0};
  std::size_t kept_bytes_ = 0;
  files files_;
  std::vector<recorded_run> runs_;
  std::vector<recorded_answer> answers_;
  std::vector<mounted> mounts_;
};

}  // namespace hmn::platform
