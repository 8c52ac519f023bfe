// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/command_tool/command_source.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "example.hpp"
#include "fake_tree.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace hmn::command_tool;
using tool_test::cat;

namespace {

class PlainReading final : public Reading {
 public:
  explicit PlainReading(bool trace) : trace_(trace) {}
  std::uint64_t deadline_ns() const noexcept override {
    return platform::monotonic_ns() + 60 * platform::ns_per_second;
  }
  bool wants_trace() const noexcept override { return trace_; }
  void diagnose(const Diagnostic& diagnostic) override { diagnostics.push_back(diagnostic); }
  void begin_opening() noexcept override {}
  void end_opening() noexcept override {}

  std::vector<Diagnostic> diagnostics;

 private:
  bool trace_;
};

std::string get_error(const char* path) {
  Program program(cat, path);
  const auto result = program.find();
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::no_source);
  CHECK(result.failure().source == Source::amd_smi);
  return std::string(result.failure().message.view());
}

}  // namespace

TEST_CASE("a configured path must be absolute and executable, and has no fallback") {
  CHECK(get_error("cat") == "the path of cat must be absolute, \"cat\" is not");
  CHECK(get_error("/nowhere/cat") == "/nowhere/cat is not an executable program");
  CHECK(get_error("/etc/passwd") == "/etc/passwd is not an executable program");
  CHECK(get_error("/") == "/ is not an executable program");
}

TEST_CASE("without a path the program is taken from its folders, in order") {
  Program program(cat, "");
  REQUIRE(program.find());
  CHECK(program.path() == "/bin/cat");
  ToolDescription homeless = cat;
  homeless.folders = std::span(tool_test::folders).first(1);
  const auto result = Program(homeless, "").find();
  REQUIRE_FALSE(result);
  CHECK(std::string(result.failure().message.view()) == "cat is gone");
}

TEST_CASE("a replaced program is noticed once") {
  const hmn_fake::Tree tree;
  tree.write("tool", "#!/bin/sh\n");
  tree.mode("tool", 0755);
  Program program(cat, tree.path("tool"));
  REQUIRE(program.find());
  CHECK(program.was_replaced());
  CHECK_FALSE(program.was_replaced());
  tree.write("other", "#!/bin/sh\n");
  REQUIRE(std::rename(tree.path("other").c_str(), tree.path("tool").c_str()) == 0);
  CHECK(program.was_replaced());
  CHECK_FALSE(program.was_replaced());
}

TEST_CASE("stderr is part of the output if requested, and a start is traced") {
  const hmn_fake::Tree tree;
  tree.write("tool", "#!/bin/sh\necho \"$1\"\necho \"$2\" >&2\nexit 3\n");
  tree.mode("tool", 0755);
  Program program(cat, tree.path("tool"));
  REQUIRE(program.find());
  PlainReading quiet(false);
  CHECK(program.run({"a", "b"}, false, quiet).output == "a\n");
  CHECK(quiet.diagnostics.empty());
  PlainReading traced(true);
  CHECK(program.run({"a", "b"}, true, traced).output == "a\nb\n");
  REQUIRE(traced.diagnostics.size() == 1);
  const Diagnostic& diagnostic = traced.diagnostics[0];
  CHECK(diagnostic.notes == note::trace);
  CHECK(diagnostic.failure.code == Status::ok);
  CHECK(diagnostic.failure.native.code == 3);
  CHECK(std::string(diagnostic.failure.message.view()) == program.path() + " a b");
}
