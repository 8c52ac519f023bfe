// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/tree.hpp"

#include <array>
#include <cstring>
#include <string_view>

#include "model/message_text.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"
#include "procfs/process.hpp"

namespace hmn::procfs {
namespace {

// Returns whether the tree is that of an outer namespace, where another process may have the
// caller's number.
bool has_inner_pids(ProcPath& self) {
  std::array<char, 4096> buffer;
  const auto result = platform::read_small(self.set_file("status"), buffer);
  return result && parse_namespace_pids({buffer.data(), result.value}).size() > 1;
}

}  // namespace

ProcPath::ProcPath(std::string_view root, std::string_view process,
                   std::string_view file) noexcept {
  bytes_[0] = '\0';
  add(root);
  add(process);
  folder_ = length_;
  add(file);
}

const char* ProcPath::set_file(std::string_view file) noexcept {
  length_ = fits_ ? folder_ : 0;
  bytes_[length_] = '\0';
  add(file);
  return c_str();
}

void ProcPath::add(std::string_view part) noexcept {
  if (part.empty()) return;
  const bool needs_slash = length_ != 0 && bytes_[length_ - 1] != '/';
  const std::size_t begin = length_ + (needs_slash ? 1 : 0);
  fits_ = fits_ && begin + part.size() < bytes_.size();
  length_ = fits_ ? begin + part.size() : 0;
  bytes_[length_] = '\0';
  if (!fits_) return;
  if (needs_slash) bytes_[begin - 1] = '/';
  std::memcpy(bytes_.data() + begin, part.data(), part.size());
}

PidName::PidName(std::uint32_t pid) noexcept {
  length_ = PieceText(pid).view().copy(bytes_.data(), bytes_.size());
}

std::optional<std::uint32_t> parse_pid(std::string_view name) noexcept {
  const auto pid = scan::parse_decimal(name);
  if (!pid || *pid == 0 || *pid > 0xFFFFFFFF) return std::nullopt;
  return static_cast<std::uint32_t>(*pid);
}

std::vector<std::uint32_t> parse_pids(std::string_view text) {
  std::vector<std::uint32_t> pids;
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    for (auto word = scan::take_word(line); !word.empty(); word = scan::take_word(line)) {
      if (const auto pid = parse_pid(word)) pids.push_back(*pid);
    }
  }
  return pids;
}

bool is_in_initial_pid_namespace(const std::string& proc_root) {
  if (!platform::has_pid_namespaces()) return true;
  std::array<char, 64> target;
  const ProcPath link(proc_root, "self", "ns/pid");
  const auto result = platform::read_link(link.c_str(), target);
  return result && std::string_view(target.data(), result.value) == initial_pid_namespace;
}

Rights read_own_rights(const std::string& proc_root) {
  Rights rights;
  std::array<char, 16384> buffer;
  ProcPath path(proc_root, "self", "");
  if (const auto result = platform::read_small(path.set_file("status"), buffer))
    rights.effective = parse_effective_capabilities({buffer.data(), result.value});
  if (const auto result = platform::read_link(path.set_file("ns/user"), buffer))
    rights.is_in_user_namespace =
        std::string_view(buffer.data(), result.value) != initial_user_namespace;
  return rights;
}

int list_pids(const char* folder, std::vector<std::uint32_t>& pids) {
  return platform::for_each_entry(folder, [&](std::string_view name) {
    if (const auto pid = parse_pid(name)) pids.push_back(*pid);
    return true;
  });
}

std::optional<std::string> explain_foreign_tree(const std::string& proc_root) {
  if (!platform::has_pid_namespaces()) return std::nullopt;
  ProcPath self(proc_root, "self", "");
  std::array<char, 64> target;
  const auto result = platform::read_link(self.c_str(), target);
  if (!result) {
    if (platform::exists(self.c_str())) return std::nullopt;
    // Present in every proc tree that hides processes, absent where none is mounted.
    if (!platform::exists(ProcPath(proc_root, "", "stat").c_str())) {
      return compose({proc_root, " is not a mounted proc file system"});
    }
    return compose(
        {proc_root, " does not show this process: it is the tree of another PID namespace"});
  }
  const std::string_view number(target.data(), result.value);
  if (number == PidName(platform::current_pid()).view() && !has_inner_pids(self)) {
    return std::nullopt;
  }
  return compose({proc_root, " is the tree of another PID namespace, where this process is ",
                  number, "; pids are those of that tree"});
}

}  // namespace hmn::procfs
