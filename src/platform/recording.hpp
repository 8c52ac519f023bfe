// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Requests to the services of this folder and their answers, recorded for later or replayed in
// place of the system's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/mutex.hpp"
#include "platform/system_override.hpp"

namespace hmn::platform {

// Recorded answers about one path.
struct RecordedFile {
  enum Part : unsigned { contents, target, names, status, presence, parts };
  static constexpr int unasked = -1;

  explicit RecordedFile(std::string where) : path(std::move(where)) { errors.fill(unasked); }
  [[nodiscard]] bool has(Part p) const noexcept { return errors[p] == 0; }

  std::string path;
  std::array<int, parts> errors;  // errno; 0: the members below are valid
  bool is_program = false;
  bool is_cut = false;  // `text` is incomplete
  FileStatus about;
  std::string text;
  std::string link;
  std::vector<std::string> entries;
};

struct RecordedRun {
  std::string path;
  std::vector<std::string> arguments;
  Outcome reported;
};

struct RecordedAnswer {
  std::string node;
  DeviceQuestion what;
  int error = 0;
  std::string bytes;
};

class Recording final : public SystemOverride {
 public:
  enum class Use {
    keep,    // the system answers
    replay,  // the recording answers; anything else does not exist
  };

  using Files = std::vector<std::unique_ptr<RecordedFile>>;  // by path

  explicit Recording(Use how) noexcept : how_(how) {}

  // Returns an entry to be filled before a replay.
  RecordedFile& at(std::string_view path);
  // Sets all entries of a replay.
  void set(Files all) noexcept { files_ = std::move(all); }
  void add(RecordedRun r) { runs_.push_back(std::move(r)); }
  void add(RecordedAnswer a) { answers_.push_back(std::move(a)); }
  // Maps paths below `at` without recorded answers to those below `real`, a folder of this system.
  void mount(std::string at, std::string real);
  void set_page_size(std::size_t bytes) noexcept { page_size_ = bytes; }
  [[nodiscard]] bool has_runs() const noexcept { return !runs_.empty(); }

  // Visits the entries of a recording in progress, while none can be added.
  template <class F>
  void look(F&& see) const {
    const std::lock_guard lock(mutex_);
    see(files_, runs_, answers_);
  }
  // Returns 0 for a complete recording, ENOMEM when out of memory, ENOBUFS when the cap was
  // reached.
  [[nodiscard]] int lost() const noexcept { return lost_; }

  ErrnoOr<std::size_t> read_small(const char* path, std::span<char> buffer) noexcept override;
  ErrnoOr<bool> read_whole(const char* path, std::string& out, std::size_t cap) override;
  ErrnoOr<std::size_t> read_link(const char* path, std::span<char> buffer) noexcept override;
  ErrnoOr<FileStatus> status_of(const char* path) noexcept override;
  bool exists(const char* path) noexcept override;
  bool is_executable_file(const char* path) noexcept override;
  int for_each_entry(const char* path, EntryVisitor visit) override;
  int open_directory(const char* path) noexcept override;
  Outcome run(const Command& what, Running really) override;
  ErrnoOr<std::size_t> ask_device(const char* node, DeviceQuestion what,
                                  std::span<std::byte> buffer, Asking really) noexcept override;
  [[nodiscard]] std::size_t page_size(std::size_t real) const noexcept override {
    return page_size_ != 0 ? page_size_ : real;
  }

 private:
  using Part = RecordedFile::Part;
  struct Mounted {
    std::string at;
    std::string real;
  };
  class RealPath;

  [[nodiscard]] Files::const_iterator first_from(std::string_view path) const noexcept;
  [[nodiscard]] const RecordedFile* find(std::string_view path) const noexcept;
  // Returns 0: `out` has the answer; -1: query the system, at `real`.
  int answer(const char* path, Part p, const RecordedFile*& out, RealPath& real) const noexcept;
  template <class F>
  void keep(const char* path, Part p, int error, F&& fill) noexcept;
  void keep_text(const char* path, int error, std::string_view text, bool is_cut) noexcept;
  void count(std::size_t bytes) noexcept;

  const Use how_;
  std::size_t page_size_ = 0;
  mutable Mutex mutex_;  // used by recordings in progress
  std::atomic<int> lost_{0};
  std::size_t kept_bytes_ = 0;
  Files files_;
  std::vector<RecordedRun> runs_;
  std::vector<RecordedAnswer> answers_;
  std::vector<Mounted> mounts_;
};

}  // namespace hmn::platform
