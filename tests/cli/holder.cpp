// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Holds memory, for the tests of `hmn run`: holder <word>...
//   fill:MIB    touches so much, for good          sleep:MS    waits
//   fork        goes on in a child as well         child       the parent ends, the child goes on
//   wait        for the children               until:FILE  waits for that file, a minute at most
//   exit:CODE   ends at once                       kill:SIGNAL ends by that signal
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

unsigned number(const std::string& word) {
  return static_cast<unsigned>(std::strtoul(word.c_str() + word.find(':') + 1, nullptr, 10));
}

bool is(const std::string& word, const char* what) {
  return word.substr(0, word.find(':')) == what;
}

void fill(unsigned mib) {
  const std::size_t bytes = std::size_t{mib} << 20;
  char* const held = static_cast<char*>(std::malloc(bytes));
  if (held == nullptr) _exit(99);
  std::memset(held, 1, bytes);
  // Never read, the compiler could leave all of it out.
  asm volatile("" : : "r"(held) : "memory");
}

void wait_for(const char* file) {
  for (int tries = 0; tries < 12'000 && access(file, F_OK) != 0; ++tries) usleep(5'000);
}

}  // namespace

int main(int argc, char** argv) {
  bool is_child = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (is(word, "fill")) fill(number(word));
    if (is(word, "sleep")) usleep(number(word) * 1000);
    if (is(word, "until")) wait_for(argv[i] + sizeof "until:" - 1);
    if (is(word, "fork")) is_child = fork() == 0;
    if (is(word, "child") && !is_child) break;
    if (is(word, "wait"))
      while (wait(nullptr) > 0) continue;
    if (is(word, "kill")) std::raise(static_cast<int>(number(word)));
    if (is(word, "exit")) return static_cast<int>(number(word));
  }
  return 0;
}
