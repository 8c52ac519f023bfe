// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/windows/program_search.hpp"

#include <algorithm>

namespace hmn::cli {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool ends_in(std::string_view name, std::string_view ending) {
  return name.size() >= ending.size() &&
         std::equal(ending.begin(), ending.end(), name.end() - static_cast<long>(ending.size()),
                    [](char a, char b) { return a == lower(b); });
}

// Ignores trailing dots and spaces, as Windows does.
bool is_batch(std::string_view name) {
  name = name.substr(0, name.find_last_not_of(". ") + 1);
  return ends_in(name, ".bat") || ends_in(name, ".cmd");
}

bool has_extension(std::string_view word) {
  const auto name = word.substr(word.find_last_of("/\\:") + 1);
  return name.find('.') != std::string_view::npos;
}

bool is_absolute(std::string_view folder) {
  const auto is_slash = [](char c) { return c == '/' || c == '\\'; };
  if (folder.size() >= 3 && folder[1] == ':' && is_slash(folder[2])) return true;
  return folder.size() >= 2 && is_slash(folder[0]) && is_slash(folder[1]);
}

}  // namespace

std::optional<found_program> find_program(const std::string& word,
                                          const std::vector<std::string>& folders,
                                          const std::function<bool(const std::string&)>& is_file) {
  std::vector<std::string> names;
  if (has_extension(word)) names.push_back(word);
  for (const char* ending : {".exe", ".com", ".bat", ".cmd"}) names.push_back(word + ending);
  std::vector<std::string> places{""};
  if (word.find_first_of("/\\:") == std::string::npos) {
    places.clear();
    for (const auto& each : folders)
      places.push_back(each.ends_with('\\') || each.ends_with('/') ? each : each + '\\');
  }
  for (const auto& place : places)
    for (const auto& name : names)
      if (is_file(place + name)) return found_program{place + name, is_batch(name)};
  return std::nullopt;
}

std::vector<std::string> folders_of_path(std::string_view path) {
  std::vector<std::string> folders;
  while (!path.empty()) {
    const auto end = std::min(path.find(';'), path.size());
    auto folder = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (folder.size() >= 2 && folder.front() == '"' && folder.back() == '"')
      folder = folder.substr(1, folder.size() - 2);
    if (is_absolute(folder)) folders.emplace_back(folder);
  }
  return folders;
}

}  // namespace hmn::cli
