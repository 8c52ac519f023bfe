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

platform::Outcome make_exit(int code) {
  platform::Outcome outcome;
  outcome.kind = Kind::finished;
  outcome.has_exit_status = true;
  outcome.exit_code = code;
  return outcome;
}

std::string get_message(const Failure& failure) {
  return std::string(failure.message.view());
}

Failure get_run_failure(Kind kind, int error) {
  platform::Outcome outcome;
  outcome.kind = kind;
  outcome.error = error;
  auto failure = RunFailures(cat, outcome).find_start_failure("/x/cat");
  REQUIRE(failure);
  CHECK(failure->source == Source::amd_smi);
  return *failure;
}

}  // namespace

TEST_CASE("a program that did not run has the status of its error") {
  const Failure late = get_run_failure(Kind::timed_out, 0);
  CHECK(late.code == Status::timeout);
  CHECK(get_message(late) == "/x/cat did not answer within the deadline; wake it");
  const Failure missing = get_run_failure(Kind::not_found, ENOENT);
  CHECK(missing.code == Status::no_source);
  CHECK(missing.native.code == ENOENT);
  CHECK(get_message(missing) == "/x/cat no longer exists");
  const Failure refused = get_run_failure(Kind::not_runnable, EACCES);
  CHECK(refused.code == Status::permission);
  CHECK(refused.native.domain == NativeDomain::error_number);
  CHECK(get_message(refused) == "/x/cat cannot be run: permission denied");
  CHECK(get_run_failure(Kind::not_runnable, ENOEXEC).code == Status::backend);
  CHECK_FALSE(RunFailures(cat, make_exit(7)).find_start_failure("/x/cat"));
  platform::Outcome flood;
  flood.kind = Kind::output_too_long;
  CHECK_FALSE(RunFailures(cat, flood).find_start_failure("/x/cat"));
}

TEST_CASE("an exit code and a signal are reported") {
  const Failure seven = RunFailures(cat, make_exit(7)).make_exit_failure("printed nothing");
  CHECK(seven.code == Status::backend);
  CHECK(get_message(seven) == "cat printed nothing and exited with 7");
  CHECK(seven.native.domain == NativeDomain::exit);
  CHECK(seven.native.code == 7);
  CHECK(get_message(RunFailures(cat, make_exit(0)).make_exit_failure("printed", "meow")) ==
        "cat printed and exited with 0: meow");
  platform::Outcome killed = make_exit(0);
  killed.signal = SIGKILL;
  const Failure signal = RunFailures(cat, killed).make_exit_failure("printed");
  CHECK(get_message(signal) == "cat printed and was ended by signal 9");
  CHECK(signal.native.code == 128 + SIGKILL);
  platform::Outcome unknown = make_exit(0);
  unknown.has_exit_status = false;
  CHECK(get_message(RunFailures(cat, unknown).make_exit_failure("printed")) == "cat printed");
  CHECK(make_exit_code(unknown).domain == NativeDomain::none);
}

TEST_CASE("the first known message that matches gives status and advice") {
  constexpr ToolMessage sentences[] = {
      {"no milk", ToolMessage::Subject::tool, Status::permission, "buy some"},
      {"milk", ToolMessage::Subject::warning, Status::empty, "wait"},
  };
  CHECK(find_message(sentences, "there is no milk") == &sentences[0]);
  CHECK(find_message(sentences, "there is milk") == &sentences[1]);
  CHECK(find_message(sentences, "there is tea") == nullptr);
  const Failure failure =
      RunFailures(cat, make_exit(2)).make_message_failure(sentences[0], "there is no milk");
  CHECK(failure.code == Status::permission);
  CHECK(get_message(failure) == "cat prints \"there is no milk\": buy some");
  CHECK(failure.native.code == 2);
}

TEST_CASE("fields missing for the same reason are grouped") {
  std::vector<MissingFields> missing;
  add_missing(missing, 1, Status::unsupported, "no column");
  add_missing(missing, 2, Status::permission, "no column");
  add_missing(missing, 4, Status::unsupported, "no column");
  add_missing(missing, 8, Status::unsupported, "no sense");
  REQUIRE(missing.size() == 3);
  CHECK(missing[0].fields == 5);
  CHECK(missing[1].fields == 2);
  CHECK(missing[1].code == Status::permission);
  CHECK(missing[2].fields == 8);
}
