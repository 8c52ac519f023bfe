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
  // Writes in place; gives the path.
  std::string write(std::string_view name, std::string_view text) const;

 private:
  std::string path_;
};

std::set<int> open_descriptors();
int descriptor_of(const std::string& path);  // -1 when no open one leads there

// What body returns, as the exit status of a forked child; -1 when a signal ended it.
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

// From here on this process gets error for the system call, if its masked first argument has the
// wanted value (mask 0: always). False where the system has no filters.
bool refuse(long number, int error, unsigned mask = 0, unsigned wanted = 0);
bool refuse_third(long number, int error, unsigned wanted);

// The system call is not done, and SIGSYS comes instead.
bool trap(long number);

bool is_running(pid_t process);  // and no zombie
bool ends_within(pid_t process, unsigned milliseconds);

}  // namespace test
