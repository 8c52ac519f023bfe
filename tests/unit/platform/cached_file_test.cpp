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

std::string read_text(CachedFile& file) {
  char buffer[256];
  const auto result = file.read(buffer);
  return result ? std::string(buffer, result.value) : "error " + std::to_string(result.error);
}

// The first field of /proc/self/stat.
int read_pid(CachedFile& file) {
  return std::atoi(read_text(file).c_str());
}

// Runs body while a thread closes every descriptor, in a child where all of them are this file's.
template <class F>
int run_under_attack(const std::string& path, F&& body) {
  return test::in_child([&] {
    for (int number = 3; number < 64; ++number) close(number);
    CachedFile file(path);
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

// The descriptor may be closed between a reader's own open and read.
bool is_right(const std::string& actual, const std::string& expected) {
  return actual == expected || actual == "error " + std::to_string(EBADF);
}

}  // namespace

TEST_CASE("cached_file: each read returns the current contents, through one descriptor") {
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("temp1_input", "41000\n");
  const auto before = test::open_descriptors();
  {
    CachedFile file(path);
    CHECK(read_text(file) == "41000\n");
    const auto during = test::open_descriptors();
    CHECK(during.size() == before.size() + 1);
    scratch.write("temp1_input", "9500\n");
    CHECK(read_text(file) == "9500\n");
    CHECK(test::open_descriptors() == during);
    CHECK((fcntl(test::find_descriptor(path), F_GETFD) & FD_CLOEXEC) != 0);
    char small[2];
    CHECK(file.read(small).value == 2);
  }
  CHECK(test::open_descriptors() == before);
}

TEST_CASE("cached_file: an absent file is an error until it appears") {
  const test::ScratchFolder scratch;
  CachedFile file(scratch.path("late"));
  CHECK(read_text(file) == "error " + std::to_string(ENOENT));
  scratch.write("late", "here");
  CHECK(read_text(file) == "here");
  CachedFile folder(scratch.path("."));
  const auto before = test::open_descriptors();
  CHECK(read_text(folder) == "error " + std::to_string(EISDIR));
  CHECK(test::open_descriptors() == before);
}

TEST_CASE("cached_file: the file is opened again after all descriptors were closed") {
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("text", "1");
  const int code = test::in_child([&] {
    CachedFile file(path);
    if (read_text(file) != "1") return 1;
    for (int number = 3; number < 64; ++number) close(number);
    if (read_text(file) != "1") return 2;
    return test::find_descriptor(path) >= 3 ? 0 : 3;
  });
  CHECK(code == 0);
}

TEST_CASE("cached_file: a descriptor reused by another owner is neither read nor closed") {
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("ours", "ours");
  const std::string other_path = scratch.write("theirs", "theirs");
  int number = -1;
  int reopened = -1;
  const int foreign = open(other_path.c_str(), O_RDONLY);
  {
    CachedFile file(path);
    CHECK(read_text(file) == "ours");
    number = test::find_descriptor(path);
    REQUIRE(number >= 0);
    REQUIRE(dup2(foreign, number) == number);
    CHECK(read_text(file) == "ours");
    reopened = test::find_descriptor(path);
    CHECK(reopened != number);
    REQUIRE(dup2(foreign, reopened) == reopened);
    errno = EDOM;
  }
  CHECK(errno == EDOM);
  char buffer[8];
  CHECK(pread(number, buffer, sizeof buffer, 0) == 6);
  CHECK(pread(reopened, buffer, sizeof buffer, 0) == 6);
  CHECK(test::find_descriptor(path) == -1);
  close(number);
  while (test::find_descriptor(other_path) >= 0) close(test::find_descriptor(other_path));
}

TEST_CASE("cached_file: an unreadable descriptor of ours is replaced, and none leaks") {
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("attribute", "1");
  CachedFile file(path);
  CHECK(read_text(file) == "1");
  const auto during = test::open_descriptors();
  const int number = test::find_descriptor(path);
  // The same file, open for writing only: a read through it fails as that of a gone device does.
  const int unreadable = open(path.c_str(), O_WRONLY);
  REQUIRE(dup2(unreadable, number) == number);
  close(unreadable);
  CHECK(read_text(file) == "1");
  CHECK(test::open_descriptors() == during);
  scratch.write("again", "2");
  REQUIRE(rename(scratch.path("again").c_str(), path.c_str()) == 0);
  CHECK(read_text(file) == "2");
  CHECK(test::open_descriptors() == during);
  CHECK((fcntl(number, F_GETFL) & O_ACCMODE) == O_RDONLY);
  CHECK((fcntl(number, F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("cached_file: a forked child reads its own /proc/self") {
  CachedFile file("/proc/self/stat");
  CHECK(read_pid(file) == getpid());
  const auto before = test::open_descriptors();
  const int code = test::in_child([&] {
    if (read_pid(file) != getpid()) return 1;
    if (test::open_descriptors() != before) return 2;
    return test::in_child([&] { return read_pid(file) == getpid() ? 0 : 3; });
  });
  CHECK(code == 0);
  CHECK(read_pid(file) == getpid());
}

TEST_CASE("cached_file: a repeated read is one fstat and one pread") {
  CachedFile file("/proc/self/statm");
  char buffer[128];
  const auto calls = test::trace_system_calls([&] { static_cast<void>(file.read(buffer)); },
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

TEST_CASE("cached_file: eight threads can read while another closes their descriptor") {
  if (is_thread_sanitized) return;  // such an attack is a race, and reported as one
  const test::ScratchFolder scratch;
  const std::string text(200, 'x');
  const std::string path = scratch.write("text", text);
  CHECK(run_under_attack(path, [&](CachedFile& file) {
          std::atomic<int> failures{0};
          std::vector<std::thread> readers;
          for (int i = 0; i < 8; ++i) {
            readers.emplace_back([&] {
              for (int n = 0; n < 2000; ++n) failures += is_right(read_text(file), text) ? 0 : 1;
            });
          }
          for (std::thread& reader : readers) reader.join();
          return failures == 0 ? 0 : 1;
        }) == 0);
}

TEST_CASE("cached_file: threads that race for the first open leave one descriptor") {
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("text", "1");
  const auto before = test::open_descriptors();
  for (int round = 0; round < 50; ++round) {
    CachedFile file(path);
    std::atomic<int> successes{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 8; ++i) {
      readers.emplace_back([&] { successes += read_text(file) == "1" ? 1 : 0; });
    }
    for (std::thread& reader : readers) reader.join();
    CHECK(successes == 8);
    CHECK(test::open_descriptors().size() == before.size() + 1);
  }
  CHECK(test::open_descriptors() == before);
}

// An emulator's own locks are held in the child.
TEST_CASE("cached_file: a fork while other threads open files leaves the child a working file" *
          doctest::skip(HMN_TEST_EMULATED)) {
  if (is_thread_sanitized) return;  // such an attack is a race, and reported as one
  // Its runtime opens files as threads start, which the attacker closes.
  if (is_address_sanitized) return;
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("text", "1");
  CHECK(run_under_attack(path, [&](CachedFile& file) {
          std::atomic<bool> is_over{false};
          std::vector<std::thread> readers;
          for (int i = 0; i < 4; ++i) {
            readers.emplace_back([&] {
              while (!is_over) read_text(file);
            });
          }
          int failed = 0;
          for (int i = 0; i < 100; ++i) {
            failed += test::in_child([&] { return read_text(file) == "1" ? 0 : 1; }) == 0 ? 0 : 1;
          }
          is_over = true;
          for (std::thread& reader : readers) reader.join();
          return failed == 0 ? 0 : 1;
        }) == 0);
}

namespace {

CachedFile* locked_file = nullptr;
int fork_code = -1;

// Counts open descriptors below 1024; listing a folder would open another.
int count_open_descriptors() {
  int count = 0;
  for (int number = 0; number < 1024; ++number) {
    if (fcntl(number, F_GETFD) >= 0) ++count;
  }
  return count;
}

// Called during the replacement of a descriptor, at its close.
void fork_in_lock(int) {
  if (fork_code != -1) return;
  fork_code = -2;
  fork_code = test::in_child([] {
    if (read_text(*locked_file) != "2") return 1;
    const int before = count_open_descriptors();
    if (read_text(*locked_file) != "2") return 2;
    return count_open_descriptors() == before ? 0
                                              : 3;  // nothing was opened: the descriptor is cached
  });
}

}  // namespace

TEST_CASE("cached_file: a fork while another thread holds the lock does not leave it locked") {
  if (is_thread_sanitized) return;  // its runtime does not fork in a signal handler
  const test::ScratchFolder scratch;
  const std::string path = scratch.write("text", "1");
  scratch.write("again", "2");
  CachedFile file(path);
  CHECK(read_text(file) == "1");
  const int number = test::find_descriptor(path);
  const int unreadable = open(path.c_str(), O_WRONLY);
  const int code = test::in_child([&] {
    if (read_text(file) != "1" || dup2(unreadable, number) != number) return 1;
    if (rename(scratch.path("again").c_str(), path.c_str()) != 0) return 2;
    locked_file = &file;
    struct sigaction forking {};
    forking.sa_handler = fork_in_lock;
    forking.sa_flags = SA_NODEFER;  // the child's own closes are trapped as well
    sigaction(SIGSYS, &forking, nullptr);
    if (!test::trap(SYS_close)) return 77;
    if (read_text(file) != "2") return 3;
    return fork_code == 0 ? 0 : 10 + fork_code;
  });
  close(unreadable);
  if (code == 77) {
    MESSAGE("skipped: unit.platform: no system call filters here");
    return;
  }
  CHECK(code == 0);
}

// Runs in a child with mounts of its own. Returns 0, 77 if mounts are refused, or the failed step.
int check_news(const std::string& folder) {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return 77;
  CachedFile mounts("/proc/self/mountinfo");
  if (!mounts.has_changed()) return 1;  // nothing is open
  std::array<char, 1> buffer;
  if (!mounts.read(buffer) || mounts.has_changed()) return 2;
  if (mount("none", folder.c_str(), "tmpfs", 0, nullptr) != 0) return 77;
  if (!mounts.has_changed()) return 3;
  return mounts.has_changed() ? 4 : 0;
}

TEST_CASE("cached_file: a mount is reported as news once") {
  const test::ScratchFolder scratch;
  const int code = test::in_child([&] { return check_news(scratch.path(".")); });
  if (code == 77) MESSAGE("no mount namespace of our own here");
  CHECK((code == 0 || code == 77));
}
