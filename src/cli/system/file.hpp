// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/expected.hpp"
#include "cli/system/streams.hpp"

namespace hmn::cli {

// Paths are UTF-8 on every system.

extern const std::string_view path_separators;
// Returns the part behind the last separator.
std::string_view file_name(std::string_view path);

bool path_exists(const std::string& path);
bool is_folder(const std::string& path);
// Returns the reason why a file is not readable; none if it is.
std::optional<std::string> explain_unreadable(const std::string& path);
std::string absolute_path(const std::string& path);
// Returns whether two paths lead to the same file, also through links; the file need not exist yet.
bool is_same_file(const std::string& path, const std::string& other);

// POSIX: follows links; the file at their end need not exist yet.
std::string follow_links(std::string path);
// POSIX: returns the path to open: another one if the path means descriptor 1, as /dev/stdout does.
std::string openable_path(const std::string& path);

// Reads at most 1 MiB; returns none for an unreadable file.
std::optional<std::string> read_text_file(const std::string& path);
// Returns sorted names, without those that begin with a dot.
std::vector<std::string> list_folder(const std::string& path);

// Regular file, open for reading.
class InputFile {
 public:
  static Expected<InputFile> open(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  // Reads the first `max_bytes` bytes, or the whole of a shorter file.
  Expected<std::string> beginning(std::uint64_t max_bytes) const;

 private:
  static constexpr std::intptr_t closed = -1;

  InputFile(std::string path, std::intptr_t file, std::uint64_t size)
      : path_(std::move(path)), file_(file), size_(size) {}

  std::string path_;
  std::intptr_t file_;  // a descriptor, or a handle of Windows
  std::uint64_t size_;
};

// Reads a file of at most `max_bytes` bytes.
Expected<std::string> read_whole(const std::string& path, std::uint64_t max_bytes);

// File that an option names for writing.
struct OutputTarget {
  const char* option = "";
  std::string path;  // "-": standard output
  // Endings of names that mark what this option writes: an existing file of another name is
  // replaced with --force only.
  std::span<const std::string_view> suffixes;
  bool force = false;
  bool accepts_any_name = false;  // a new file may have any name

  bool may_replace(std::string_view name) const;
};

// `file`: where the target's path leads.
Failure already_exists_error(const OutputTarget& target, const std::string& file);
// Fails for a new file whose name has an ending other than those of what the option
// writes.
std::optional<Failure> check_new_name(const OutputTarget& target, std::string_view file);
std::optional<Failure> write_to_stream(Stream stream, std::string_view text);

// Checks, before the text is made and without opening the file, that it can be written.
std::optional<Failure> check_writable(const OutputTarget& target);

enum class Readers { owner, by_umask, everyone };

// Writes a file, completely or not at all. An existing file passes on its owner and its mode;
// `readers` is for a new one (on Windows the folder determines it). A file whose folder lets no
// other take its place, and what is not a regular file, is written in place.
std::optional<Failure> write_file(const OutputTarget& target, std::string_view text,
                                  Readers readers = Readers::by_umask);

// File that is written piece by piece. It is created on opening, but keeps its content until the
// first write.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  bool is_good() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  // Appends the text, completely or not at all where the file is a regular one.
  void write(std::string_view text);

 private:
  std::uint64_t length_ = 0;
  std::intptr_t file_ = -1;  // a descriptor, or a handle of Windows
  bool has_written_ = false;
  std::string error_;
};

}  // namespace hmn::cli
