// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/process.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::procfs;

namespace {

std::string make_line(const std::string& comm, const std::string& state = "S",
                      const std::string& flags = "4194304", const std::string& threads = "1",
                      const std::string& rss = "297") {
  return "2001 (" + comm + ") " + state + " 1888 2001 1888 34816 2001 " + flags +
         " 428 0 0 0 0 0 0 0 20 0 " + threads + " 0 75513 115900416 " + rss +
         " 18446744073709551615 0 0 0\n";
}

}  // namespace

TEST_CASE("stat: the fields of a process row are read") {
  const std::string text = make_line("trainer");
  const auto stat = parse_stat(text);
  REQUIRE(stat);
  CHECK(stat->pid == 2001);
  CHECK(stat->comm == "trainer");
  CHECK(stat->state == 'S');
  CHECK(stat->ppid == 1888);
  CHECK(stat->starttime == 75513);
  CHECK(stat->vsize == 115900416);
  CHECK(stat->rss == 297);
  CHECK(stat->num_threads == 1);
  CHECK_FALSE(stat->is_kernel_thread());
  CHECK_FALSE(stat->has_exited());
}

TEST_CASE("stat: a name may contain parentheses, blanks and line ends") {
  for (const std::string& comm :
       {std::string(), std::string(")"), std::string("("), std::string("a) R 1 2"),
        std::string("a\nb"), std::string(" "), std::string("(a b ) ( c d) "), std::string(") Z ("),
        std::string(63, ')'), std::string(200, 'x')}) {
    const std::string text = make_line(comm);
    const auto stat = parse_stat(text);
    REQUIRE(stat);
    CHECK(stat->comm == comm);
    CHECK(stat->state == 'S');
  }
}

TEST_CASE("stat: kernel threads, zombies and processes without their main thread are recognised") {
  CHECK(parse_stat(make_line("kworker/0:1", "I", "69238880", "1", "0"))->is_kernel_thread());
  CHECK(parse_stat(make_line("a", "Z"))->has_exited());
  CHECK(parse_stat(make_line("a", "X"))->has_exited());
  CHECK_FALSE(parse_stat(make_line("a", "Z"))->is_headless());
  CHECK(parse_stat(make_line("a", "Z", "4194304", "2"))->is_headless());
  CHECK_FALSE(parse_stat(make_line("a", "Z", "4194304", "2"))->has_exited());
}

TEST_CASE("stat: a negative resident set is unknown, and other fields are kept") {
  const std::string text = make_line("a", "S", "4194304", "1", "-3");
  const auto stat = parse_stat(text);
  REQUIRE(stat);
  CHECK_FALSE(stat->rss);
  CHECK(stat->vsize == 115900416);
}

TEST_CASE("stat: text that is cut anywhere is refused") {
  const std::string whole = make_line("trainer");
  const std::size_t after_rss = whole.find(" 18446744073709551615");
  for (std::size_t length = 0; length <= after_rss; ++length) {
    CHECK_FALSE(parse_stat(whole.substr(0, length)));
  }
  CHECK(parse_stat(whole.substr(0, after_rss + 1)));
}

TEST_CASE("stat: invalid text is refused") {
  CHECK_FALSE(parse_stat(")("));
  CHECK_FALSE(parse_stat("1 )a( S"));
  CHECK_FALSE(parse_stat("x" + make_line("a")));
  CHECK_FALSE(parse_stat(make_line("a", "SS")));
  CHECK_FALSE(parse_stat(make_line("a", "S", "-1")));
  CHECK_FALSE(parse_stat(make_line("a", "S", "1", "-1")));
  CHECK_FALSE(parse_stat("7 (x) R y 7 7 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 5 6 7 8 9\n"));
}

TEST_CASE("stat: a kernel thread is recognised from the text alone") {
  CHECK(is_kernel_thread(make_line("kthreadd", "S", "2129984")));
  CHECK(is_kernel_thread(make_line("a) b", "S", "2129984")));
  CHECK_FALSE(is_kernel_thread(make_line("bash")));
  for (const char* text : {"", ")", "2 (kthreadd", "2 (kthreadd) S 0 0 0 0 -1 2129984", "2 () x"}) {
    CHECK_FALSE(is_kernel_thread(text));
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
