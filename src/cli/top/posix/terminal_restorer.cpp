// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/posix/terminal_restorer.hpp"

#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace hmn::cli::top {
namespace {

// Signals passed to the main loop.
constexpr int loop_signals[] = {SIGWINCH, SIGTSTP, SIGCONT, SIGINT, SIGTERM, SIGHUP};
// Signals that end the program at once, including those of a crash.
constexpr int fatal_signals[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGABRT,   SIGSYS,  SIGQUIT,
                                 SIGXCPU, SIGXFSZ, SIGUSR1, SIGUSR2, SIGVTALRM, SIGPROF, SIGALRM};
constexpr std::size_t signal_count = std::size(loop_signals) + std::size(fatal_signals);

// State for signal handlers, which may not allocate.
struct SavedTerminal {
  int output = STDOUT_FILENO;
  std::array<char, 512> sequence{};
  std::size_t length = 0;
  termios modes{};
  bool has_modes = false;
  std::array<struct sigaction, signal_count> previous_actions{};
};
SavedTerminal saved_terminal;
std::atomic<int> pipe_write_end{-1};
std::atomic<bool> is_ending{false};

void write_all(int descriptor, const char* bytes, std::size_t length) {
  while (length > 0) {
    const auto written = write(descriptor, bytes, length);
    if (written < 0 && errno != EINTR) return;
    if (written <= 0) continue;
    bytes += written;
    length -= static_cast<std::size_t>(written);
  }
}

void restore_and_raise(int number) {
  write_all(saved_terminal.output, saved_terminal.sequence.data(), saved_terminal.length);
  if (saved_terminal.has_modes) tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal.modes);
  std::signal(number, SIG_DFL);
  raise(number);
}

void report_signal(int number) {
  const int error = errno;
  const bool is_end_signal = number == SIGINT || number == SIGTERM || number == SIGHUP;
  // The first one may wait behind a blocked write; the second does not.
  if (is_end_signal && is_ending.exchange(true)) return restore_and_raise(number);
  const char byte = static_cast<char>(number);
  [[maybe_unused]] const auto written = write(pipe_write_end, &byte, 1);
  errno = error;
}

bool is_loop_signal(std::size_t position) {
  return position < std::size(loop_signals);
}

int signal_number(std::size_t position) {
  return is_loop_signal(position) ? loop_signals[position]
                                  : fatal_signals[position - std::size(loop_signals)];
}

void set_handler(int number, void (*handler)(int), struct sigaction* previous) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, previous);
}

}  // namespace

void save_terminal(int output) {
  saved_terminal.output = output;
  saved_terminal.has_modes = tcgetattr(STDIN_FILENO, &saved_terminal.modes) == 0;
}

TerminalRestorer::TerminalRestorer(const std::string& sequence) {
  saved_terminal.length = std::min(sequence.size(), saved_terminal.sequence.size());
  std::memcpy(saved_terminal.sequence.data(), sequence.data(), saved_terminal.length);
  pipe_write_end = pipe_.write_end();
  is_ending = false;
  for (std::size_t i = 0; i < signal_count; ++i) {
    set_handler(signal_number(i), is_loop_signal(i) ? report_signal : restore_and_raise,
                &saved_terminal.previous_actions[i]);
    // nohup, and a shell without job control
    const bool was_ignored = saved_terminal.previous_actions[i].sa_handler == SIG_IGN;
    if (was_ignored && signal_number(i) != SIGWINCH)
      sigaction(signal_number(i), &saved_terminal.previous_actions[i], nullptr);
  }
}

TerminalRestorer::~TerminalRestorer() {
  for (std::size_t i = 0; i < signal_count; ++i)
    sigaction(signal_number(i), &saved_terminal.previous_actions[i], nullptr);
  pipe_write_end = -1;
}

void TerminalRestorer::wake() const {
  const char byte = 0;
  [[maybe_unused]] const auto written = write(pipe_.write_end(), &byte, 1);
}

void TerminalRestorer::stop_program() const {
  std::signal(SIGTSTP, SIG_DFL);
  raise(SIGTSTP);
  set_handler(SIGTSTP, report_signal, nullptr);
}

}  // namespace hmn::cli::top
