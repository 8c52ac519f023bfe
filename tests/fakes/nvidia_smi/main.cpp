// SPDX-License-Identifier: MIT OR Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "query.hpp"
#include "spawn_log.hpp"

namespace {

using namespace fake_smi;

constexpr int exit_bad_scenario = 70;
constexpr int exit_no_driver = 9;
constexpr char no_driver[] =
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that "
    "the latest NVIDIA driver is installed and running.\n\n";

void wait_ms(unsigned ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

[[noreturn]] void wait_for_ever() {
  for (;;) wait_ms(1000);
}

std::string folder_of_this_program() {
  char path[PATH_MAX];
  const auto length = readlink("/proc/self/exe", path, sizeof path);
  const std::string text(path, length < 0 ? 0 : static_cast<std::size_t>(length));
  return text.substr(0, text.rfind('/'));
}

bool write_all(const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const auto n = write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

void print(const std::string& text, unsigned drip_ms) {
  if (drip_ms == 0) {
    write_all(text);
    return;
  }
  for (const char c : text) {
    if (!write_all(std::string(1, c))) return;
    wait_ms(drip_ms);
  }
}

void print_long_line(unsigned long long bytes) {
  const std::string chunk(65536, 'x');
  for (; bytes > chunk.size(); bytes -= chunk.size())
    if (!write_all(chunk)) return;
  write_all(chunk.substr(0, bytes));
}

// A grandchild keeps the pipe open after the tool has gone: no end of file for the reader.
void leave_orphan(unsigned ms) {
  if (fork() != 0) return;
  wait_ms(ms);
  _exit(0);
}

void act_before(const Behaviour& acts) {
  if (acts.ignore_sigterm) std::signal(SIGTERM, SIG_IGN);
  if (acts.delay_ms) wait_ms(acts.delay_ms);
  if (acts.hang) wait_for_ever();
  if (acts.long_line_bytes) print_long_line(acts.long_line_bytes);
  while (!acts.endless.empty())
    if (!write_all(acts.endless)) _exit(1);
}

void act_after(const Behaviour& acts) {
  if (acts.orphan_holds_stdout_ms) leave_orphan(acts.orphan_holds_stdout_ms);
  if (acts.hang_after_output) wait_for_ever();
  if (acts.close_stdout_and_hang) {
    close(STDOUT_FILENO);
    wait_for_ever();
  }
  if (acts.dies_by_signal) {
    std::signal(acts.dies_by_signal, SIG_DFL);
    raise(acts.dies_by_signal);
  }
}

int run(const std::vector<std::string>& argv) {
  const auto folder = folder_of_this_program();
  const auto earlier = log_spawn(folder + "/nvidia-smi.log", argv);
  std::ifstream file(folder + "/nvidia-smi.json");
  if (!file) {
    write_all(no_driver);
    return exit_no_driver;
  }
  std::ostringstream text;
  text << file.rdbuf();
  const auto scene = scenario_from(text.str(), folder, earlier);
  act_before(scene.acts);
  std::fputs(scene.to_stderr.c_str(), stderr);
  const auto out = answer(scene, arguments_from({argv.begin() + 1, argv.end()}));
  if (scene.fails && scene.fails->on_stderr)
    std::fputs(out.text.c_str(), stderr);
  else
    print(out.text, scene.acts.drip_ms);
  act_after(scene.acts);
  return scene.exit_code.value_or(out.exit_code);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv, argv + argc});
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "fake nvidia-smi: %s\n", problem.what());
    return exit_bad_scenario;
  }
}
