// SPDX-License-Identifier: MIT OR Apache-2.0
#include "recorded.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace recorded {
namespace {

constexpr const char* corpus_folder = HMN_CORPUS_DIR;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

std::string Entry::path() const {
  return std::string(corpus_folder) + "/" + file;
}
std::string Entry::text() const {
  return read_file(path());
}

bool Entry::has(const char* key) const {
  const auto it = expected.find(key);
  return it != expected.end() && it->is_number();
}

std::uint64_t Entry::number(const char* key) const {
  return expected.at(key).get<std::uint64_t>();
}

bool is_here() {
  return std::filesystem::exists(std::string(corpus_folder) + "/INDEX.json");
}

std::vector<Entry> find_all(std::string_view prefix) {
  std::vector<Entry> entries;
  for (const auto& json :
       nlohmann::json::parse(read_file(std::string(corpus_folder) + "/INDEX.json"))) {
    const auto file = json.at("file").get<std::string>();
    if (!file.starts_with(prefix)) continue;
    entries.push_back({file, json.at("expected"), json.at("category").get<std::string>()});
  }
  return entries;
}

Entry find_one(std::string_view file) {
  const auto entries = find_all(file);
  if (entries.size() != 1) throw std::runtime_error("not one recording: " + std::string(file));
  return entries.front();
}

}  // namespace recorded
