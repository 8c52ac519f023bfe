// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>

namespace test {

class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();

  std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }
  // Writes in place; returns the path.
  std::string write(std::string_view name, std::string_view text) const;

 private:
  std::string path_;
};

std::set<int> open_descriptors();
int find_descriptor(const std::string& path);  // -1 when no open one leads there

// Returns the exit status of a child, or of a forked child that runs body; -1 if a signal ended it.
int wait_for(pid_t child);
template <class F>
int in_child(F&& body) {
  std::fflush(nullptr);  // ThreadSanitizer's _exit does so in the child
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return wait_for(child);
}

// An emulator's program cannot be run by its file.
bool can_run_itself();

// Runs one test case, which is decorated with skip(), in a new process of this program.
int run_test_case(const std::string& program, const char* name);

// From here on the system call fails with `error` in this process if its masked first argument has
// the value (mask 0: always). False where the system has no filters.
bool refuse(long number, int error, unsigned mask = 0, unsigned value = 0);
bool refuse_third(long number, int error, unsigned value);

// From here on the system call is not executed; SIGSYS is sent instead.
bool trap(long number);

bool is_running(pid_t process);  // false for a zombie
bool ends_within(pid_t process, unsigned milliseconds);

}  // namespace test
