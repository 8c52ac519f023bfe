// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace hmn::cli {

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, closed)),
      size_(other.size_) {}

Expected<std::string> read_whole(const std::string& path, std::uint64_t most) {
  const auto file = InputFile::open(path);
  if (!file) return file.why();
  if (file->size() > most)
    return failed(fmt::format("\"{}\": {} bytes: expected at most {}", path, file->size(), most));
  return file->beginning(most);
}

bool FileToWrite::may_replace(std::string_view name) const {
  return force || std::any_of(suffixes.begin(), suffixes.end(),
                              [name](std::string_view each) { return name.ends_with(each); });
}

Failure is_there_already(const FileToWrite& to, const std::string& file) {
  const auto target =
      file == to.path ? std::string() : fmt::format(" leads to \"{}\", which", file);
  const auto kind = to.suffixes.empty()
                        ? std::string()
                        : fmt::format(", and is no {} file", fmt::join(to.suffixes, " or "));
  return failed(fmt::format("{} \"{}\"{} is there already{}; --force replaces it", to.option,
                            to.path, target, kind));
}

std::optional<Failure> why_wrong_name(const FileToWrite& to, std::string_view file) {
  const auto name = file.substr(file.find_last_of(path_separators) + 1);
  const bool has_ending = name.find('.', 1) != name.npos;
  if (to.takes_any_new || !has_ending || to.suffixes.empty() || to.may_replace(file))
    return std::nullopt;
  return misused(fmt::format("{} \"{}\": expected a file whose name ends in {}; --force writes any",
                             to.option, to.path, fmt::join(to.suffixes, " or ")));
}

std::optional<Failure> write_to_stream(Stream to, std::string_view text) {
  const auto end = write_stream(to, text);
  if (end.how != WriteEnd::Reason::failed) return std::nullopt;
  return failed(fmt::format("cannot write to standard {}: {}",
                            to == Stream::output ? "output" : "error", message_of(end)));
}

}  // namespace hmn::cli
