// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/process_life.hpp"

#include <array>
#include <cerrno>

#include "platform/file.hpp"
#include "procfs/stat.hpp"

namespace hmn::os {
namespace {

using procfs::parse_stat;
using procfs::proc_path;
using procfs::stat;

status status_of(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return status::permission;
    case ENOMEM:
      return status::no_memory;
    case EMFILE:
    case ENFILE:
      return status::limit;
    case ENOENT:
      return status::no_source;
    case ESRCH:
      return status::no_process;
    default:
      return status::backend;
  }
}

std::string_view reason_of(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "the system refuses to let this user read it";
    case ENOMEM:
      return "the kernel is out of memory";
    case EMFILE:
      return "this process has no file descriptor left";
    case ENFILE:
      return "the system has no file descriptor left";
    case ENOENT:
      return "it is not there";
    case ESRCH:
      return "the process has ended";
    default:
      return "reading it failed";
  }
}

life life_of(const stat& s) {
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

failure unreadable(int error, const procfs::proc_path& path) {
  std::string message = "cannot read ";
  message += path.c_str();
  message += ": ";
  message += reason_of(error);
  return {status_of(error), source::os, {native_domain::error_number, error}, message};
}

failure nonsense(const procfs::proc_path& path, std::string_view what) {
  std::string message(path.c_str());
  message += " makes no sense: ";
  message += what;
  return {status::backend, source::os, {}, message};
}

life life_of(std::string_view root, std::string_view who) {
  std::array<char, 2048> buffer;
  const auto got = platform::read_small(proc_path(root, who, "stat").c_str(), buffer);
  if (got) {
    const auto s = parse_stat({buffer.data(), got.value});
    return s ? life_of(*s) : life::unknown;
  }
  if (got.error == ESRCH) return life::gone;
  if (got.error != ENOENT) return life::unknown;
  return platform::exists(proc_path(root, "", "stat").c_str()) ? life::gone : life::no_tree;
}

failure why_no_memory(std::string_view root, std::string_view who, const procfs::proc_path& path,
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
