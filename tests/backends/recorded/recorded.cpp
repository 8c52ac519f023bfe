// SPDX-License-Identifier: MIT OR Apache-2.0
#include "recorded.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace recorded {
namespace {

constexpr const char* folder = HMN_CORPUS_DIR;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

std::string Entry::path() const {
  return std::string(folder) + "/" + file;
}
std::string Entry::text() const {
  return read(path());
}

bool Entry::has(const char* key) const {
  const auto found = expected.find(key);
  return found != expected.end() && found->is_number();
}

std::uint64_t Entry::number(const char* key) const {
  return expected.at(key).get<std::uint64_t>();
}

bool is_here() {
  return std::filesystem::exists(std::string(folder) + "/INDEX.json");
}

std::vector<Entry> all(std::string_view prefix) {
  std::vector<Entry> found;
  for (const auto& e : nlohmann::json::parse(read(std::string(folder) + "/INDEX.json"))) {
    const auto file = e.at("file").get<std::string>();
    if (!file.starts_with(prefix)) continue;
    found.push_back({file, e.at("expected"), e.at("category").get<std::string>()});
  }
  return found;
}

Entry one(std::string_view file) {
  const auto found = all(file);
  if (found.size() != 1) throw std::runtime_error("not one recording: " + std::string(file));
  return found.front();
}

}  // namespace recorded
