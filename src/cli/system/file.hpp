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

bool is_there(const std::string& path);
bool is_folder(const std::string& path);
// Returns none for a readable file.
std::optional<std::string> why_unreadable(const std::string& path);
std::string absolute_path(const std::string& path);
// Returns whether two paths are of one file, through links too, which need not exist yet.
bool is_same_file(const std::string& path, const std::string& other);

// POSIX: returns the file that a path leads to through links, which need not exist yet.
std::string link_target(std::string path);
// POSIX: returns the path to open, which is another where descriptor 1 is meant, as by /dev/stdout.
std::string path_to_open(const std::string& path);

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
  // Reads the first `most` bytes, or the whole of a shorter file.
  Expected<std::string> beginning(std::uint64_t most) const;

 private:
  static constexpr std::intptr_t closed = -1;

  InputFile(std::string path, std::intptr_t file, std::uint64_t size)
      : path_(std::move(path)), file_(file), size_(size) {}

  std::string path_;
  std::intptr_t file_;  // a descriptor, or a handle of Windows
  std::uint64_t size_;
};

// Reads a file of at most `most` bytes.
Expected<std::string> read_whole(const std::string& path, std::uint64_t most);

// File that an option names for writing.
struct FileToWrite {
  const char* option = "";
  std::string path;  // "-": standard output
  // Endings of names that mark what this option writes: an existing file of another name is
  // replaced with --force only.
  std::span<const std::string_view> suffixes;
  bool force = false;
  bool takes_any_new = false;  // a new file may have any name

  bool may_replace(std::string_view name) const;
};

// Takes in `file` where the path leads.
Failure is_there_already(const FileToWrite& to, const std::string& file);
// Returns why no new file of that name is made: it has an ending, and not that of what the option
// writes.
std::optional<Failure> why_wrong_name(const FileToWrite& to, std::string_view file);
std::optional<Failure> write_to_stream(Stream to, std::string_view text);

// Returns why the file cannot be written before its text is made, without opening it.
std::optional<Failure> why_not_writable(const FileToWrite& to);

enum class Readers { owner, by_umask, everyone };

// Writes a file, completely or not at all. An existing file passes on its owner and its mode;
// `allowed` is for a new one (on Windows the folder determines it). A file whose folder lets no
// other take its place, and what is no regular file, is written in place.
std::optional<Failure> write_file(const FileToWrite& to, std::string_view text,
                                  Readers allowed = Readers::by_umask);

// File that is written bit by bit. It is created when it is opened, but keeps its content until the
// first writing.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  bool is_good() const { return why_.empty(); }
  const std::string& why() const { return why_; }
  // Appends the text, completely or not at all where the file is a regular one.
  void write(std::string_view text);

 private:
  std::uint64_t length_ = 0;
  std::intptr_t file_ = -1;  // a descriptor, or a handle of Windows
  bool is_begun_ = false;
  std::string why_;
};

}  // namespace hmn::cli
