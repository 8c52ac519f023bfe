// SPDX-License-Identifier: MIT OR Apache-2.0
#include "support.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "platform/clock.hpp"

namespace test {

scratch_folder::scratch_folder() {
  std::string made = (std::filesystem::temp_directory_path() / "hmn-XXXXXX").string();
  REQUIRE(mkdtemp(made.data()) != nullptr);
  path_ = made;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string scratch_folder::write(std::string_view name, std::string_view text) const {
  std::ofstream(path(name), std::ios::binary) << text;
  return path(name);
}

std::set<int> open_descriptors() {
  std::set<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    found.insert(std::stoi(entry.path().filename().string()));
  }
  std::erase_if(found, [](int number) { return fcntl(number, F_GETFD) < 0; });
  return found;
}

int descriptor_of(const std::string& path) {
  std::error_code ignored;
  for (const int number : open_descriptors()) {
    const std::string link = "/proc/self/fd/" + std::to_string(number);
    if (std::filesystem::read_symlink(link, ignored) == path) return number;
  }
  return -1;
}

int wait_for(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int run_test_case(const std::string& program, const char* name) {
  const std::string only = std::string("--test-case=") + name;
  return in_child([&] {
    const int null_device = open("/dev/null", O_WRONLY);
    dup2(null_device, STDOUT_FILENO);
    execl(program.c_str(), program.c_str(), only.c_str(), "--no-skip", nullptr);
    return 126;
  });
}

bool can_run_itself() {
  const bool can = run_test_case("/proc/self/exe", "no such test case") == 0;
  if (!can) MESSAGE("skipped: unit.platform: this program cannot be run by its file");
  return can;
}

namespace {

unsigned failing(int error) {
  return SECCOMP_RET_ERRNO | static_cast<unsigned>(error);
}

constexpr unsigned argument(unsigned index) {
  return static_cast<unsigned>(offsetof(seccomp_data, args)) + index * 8;  // its low half
}

bool install(long number, unsigned argument_offset, unsigned mask, unsigned wanted,
             unsigned action) {
  const auto call = static_cast<unsigned>(number);
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument_offset),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wanted, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

bool refuse(long number, int error, unsigned mask, unsigned wanted) {
  return install(number, argument(0), mask, wanted, failing(error));
}

bool refuse_third(long number, int error, unsigned wanted) {
  return install(number, argument(2), ~0U, wanted, failing(error));
}

bool trap(long number) {
  return install(number, argument(0), 0, 0, SECCOMP_RET_TRAP);
}

bool is_running(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::ostringstream text;
  text << file.rdbuf();
  const size_t name_end = text.str().rfind(')');
  return name_end != std::string::npos && text.str().substr(name_end + 2, 1) != "Z";
}

bool ends_within(pid_t process, unsigned milliseconds) {
  for (unsigned i = 0; i < milliseconds; ++i) {
    if (!is_running(process)) return true;
    hmn::platform::sleep_ns(hmn::platform::ns_per_ms);
  }
  return false;
}

}  // namespace test
