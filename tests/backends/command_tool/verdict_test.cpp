// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/command_tool/command_source.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "example.hpp"

using namespace hmn;
using namespace hmn::command_tool;
using Kind = platform::Outcome::Kind;
using tool_test::cat;

namespace {

platform::Outcome exited(int code) {
  platform::Outcome o;
  o.what = Kind::finished;
  o.exit_known = true;
  o.exit_code = code;
  return o;
}

std::string said(const Failure& why) {
  return std::string(why.message.view());
}

Failure not_run(Kind what, int error) {
  platform::Outcome o;
  o.what = what;
  o.error = error;
  auto why = Verdict(cat, o).why_not_run("/x/cat");
  REQUIRE(why);
  CHECK(why->from == Source::amd_smi);
  return *why;
}

}  // namespace

TEST_CASE("a program that did not run") {
  const Failure late = not_run(Kind::timed_out, 0);
  CHECK(late.code == Status::timeout);
  CHECK(said(late) == "/x/cat did not answer within the deadline; wake it");
  const Failure gone = not_run(Kind::not_found, ENOENT);
  CHECK(gone.code == Status::no_source);
  CHECK(gone.native.code == ENOENT);
  CHECK(said(gone) == "/x/cat is not there any more");
  const Failure refused = not_run(Kind::not_runnable, EACCES);
  CHECK(refused.code == Status::permission);
  CHECK(refused.native.domain == NativeDomain::error_number);
  CHECK(said(refused) == "/x/cat cannot be run: permission denied");
  CHECK(not_run(Kind::not_runnable, ENOEXEC).code == Status::backend);
  CHECK_FALSE(Verdict(cat, exited(7)).why_not_run("/x/cat"));
  platform::Outcome flood;
  flood.what = Kind::output_too_long;
  CHECK_FALSE(Verdict(cat, flood).why_not_run("/x/cat"));
}

TEST_CASE("how it ended") {
  const Failure seven = Verdict(cat, exited(7)).of_exit("printed nothing");
  CHECK(seven.code == Status::backend);
  CHECK(said(seven) == "cat printed nothing and exited with 7");
  CHECK(seven.native.domain == NativeDomain::exit);
  CHECK(seven.native.code == 7);
  CHECK(said(Verdict(cat, exited(0)).of_exit("printed", "meow")) ==
        "cat printed and exited with 0: meow");
  platform::Outcome killed = exited(0);
  killed.signal = SIGKILL;
  const Failure signal = Verdict(cat, killed).of_exit("printed");
  CHECK(said(signal) == "cat printed and was ended by signal 9");
  CHECK(signal.native.code == 128 + SIGKILL);
  platform::Outcome unknown = exited(0);
  unknown.exit_known = false;
  CHECK(said(Verdict(cat, unknown).of_exit("printed")) == "cat printed");
  CHECK(exit_of(unknown).domain == NativeDomain::none);
}

TEST_CASE("its own words: the first that fits, with what can be done") {
  constexpr Sentence known[] = {
      {"no milk", Sentence::About::tool, Status::permission, "buy some"},
      {"milk", Sentence::About::warning, Status::empty, "wait"},
  };
  CHECK(find_sentence(known, "there is no milk") == &known[0]);
  CHECK(find_sentence(known, "there is milk") == &known[1]);
  CHECK(find_sentence(known, "there is tea") == nullptr);
  const Failure why = Verdict(cat, exited(2)).of_sentence(known[0], "there is no milk");
  CHECK(why.code == Status::permission);
  CHECK(said(why) == "cat prints \"there is no milk\": buy some");
  CHECK(why.native.code == 2);
}

TEST_CASE("fields missing for the same reason are grouped") {
  std::vector<Missing> gone;
  add_missing(gone, 1, Status::unsupported, "no column");
  add_missing(gone, 2, Status::permission, "no column");
  add_missing(gone, 4, Status::unsupported, "no column");
  add_missing(gone, 8, Status::unsupported, "no sense");
  REQUIRE(gone.size() == 3);
  CHECK(gone[0].fields == 5);
  CHECK(gone[1].fields == 2);
  CHECK(gone[1].code == Status::permission);
  CHECK(gone[2].fields == 8);
}
