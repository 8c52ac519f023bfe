// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/posix/restoring.hpp"

#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace hmn::cli::top {
namespace {

// Signals for the loop.
constexpr int reported[] = {SIGWINCH, SIGTSTP, SIGCONT, SIGINT, SIGTERM, SIGHUP};
// Signals that end the program at once, also by a defect of its own.
constexpr int fatal[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGABRT,   SIGSYS,  SIGQUIT,
                         SIGXCPU, SIGXFSZ, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGALRM};
constexpr std::size_t signal_count = std::size(reported) + std::size(fatal);

// What handlers need, which may not allocate.
struct KeptState {
  int output = STDOUT_FILENO;
  std::array<char, 512> sequence{};
  std::size_t length = 0;
  termios modes{};
  bool has_modes = false;
  std::array<struct sigaction, signal_count> before{};
};
KeptState kept;
std::atomic<int> pipe_begin{-1};
std::atomic<bool> is_ending{false};

void write_all(int to, const char* bytes, std::size_t length) {
  while (length > 0) {
    const auto written = write(to, bytes, length);
    if (written < 0 && errno != EINTR) return;
    if (written <= 0) continue;
    bytes += written;
    length -= static_cast<std::size_t>(written);
  }
}

void restore_and_raise(int number) {
  write_all(kept.output, kept.sequence.data(), kept.length);
  if (kept.has_modes) tcsetattr(STDIN_FILENO, TCSANOW, &kept.modes);
  std::signal(number, SIG_DFL);
  raise(number);
}

void report(int number) {
  const int error = errno;
  const bool ends = number == SIGINT || number == SIGTERM || number == SIGHUP;
  // The first one may wait behind a blocked write; the second does not.
  if (ends && is_ending.exchange(true)) return restore_and_raise(number);
  const char byte = static_cast<char>(number);
  [[maybe_unused]] const auto written = write(pipe_begin, &byte, 1);
  errno = error;
}

bool is_report(std::size_t position) {
  return position < std::size(reported);
}

int signal_at(std::size_t position) {
  return is_report(position) ? reported[position] : fatal[position - std::size(reported)];
}

void set_handler(int number, void (*handler)(int), struct sigaction* before) {
  struct sigaction how {};
  how.sa_handler = handler;
  how.sa_flags = SA_RESTART;
  sigaction(number, &how, before);
}

}  // namespace

void keep_terminal(int output) {
  kept.output = output;
  kept.has_modes = tcgetattr(STDIN_FILENO, &kept.modes) == 0;
}

Restoring::Restoring(const std::string& sequence) {
  kept.length = std::min(sequence.size(), kept.sequence.size());
  std::memcpy(kept.sequence.data(), sequence.data(), kept.length);
  pipe_begin = pipe_.write_end();
  is_ending = false;
  for (std::size_t i = 0; i < signal_count; ++i) {
    set_handler(signal_at(i), is_report(i) ? report : restore_and_raise, &kept.before[i]);
    // nohup, and a shell without job control
    const bool was_ignored = kept.before[i].sa_handler == SIG_IGN;
    if (was_ignored && signal_at(i) != SIGWINCH) sigaction(signal_at(i), &kept.before[i], nullptr);
  }
}

Restoring::~Restoring() {
  for (std::size_t i = 0; i < signal_count; ++i) sigaction(signal_at(i), &kept.before[i], nullptr);
  pipe_begin = -1;
}

void Restoring::wake() const {
  const char byte = 0;
  [[maybe_unused]] const auto written = write(pipe_.write_end(), &byte, 1);
}

void Restoring::stop() const {
  std::signal(SIGTSTP, SIG_DFL);
  raise(SIGTSTP);
  set_handler(SIGTSTP, report, nullptr);
}

}  // namespace hmn::cli::top
