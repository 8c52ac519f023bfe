// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fake_tree.hpp"

#include <stdlib.h>

#include <cerrno>
#include <fstream>
#include <system_error>

namespace hmn_fake {

namespace fs = std::filesystem;

namespace {

fs::path new_directory() {
  auto pattern = (fs::temp_directory_path() / "hmn-fake-XXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::system_error(errno, std::generic_category(), pattern);
  return pattern;
}

void prepare_path(const fs::path& path) {
  fs::create_directories(path.parent_path());
  if (fs::is_symlink(path) || fs::exists(path)) fs::remove(path);
}

}  // namespace

Tree::Tree() : root_(new_directory()) {
  directory("proc");
  directory("sys");
}

Tree::~Tree() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void Tree::write(std::string_view relative, std::string_view text) const {
  const auto file_path = root_ / relative;
  prepare_path(file_path);
  std::ofstream file(file_path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.flush()) throw std::system_error(EIO, std::generic_category(), file_path.string());
}

void Tree::link(std::string_view relative, const std::string& target) const {
  const auto file_path = root_ / relative;
  prepare_path(file_path);
  fs::create_symlink(target, file_path);
}

void Tree::directory(std::string_view relative) const {
  fs::create_directories(root_ / relative);
}

void Tree::remove(std::string_view relative) const {
  fs::remove_all(root_ / relative);
}

void Tree::mode(std::string_view relative, unsigned permissions) const {
  fs::permissions(root_ / relative, static_cast<fs::perms>(permissions));
}

void Tree::script(std::string_view relative, std::string_view body) const {
  write(relative, "#!/bin/sh\n" + std::string(body) + "\n");
  mode(relative, 0755);
}

}  // namespace hmn_fake
