// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "platform/file.hpp"
#include "platform/sanitizer.hpp"
#include "support.hpp"
#include "syscall_trace.hpp"

using namespace hmn::platform;

namespace {

std::string text_of(KeptFile& file) {
  char buffer[256];
  const auto got = file.read(buffer);
  return got ? std::string(buffer, got.value) : "error " + std::to_string(got.error);
}

// The first field of /proc/self/stat.
int pid_in(KeptFile& file) {
  return std::atoi(text_of(file).c_str());
}

// Runs body while a thread closes every descriptor, in a child where all of them are this file's.
template <class F>
int under_attack(const std::string& path, F&& body) {
  return test::in_child([&] {
    for (int number = 3; number < 64; ++number) close(number);
    KeptFile file(path);
    std::atomic<bool> is_over{false};
    std::thread attacker([&] {
      while (!is_over) {
        for (int number = 3; number < 16; ++number) close(number);
      }
    });
    const int code = body(file);
    is_over = true;
    attacker.join();
    return code;
  });
}

// It may be closed between a reader's own open and read.
bool is_right(const std::string& seen, const std::string& text) {
  return seen == text || seen == "error " + std::to_string(EBADF);
}

}  // namespace

TEST_CASE("kept_file: each read gives what the file holds now, through one descriptor") {
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("temp1_input", "41000\n");
  const auto before = test::open_descriptors();
  {
    KeptFile file(path);
    CHECK(text_of(file) == "41000\n");
    const auto during = test::open_descriptors();
    CHECK(during.size() == before.size() + 1);
    scratch.write("temp1_input", "9500\n");
    CHECK(text_of(file) == "9500\n");
    CHECK(test::open_descriptors() == during);
    CHECK((fcntl(test::descriptor_of(path), F_GETFD) & FD_CLOEXEC) != 0);
    char small[2];
    CHECK(file.read(small).value == 2);
  }
  CHECK(test::open_descriptors() == before);
}

TEST_CASE("kept_file: a file that is absent is an error until it comes") {
  const test::ScratchFolder scratch;
  KeptFile file(scratch.path("late"));
  CHECK(text_of(file) == "error " + std::to_string(ENOENT));
  scratch.write("late", "here");
  CHECK(text_of(file) == "here");
  KeptFile folder(scratch.path("."));
  const auto before = test::open_descriptors();
  CHECK(text_of(folder) == "error " + std::to_string(EISDIR));
  CHECK(test::open_descriptors() == before);
}

TEST_CASE("kept_file: opened again after somebody closed everything") {
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("text", "1");
  const int code = test::in_child([&] {
    KeptFile file(path);
    if (text_of(file) != "1") return 1;
    for (int number = 3; number < 64; ++number) close(number);
    if (text_of(file) != "1") return 2;
    return test::descriptor_of(path) >= 3 ? 0 : 3;
  });
  CHECK(code == 0);
}

TEST_CASE("kept_file: a number that became another's is neither read nor closed") {
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("ours", "ours");
  const std::string other = scratch.write("theirs", "theirs");
  int number = -1;
  int reopened = -1;
  const int theirs = open(other.c_str(), O_RDONLY);
  {
    KeptFile file(path);
    CHECK(text_of(file) == "ours");
    number = test::descriptor_of(path);
    REQUIRE(number >= 0);
    REQUIRE(dup2(theirs, number) == number);
    CHECK(text_of(file) == "ours");
    reopened = test::descriptor_of(path);
    CHECK(reopened != number);
    REQUIRE(dup2(theirs, reopened) == reopened);
    errno = EDOM;
  }
  CHECK(errno == EDOM);
  char buffer[8];
  CHECK(pread(number, buffer, sizeof buffer, 0) == 6);
  CHECK(pread(reopened, buffer, sizeof buffer, 0) == 6);
  CHECK(test::descriptor_of(path) == -1);
  close(number);
  while (test::descriptor_of(other) >= 0) close(test::descriptor_of(other));
}

TEST_CASE("kept_file: what is ours is replaced, not piled up, when it refuses to be read") {
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("attribute", "1");
  KeptFile file(path);
  CHECK(text_of(file) == "1");
  const auto during = test::open_descriptors();
  const int number = test::descriptor_of(path);
  // The same file, open for writing only: a read through it fails as that of a gone device does.
  const int unreadable = open(path.c_str(), O_WRONLY);
  REQUIRE(dup2(unreadable, number) == number);
  close(unreadable);
  CHECK(text_of(file) == "1");
  CHECK(test::open_descriptors() == during);
  scratch.write("again", "2");
  REQUIRE(rename(scratch.path("again").c_str(), path.c_str()) == 0);
  CHECK(text_of(file) == "2");
  CHECK(test::open_descriptors() == during);
  CHECK((fcntl(number, F_GETFL) & O_ACCMODE) == O_RDONLY);
  CHECK((fcntl(number, F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("kept_file: a forked child reads its own /proc/self") {
  KeptFile file("/proc/self/stat");
  CHECK(pid_in(file) == getpid());
  const auto before = test::open_descriptors();
  const int code = test::in_child([&] {
    if (pid_in(file) != getpid()) return 1;
    if (test::open_descriptors() != before) return 2;
    return test::in_child([&] { return pid_in(file) == getpid() ? 0 : 3; });
  });
  CHECK(code == 0);
  CHECK(pid_in(file) == getpid());
}

TEST_CASE("kept_file: a kept read is one fstat and one pread") {
  KeptFile file("/proc/self/statm");
  char buffer[128];
  const auto calls = test::system_calls_of([&] { static_cast<void>(file.read(buffer)); },
                                           [&] { static_cast<void>(file.read(buffer)); });
  if (!calls) {
    MESSAGE("skipped: unit.platform: tracing is refused here");
    return;
  }
  REQUIRE(calls->size() == 2);
  // The C library's fstat is one of these.
#ifdef SYS_newfstatat
  CHECK((calls->at(0) == SYS_fstat || calls->at(0) == SYS_newfstatat));
#else
  CHECK((calls->at(0) == SYS_fstat64 || calls->at(0) == SYS_statx));
#endif
  CHECK(calls->at(1) == SYS_pread64);
}

TEST_CASE("kept_file: eight threads read while another closes their descriptor") {
  if (is_thread_sanitized) return;  // such an attack is a race, and reported as one
  const test::ScratchFolder scratch;
  const std::string text(200, 'x');
  const std::string path = scratch.write("text", text);
  CHECK(under_attack(path, [&](KeptFile& file) {
          std::atomic<int> wrong{0};
          std::vector<std::thread> readers;
          for (int i = 0; i < 8; ++i) {
            readers.emplace_back([&] {
              for (int n = 0; n < 2000; ++n) wrong += is_right(text_of(file), text) ? 0 : 1;
            });
          }
          for (std::thread& reader : readers) reader.join();
          return wrong == 0 ? 0 : 1;
        }) == 0);
}

TEST_CASE("kept_file: threads that race for the first open leave one descriptor") {
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("text", "1");
  const auto before = test::open_descriptors();
  for (int round = 0; round < 50; ++round) {
    KeptFile file(path);
    std::atomic<int> right{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 8; ++i) {
      readers.emplace_back([&] { right += text_of(file) == "1" ? 1 : 0; });
    }
    for (std::thread& reader : readers) reader.join();
    CHECK(right == 8);
    CHECK(test::open_descriptors().size() == before.size() + 1);
  }
  CHECK(test::open_descriptors() == before);
}

// An emulator's own locks are held in the child.
TEST_CASE("kept_file: a fork amid other threads' openings leaves the child a working file" *
          doctest::skip(HMN_TEST_EMULATED)) {
  if (is_thread_sanitized) return;  // such an attack is a race, and reported as one
  // Its runtime opens files as threads start, which the attacker closes.
  if (is_address_sanitized) return;
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("text", "1");
  CHECK(under_attack(path, [&](KeptFile& file) {
          std::atomic<bool> is_over{false};
          std::vector<std::thread> readers;
          for (int i = 0; i < 4; ++i) {
            readers.emplace_back([&] {
              while (!is_over) text_of(file);
            });
          }
          int failed = 0;
          for (int i = 0; i < 100; ++i) {
            failed += test::in_child([&] { return text_of(file) == "1" ? 0 : 1; }) == 0 ? 0 : 1;
          }
          is_over = true;
          for (std::thread& reader : readers) reader.join();
          return failed == 0 ? 0 : 1;
        }) == 0);
}

namespace {

KeptFile* locked_file = nullptr;
int code_of_fork = -1;

// Counts those of the first numbers; a list would have to be closed.
int count_open() {
  int count = 0;
  for (int number = 0; number < 1024; ++number) {
    if (fcntl(number, F_GETFD) >= 0) ++count;
  }
  return count;
}

// Called amid the replacement of a descriptor, at its close.
void fork_in_lock(int) {
  if (code_of_fork != -1) return;
  code_of_fork = -2;
  code_of_fork = test::in_child([] {
    if (text_of(*locked_file) != "2") return 1;
    const int before = count_open();
    if (text_of(*locked_file) != "2") return 2;
    return count_open() == before ? 0 : 3;  // nothing was opened: it is kept
  });
}

}  // namespace

TEST_CASE("kept_file: a fork while another thread holds the lock does not leave it locked") {
  if (is_thread_sanitized) return;  // its runtime does not fork in a signal handler
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("text", "1");
  scratch.write("again", "2");
  KeptFile file(path);
  CHECK(text_of(file) == "1");
  const int number = test::descriptor_of(path);
  const int unreadable = open(path.c_str(), O_WRONLY);
  const int code = test::in_child([&] {
    if (text_of(file) != "1" || dup2(unreadable, number) != number) return 1;
    if (rename(scratch.path("again").c_str(), path.c_str()) != 0) return 2;
    locked_file = &file;
    struct sigaction forking {};
    forking.sa_handler = fork_in_lock;
    forking.sa_flags = SA_NODEFER;  // the child's own closes are trapped as well
    sigaction(SIGSYS, &forking, nullptr);
    if (!test::trap(SYS_close)) return 77;
    if (text_of(file) != "2") return 3;
    return code_of_fork == 0 ? 0 : 10 + code_of_fork;
  });
  close(unreadable);
  if (code == 77) {
    MESSAGE("skipped: unit.platform: no system call filters here");
    return;
  }
  CHECK(code == 0);
}

// In a child, with mounts of its own. Returns what is wrong: 0 nothing, 77 no such mounts here.
int look_for_news(const std::string& folder) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 77;
  KeptFile mounts("/proc/self/mountinfo");
  if (!mounts.has_news()) return 1;  // nothing is open
  std::array<char, 1> any;
  if (!mounts.read(any) || mounts.has_news()) return 2;
  if (mount("none", folder.c_str(), "tmpfs", 0, nullptr) != 0) return 77;
  if (!mounts.has_news()) return 3;
  return mounts.has_news() ? 4 : 0;
}

TEST_CASE("kept_file: a mount is news, once") {
  const test::ScratchFolder scratch;
  const int code = test::in_child([&] { return look_for_news(scratch.path(".")); });
  if (code == 77) MESSAGE("no mount namespace of our own here");
  CHECK((code == 0 || code == 77));
}
