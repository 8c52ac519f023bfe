// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/command_tool/command_source.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "example.hpp"

using namespace hmn;
using namespace hmn::command_tool;
using kind = platform::outcome::kind;
using tool_test::cat;

namespace {

platform::outcome exited(int code) {
  platform::outcome o;
  o.what = kind::finished;
  o.exit_known = true;
  o.exit_code = code;
  return o;
}

std::string said(const failure& why) {
  return std::string(why.message.view());
}

failure not_run(kind what, int error) {
  platform::outcome o;
  o.what = what;
  o.error = error;
  auto why = verdict(cat, o).why_not_run("/x/cat");
  REQUIRE(why);
  CHECK(why->from == source::amd_smi);
  return *why;
}

}  // namespace

TEST_CASE("a program that did not run") {
  const failure late = not_run(kind::timed_out, 0);
  CHECK(late.code == status::timeout);
  CHECK(said(late) == "/x/cat did not answer within the deadline; wake it");
  const failure gone = not_run(kind::not_found, ENOENT);
  CHECK(gone.code == status::no_source);
  CHECK(gone.native.code == ENOENT);
  CHECK(said(gone) == "/x/cat is not there any more");
  const failure refused = not_run(kind::not_runnable, EACCES);
  CHECK(refused.code == status::permission);
  CHECK(refused.native.domain == native_domain::error_number);
  CHECK(said(refused) == "/x/cat cannot be run: permission denied");
  CHECK(not_run(kind::not_runnable, ENOEXEC).code == status::backend);
  CHECK_FALSE(verdict(cat, exited(7)).why_not_run("/x/cat"));
  platform::outcome flood;
  flood.what = kind::output_too_long;
  CHECK_FALSE(verdict(cat, flood).why_not_run("/x/cat"));
}

TEST_CASE("how it ended") {
  const failure seven = verdict(cat, exited(7)).of_exit("printed nothing");
  CHECK(seven.code == status::backend);
  CHECK(said(seven) == "cat printed nothing and exited with 7");
  CHECK(seven.native.domain == native_domain::exit);
  CHECK(seven.native.code == 7);
  CHECK(said(verdict(cat, exited(0)).of_exit("printed", "meow")) ==
        "cat printed and exited with 0: meow");
  platform::outcome killed = exited(0);
  killed.signal = SIGKILL;
  const failure signal = verdict(cat, killed).of_exit("printed");
  CHECK(said(signal) == "cat printed and was ended by signal 9");
  CHECK(signal.native.code == 128 + SIGKILL);
  platform::outcome unknown = exited(0);
  unknown.exit_known = false;
  CHECK(said(verdict(cat, unknown).of_exit("printed")) == "cat printed");
  CHECK(exit_of(unknown).domain == native_domain::none);
}

TEST_CASE("its own words: the first that fits, with what can be done") {
  constexpr sentence known[] = {
      {"no milk", sentence::about::tool, status::permission, "buy some"},
      {"milk", sentence::about::warning, status::empty, "wait"},
  };
  CHECK(find_sentence(known, "there is no milk") == &known[0]);
  CHECK(find_sentence(known, "there is milk") == &known[1]);
  CHECK(find_sentence(known, "there is tea") == nullptr);
  const failure why = verdict(cat, exited(2)).of_sentence(known[0], "there is no milk");
  CHECK(why.code == status::permission);
  CHECK(said(why) == "cat prints \"there is no milk\": buy some");
  CHECK(why.native.code == 2);
}

TEST_CASE("fields missing for the same reason are grouped") {
  std::vector<missing> gone;
  add_missing(gone, 1, status::unsupported, "no column");
  add_missing(gone, 2, status::permission, "no column");
  add_missing(gone, 4, status::unsupported, "no column");
  add_missing(gone, 8, status::unsupported, "no sense");
  REQUIRE(gone.size() == 3);
  CHECK(gone[0].fields == 5);
  CHECK(gone[1].fields == 2);
  CHECK(gone[1].code == status::permission);
  CHECK(gone[2].fields == 8);
}
