// SPDX-License-Identifier: MIT OR Apache-2.0
#include "spawn_log.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

extern char** environ;

namespace fake_smi {
namespace {

using json = nlohmann::json;

std::string link_target(const std::string& path) {
  char target[PATH_MAX];
  const auto length = readlink(path.c_str(), target, sizeof target);
  return length < 0 ? "" : std::string(target, static_cast<std::size_t>(length));
}

json environment() {
  json out = json::object();
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable;
    const auto equals = text.find('=');
    out[text.substr(0, equals)] = equals == std::string::npos ? "" : text.substr(equals + 1);
  }
  return out;
}

json descriptors() {
  json out = json::object();
  DIR* folder = opendir("/proc/self/fd");
  if (!folder) return out;
  while (const auto* entry = readdir(folder)) {
    const std::string name = entry->d_name;
    if (name.starts_with('.') || std::atoi(name.c_str()) == dirfd(folder)) continue;
    out[name] = link_target("/proc/self/fd/" + name);
  }
  closedir(folder);
  return out;
}

std::string read_status_line(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key + ":")) return line.substr(line.find_last_of('\t') + 1);
  return "";
}

json describe_process(const std::vector<std::string>& argv) {
  char folder[PATH_MAX] = "";
  if (!getcwd(folder, sizeof folder)) folder[0] = '\0';
  return {{"argv", argv},
          {"env", environment()},
          {"cwd", folder},
          {"fds", descriptors()},
          {"pid", getpid()},
          {"ppid", getppid()},
          {"pgid", getpgid(0)},
          {"sid", getsid(0)},
          {"signals_blocked", read_status_line("SigBlk")},
          {"signals_ignored", read_status_line("SigIgn")}};
}

unsigned count_lines(const std::string& path) {
  std::ifstream file(path);
  return static_cast<unsigned>(
      std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n'));
}

}  // namespace

unsigned log_spawn(const std::string& path, const std::vector<std::string>& argv) {
  const auto line =
      describe_process(argv).dump(-1, ' ', true, json::error_handler_t::replace) + "\n";
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return 0;
  flock(fd, LOCK_EX);
  const auto earlier = count_lines(path);
  [[maybe_unused]] const auto result = write(fd, line.data(), line.size());
  close(fd);
  return earlier;
}

}  // namespace fake_smi
