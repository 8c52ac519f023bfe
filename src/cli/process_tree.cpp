// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

namespace hmn::cli {
namespace {

// A pid that was given anew, to a process of this tree, is found after so many looks.
constexpr unsigned looks_before_all_anew = 64;

// Small files of /proc, without an allocation for each.
std::string_view read_small(const std::string& path, std::array<char, 16384>& buffer) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::size_t length = 0;
  while (length < buffer.size()) {
    const auto got = ::read(file, buffer.data() + length, buffer.size() - length);
    if (got <= 0) break;
    length += static_cast<std::size_t>(got);
  }
  close(file);
  return {buffer.data(), length};
}

std::optional<std::uint32_t> pid_of(const char* name) {
  std::uint32_t pid = 0;
  const char* const end = name + std::char_traits<char>::length(name);
  const auto parsed = std::from_chars(name, end, pid);
  if (parsed.ec != std::errc{} || parsed.ptr != end || pid == 0) return std::nullopt;
  return pid;
}

std::vector<std::uint32_t> numbered_entries(const std::string& folder) {
  struct closer {
    void operator()(DIR* open) const noexcept { closedir(open); }
  };
  std::vector<std::uint32_t> all;
  const std::unique_ptr<DIR, closer> in(opendir(folder.c_str()));
  if (!in) return all;
  while (const dirent* each = readdir(in.get()))
    if (const auto number = pid_of(each->d_name)) all.push_back(*number);
  return all;
}

bool is_number(std::string_view text, auto& into) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), into);
  return parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
}

}  // namespace

// proc(5): "pid (comm) state ppid …", the start time being the 22nd field; the name may hold blanks
// and parentheses.
std::optional<process_stat> parse_process_stat(std::string_view text) {
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(name_end + 1);
  process_stat out;
  bool has_parent = false;
  for (int field = 3; field <= 22; ++field) {
    const auto begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) return std::nullopt;
    const auto end = std::min(text.find_first_of(" \n", begin), text.size());
    const auto word = text.substr(begin, end - begin);
    if (field == 3) out.state = word.front();
    if (field == 4) has_parent = is_number(word, out.parent);
    if (field == 22 && !(has_parent && is_number(word, out.start))) return std::nullopt;
    text.remove_prefix(end);
  }
  return out;
}

std::vector<std::uint32_t> parse_pids(std::string_view text) {
  std::vector<std::uint32_t> all;
  while (true) {
    const auto begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos) return all;
    const auto end = std::min(text.find_first_of(" \n", begin), text.size());
    std::uint32_t pid = 0;
    if (is_number(text.substr(begin, end - begin), pid) && pid != 0) all.push_back(pid);
    text.remove_prefix(end);
  }
}

process_tree::process_tree(std::string proc_root, std::uint32_t root_pid)
    : proc_root_(std::move(proc_root)),
      // Linux 3.5 with CONFIG_PROC_CHILDREN.
      has_children_files_(
          access(fmt::format("{0}/{1}/task/{1}/children", proc_root_, root_pid).c_str(), R_OK) ==
          0) {
  add(root_pid);
}

std::optional<process_stat> process_tree::read(std::uint32_t pid) const {
  std::array<char, 16384> buffer;
  return parse_process_stat(read_small(fmt::format("{}/{}/stat", proc_root_, pid), buffer));
}

bool process_tree::contains(std::uint32_t pid) const {
  return std::any_of(members_.begin(), members_.end(),
                     [pid](const member& each) { return each.pid == pid; });
}

void process_tree::add(std::uint32_t pid) {
  if (contains(pid)) return;
  if (const auto found = read(pid); found && found->state != 'Z')
    members_.push_back({pid, found->start});
}

void process_tree::drop_ended() {
  std::erase_if(members_, [this](const member& each) {
    const auto now = read(each.pid);
    return !now || now->start != each.start || now->state == 'Z' || now->state == 'X';
  });
}

void process_tree::add_children_of(std::uint32_t pid) {
  std::array<char, 16384> buffer;
  for (const auto thread : numbered_entries(fmt::format("{}/{}/task", proc_root_, pid))) {
    const auto path = fmt::format("{}/{}/task/{}/children", proc_root_, pid, thread);
    for (const auto child : parse_pids(read_small(path, buffer))) add(child);
  }
}

// Each process is looked at once: whose child it is does not change but when its parent ends.
void process_tree::add_from_all() {
  const auto all = numbered_entries(proc_root_);
  if (looks_++ % looks_before_all_anew == 0) strangers_.clear();
  const std::unordered_set<std::uint32_t> alive(all.begin(), all.end());
  std::erase_if(strangers_, [&](std::uint32_t pid) { return !alive.contains(pid); });
  std::vector<std::pair<std::uint32_t, process_stat>> fresh;
  for (const auto pid : all)
    if (!strangers_.contains(pid) && !contains(pid))
      if (const auto found = read(pid)) fresh.emplace_back(pid, *found);
  for (bool grew = true; grew;) {
    grew = false;
    std::erase_if(fresh, [&](const auto& each) {
      if (!contains(each.second.parent)) return false;
      if (each.second.state != 'Z') members_.push_back({each.first, each.second.start});
      grew = true;
      return true;
    });
  }
  for (const auto& [pid, what] : fresh) strangers_.insert(pid);
}

void process_tree::refresh(const std::vector<std::uint32_t>& also) {
  drop_ended();
  for (const auto pid : also) add(pid);
  if (!has_children_files_) return add_from_all();
  for (std::size_t i = 0; i < members_.size(); ++i) add_children_of(members_[i].pid);
}

}  // namespace hmn::cli
