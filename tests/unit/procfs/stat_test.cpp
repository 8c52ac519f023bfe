// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/process.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::procfs;

namespace {

std::string line(const std::string& comm, const std::string& state = "S",
                 const std::string& flags = "4194304", const std::string& threads = "1",
                 const std::string& rss = "297") {
  return "2001 (" + comm + ") " + state + " 1888 2001 1888 34816 2001 " + flags +
         " 428 0 0 0 0 0 0 0 20 0 " + threads + " 0 75513 115900416 " + rss +
         " 18446744073709551615 0 0 0\n";
}

}  // namespace

TEST_CASE("stat gives what the rows of a process list need") {
  const std::string text = line("trainer");
  const auto s = parse_stat(text);
  REQUIRE(s);
  CHECK(s->pid == 2001);
  CHECK(s->comm == "trainer");
  CHECK(s->state == 'S');
  CHECK(s->ppid == 1888);
  CHECK(s->starttime == 75513);
  CHECK(s->vsize == 115900416);
  CHECK(s->rss == 297);
  CHECK(s->num_threads == 1);
  CHECK_FALSE(s->is_kernel_thread());
  CHECK_FALSE(s->has_exited());
}

TEST_CASE("a name may hold parentheses, blanks and line ends") {
  for (const std::string& comm :
       {std::string(), std::string(")"), std::string("("), std::string("a) R 1 2"),
        std::string("a\nb"), std::string(" "), std::string("(a b ) ( c d) "), std::string(") Z ("),
        std::string(63, ')'), std::string(200, 'x')}) {
    const std::string text = line(comm);
    const auto s = parse_stat(text);
    REQUIRE(s);
    CHECK(s->comm == comm);
    CHECK(s->state == 'S');
  }
}

TEST_CASE("stat tells a kernel thread, a zombie and a process without its first thread") {
  CHECK(parse_stat(line("kworker/0:1", "I", "69238880", "1", "0"))->is_kernel_thread());
  CHECK(parse_stat(line("a", "Z"))->has_exited());
  CHECK(parse_stat(line("a", "X"))->has_exited());
  CHECK_FALSE(parse_stat(line("a", "Z"))->is_headless());
  CHECK(parse_stat(line("a", "Z", "4194304", "2"))->is_headless());
  CHECK_FALSE(parse_stat(line("a", "Z", "4194304", "2"))->has_exited());
}

TEST_CASE("a negative resident set is no figure, and costs no other") {
  const std::string text = line("a", "S", "4194304", "1", "-3");
  const auto s = parse_stat(text);
  REQUIRE(s);
  CHECK_FALSE(s->rss);
  CHECK(s->vsize == 115900416);
}

TEST_CASE("stat that is cut short anywhere is refused") {
  const std::string whole = line("trainer");
  const std::size_t after_rss = whole.find(" 18446744073709551615");
  for (std::size_t length = 0; length <= after_rss; ++length) {
    CHECK_FALSE(parse_stat(whole.substr(0, length)));
  }
  CHECK(parse_stat(whole.substr(0, after_rss + 1)));
}

TEST_CASE("stat with nonsense is refused") {
  CHECK_FALSE(parse_stat(")("));
  CHECK_FALSE(parse_stat("1 )a( S"));
  CHECK_FALSE(parse_stat("x" + line("a")));
  CHECK_FALSE(parse_stat(line("a", "SS")));
  CHECK_FALSE(parse_stat(line("a", "S", "-1")));
  CHECK_FALSE(parse_stat(line("a", "S", "1", "-1")));
  CHECK_FALSE(parse_stat("7 (x) R y 7 7 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 5 6 7 8 9\n"));
}

TEST_CASE("a kernel thread by its text alone") {
  CHECK(is_kernel_thread(line("kthreadd", "S", "2129984")));
  CHECK(is_kernel_thread(line("a) b", "S", "2129984")));
  CHECK_FALSE(is_kernel_thread(line("bash")));
  for (const char* torn : {"", ")", "2 (kthreadd", "2 (kthreadd) S 0 0 0 0 -1 2129984", "2 () x"}) {
    CHECK_FALSE(is_kernel_thread(torn));
  }
}

TEST_CASE("stat: processor time and exit signal are fields 14, 15 and 38") {
  std::string line = "3 (a) b) S";
  for (int field = 4; field <= 52; ++field) line += " " + std::to_string(100 * field);
  CHECK(parse_processor_ticks(line + "\n") == 1400u + 1500u);
  CHECK(parse_exit_signal(line + "\n") == 3800u);
  // A cut line's last number may be cut, too.
  CHECK_FALSE(parse_processor_ticks("3 (a) S 4 5 6 7 8 9 10 11 12 13 14 15"));
  CHECK_FALSE(parse_exit_signal("3 (a) S 4 5 6 7 8 9 10 11 12 13 14 15 16\n"));
  CHECK_FALSE(parse_exit_signal("3 a S 4"));
}
