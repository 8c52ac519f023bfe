// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/process_life.hpp"

#include <array>
#include <cerrno>

#include "backends/os/linux/stat.hpp"
#include "platform/file.hpp"

namespace hmn::os {
namespace {

life state_of(const stat& s) {
  if (s.is_kernel_thread()) return life::kernel_thread;
  if (s.is_headless()) return life::headless;
  return s.has_exited() ? life::exited : life::running;
}

failure no_process(std::string_view who, std::string_view rest) {
  std::string message = "process ";
  message += who;
  message += rest;
  return {status::no_process, source::os, {}, message};
}

failure unsupported(const message_text& message) {
  return {status::unsupported, source::os, {}, message};
}

failure no_tree(std::string_view root) {
  std::string message = "there is no proc tree at ";
  message += root;
  message += ": mount procfs there or name another root";
  return {status::no_source, source::os, {native_domain::error_number, ENOENT}, message};
}

failure of_running(std::string_view who, const proc_path& path, int error) {
  if (error == ESRCH) return no_process(who, " ended while it was read");
  if (error == 0) return nonsense(path, "a running process shows no memory there");
  return unsupported(std::string("this kernel has no ") + path.c_str());
}

}  // namespace

life life_of(std::string_view root, std::string_view who) {
  std::array<char, 2048> buffer;
  const auto got = platform::read_small(proc_path(root, who, "stat").c_str(), buffer);
  if (got) {
    const auto s = parse_stat({buffer.data(), got.value});
    return s ? state_of(*s) : life::unknown;
  }
  if (got.error == ESRCH) return life::gone;
  if (got.error != ENOENT) return life::unknown;
  return platform::exists(proc_path(root, "", "stat").c_str()) ? life::gone : life::no_tree;
}

failure why_no_memory(std::string_view root, std::string_view who, const proc_path& path,
                      int error) {
  if (error != 0 && error != ENOENT && error != ESRCH) return unreadable(error, path);
  switch (life_of(root, who)) {
    case life::running:
      return of_running(who, path, error);
    case life::exited:
      return no_process(who, " has exited and its parent has not waited for it (a zombie)");
    case life::headless:
      return no_process(who, " has lost its first thread, and no other could be read");
    case life::kernel_thread:
      return unsupported("process " + std::string(who) +
                         " is a kernel thread, which has no memory of its own");
    case life::gone:
      return no_process(who, " does not exist, or the proc mount hides it (option hidepid)");
    case life::no_tree:
      return no_tree(root);
    case life::unknown:
      break;
  }
  return error == 0 ? nonsense(path, "it shows no memory") : unreadable(error, path);
}

std::optional<std::string> living_thread(std::string_view root, std::string_view who) {
  if (life_of(root, who) != life::headless) return std::nullopt;
  const std::string folder = std::string(who) + "/task";
  std::optional<std::string> found;
  (void)platform::for_each_entry(proc_path(root, folder, "").c_str(), [&](std::string_view thread) {
    std::string candidate = folder + "/" + std::string(thread);
    if (life_of(root, candidate) != life::running) return true;
    found = std::move(candidate);
    return false;
  });
  return found;
}

}  // namespace hmn::os
