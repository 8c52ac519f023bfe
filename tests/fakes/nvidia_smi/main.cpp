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

[[noreturn]] void wait_forever() {
  for (;;) wait_ms(1000);
}

std::string program_folder() {
  char path[PATH_MAX];
  const auto length = readlink("/proc/self/exe", path, sizeof path);
  const std::string text(path, length < 0 ? 0 : static_cast<std::size_t>(length));
  return text.substr(0, text.rfind('/'));
}

bool write_all(const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const auto length = write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return false;
    done += static_cast<std::size_t>(length);
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

void act_before(const Behaviour& behaviour) {
  if (behaviour.ignore_sigterm) std::signal(SIGTERM, SIG_IGN);
  if (behaviour.delay_ms) wait_ms(behaviour.delay_ms);
  if (behaviour.hang) wait_forever();
  if (behaviour.long_line_bytes) print_long_line(behaviour.long_line_bytes);
  while (!behaviour.endless.empty())
    if (!write_all(behaviour.endless)) _exit(1);
}

void act_after(const Behaviour& behaviour) {
  if (behaviour.orphan_holds_stdout_ms) leave_orphan(behaviour.orphan_holds_stdout_ms);
  if (behaviour.hang_after_output) wait_forever();
  if (behaviour.close_stdout_and_hang) {
    close(STDOUT_FILENO);
    wait_forever();
  }
  if (behaviour.dies_by_signal) {
    std::signal(behaviour.dies_by_signal, SIG_DFL);
    raise(behaviour.dies_by_signal);
  }
}

int run(const std::vector<std::string>& argv) {
  const auto folder = program_folder();
  const auto earlier = log_spawn(folder + "/nvidia-smi.log", argv);
  std::ifstream file(folder + "/nvidia-smi.json");
  if (!file) {
    write_all(no_driver);
    return exit_no_driver;
  }
  std::ostringstream text;
  text << file.rdbuf();
  const auto scene = parse_scenario(text.str(), folder, earlier);
  act_before(scene.behaviour);
  std::fputs(scene.stderr_text.c_str(), stderr);
  const auto out = answer(scene, parse_arguments({argv.begin() + 1, argv.end()}));
  if (scene.failure && scene.failure->uses_stderr)
    std::fputs(out.text.c_str(), stderr);
  else
    print(out.text, scene.behaviour.drip_ms);
  act_after(scene.behaviour);
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
