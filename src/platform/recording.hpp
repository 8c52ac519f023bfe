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
  static constexpr int not_recorded = -1;

  explicit RecordedFile(std::string file_path) : path(std::move(file_path)) {
    errors.fill(not_recorded);
  }
  [[nodiscard]] bool has(Part p) const noexcept { return errors[p] == 0; }

  std::string path;
  std::array<int, parts> errors;  // errno; 0: the members below are valid
  bool is_program = false;
  bool is_cut = false;  // `text` is incomplete
  FileStatus file_status;
  std::string text;
  std::string link;
  std::vector<std::string> entries;
};

struct RecordedRun {
  std::string path;
  std::vector<std::string> arguments;
  Outcome outcome;
};

struct RecordedAnswer {
  std::string node;
  DeviceQuery query;
  int error = 0;
  std::string bytes;
};

class Recording final : public SystemOverride {
 public:
  enum class Mode {
    record,  // the system answers
    replay,  // the recording answers; anything else does not exist
  };

  using Files = std::vector<std::unique_ptr<RecordedFile>>;  // by path

  explicit Recording(Mode mode) noexcept : mode_(mode) {}

  // Returns an entry to be filled before a replay.
  RecordedFile& at(std::string_view path);
  // Sets all entries of a replay.
  void set(Files files) noexcept { files_ = std::move(files); }
  void add(RecordedRun r) { runs_.push_back(std::move(r)); }
  void add(RecordedAnswer a) { answers_.push_back(std::move(a)); }
  // Maps paths below `path` without recorded answers to those below `real_path`, a folder of this
  // system.
  void mount(std::string path, std::string real_path);
  void set_page_size(std::size_t bytes) noexcept { page_size_ = bytes; }
  [[nodiscard]] bool has_runs() const noexcept { return !runs_.empty(); }

  // Visits the entries of a recording in progress, while none can be added.
  template <class F>
  void visit(F&& visitor) const {
    const std::lock_guard lock(mutex_);
    visitor(files_, runs_, answers_);
  }
  // Returns 0 for a complete recording, ENOMEM when out of memory, ENOBUFS when the cap was
  // reached.
  [[nodiscard]] int error() const noexcept { return error_; }

  ErrnoOr<std::size_t> read_small(const char* path, std::span<char> buffer) noexcept override;
  ErrnoOr<bool> read_whole(const char* path, std::string& out, std::size_t cap) override;
  ErrnoOr<std::size_t> read_link(const char* path, std::span<char> buffer) noexcept override;
  ErrnoOr<FileStatus> read_status(const char* path) noexcept override;
  bool exists(const char* path) noexcept override;
  bool is_executable_file(const char* path) noexcept override;
  int for_each_entry(const char* path, EntryVisitor visit) override;
  int open_directory(const char* path) noexcept override;
  Outcome run(const Command& command, RunFunction run_real) override;
  ErrnoOr<std::size_t> query_device(const char* node, DeviceQuery query,
                                    std::span<std::byte> buffer,
                                    QueryFunction query_real) noexcept override;
  [[nodiscard]] std::size_t page_size(std::size_t system_size) const noexcept override {
    return page_size_ != 0 ? page_size_ : system_size;
  }

 private:
  using Part = RecordedFile::Part;
  struct Mount {
    std::string path;
    std::string real_path;
  };
  class RealPath;

  [[nodiscard]] Files::const_iterator find_position(std::string_view path) const noexcept;
  [[nodiscard]] const RecordedFile* find(std::string_view path) const noexcept;
  // Returns 0: `file` has the answer; -1: ask the system, at `real_path`; else errno.
  int find_answer(const char* path, Part part, const RecordedFile*& file,
                  RealPath& real_path) const noexcept;
  template <class F>
  void record(const char* path, Part part, int error, F&& fill) noexcept;
  void record_text(const char* path, int error, std::string_view text, bool is_cut) noexcept;
  void count_bytes(std::size_t bytes) noexcept;

  const Mode mode_;
  std::size_t page_size_ = 0;
  mutable Mutex mutex_;  // used by recordings in progress
  std::atomic<int> error_{0};
  std::size_t recorded_bytes_ = 0;
  Files files_;
  std::vector<RecordedRun> runs_;
  std::vector<RecordedAnswer> answers_;
  std::vector<Mount> mounts_;
};

}  // namespace hmn::platform
