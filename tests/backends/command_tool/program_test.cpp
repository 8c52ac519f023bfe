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
  void diagnose(const Diagnostic& d) override { diagnostics.push_back(d); }
  void opening() noexcept override {}
  void opened() noexcept override {}

  std::vector<Diagnostic> diagnostics;

 private:
  bool trace_;
};

std::string why_not(const char* path) {
  Program p(cat, path);
  const auto found = p.find();
  REQUIRE_FALSE(found);
  CHECK(found.why().code == Status::no_source);
  CHECK(found.why().from == Source::amd_smi);
  return std::string(found.why().message.view());
}

}  // namespace

TEST_CASE("a wanted path is absolute and a program, and nothing stands in for it") {
  CHECK(why_not("cat") == "the path of cat must be absolute, \"cat\" is not");
  CHECK(why_not("/nowhere/cat") == "/nowhere/cat is no program that can be run");
  CHECK(why_not("/etc/passwd") == "/etc/passwd is no program that can be run");
  CHECK(why_not("/") == "/ is no program that can be run");
}

TEST_CASE("without one it is taken from its folders, in their order") {
  Program p(cat, "");
  REQUIRE(p.find());
  CHECK(p.path() == "/bin/cat");
  Description homeless = cat;
  homeless.folders = std::span(tool_test::folders).first(1);
  const auto found = Program(homeless, "").find();
  REQUIRE_FALSE(found);
  CHECK(std::string(found.why().message.view()) == "cat is gone");
}

TEST_CASE("another file in its place is seen once") {
  const hmn_fake::Tree tree;
  tree.write("tool", "#!/bin/sh\n");
  tree.mode("tool", 0755);
  Program p(cat, tree.path("tool"));
  REQUIRE(p.find());
  CHECK(p.was_replaced());
  CHECK_FALSE(p.was_replaced());
  tree.write("other", "#!/bin/sh\n");
  REQUIRE(std::rename(tree.path("other").c_str(), tree.path("tool").c_str()) == 0);
  CHECK(p.was_replaced());
  CHECK_FALSE(p.was_replaced());
}

TEST_CASE("what it writes to stderr is output where that is asked for; a start is traced") {
  const hmn_fake::Tree tree;
  tree.write("tool", "#!/bin/sh\necho \"$1\"\necho \"$2\" >&2\nexit 3\n");
  tree.mode("tool", 0755);
  Program p(cat, tree.path("tool"));
  REQUIRE(p.find());
  PlainReading quiet(false);
  CHECK(p.run({"a", "b"}, false, quiet).output == "a\n");
  CHECK(quiet.diagnostics.empty());
  PlainReading traced(true);
  CHECK(p.run({"a", "b"}, true, traced).output == "a\nb\n");
  REQUIRE(traced.diagnostics.size() == 1);
  const Diagnostic& d = traced.diagnostics[0];
  CHECK(d.notes == note::trace);
  CHECK(d.why.code == Status::ok);
  CHECK(d.why.native.code == 3);
  CHECK(std::string(d.why.message.view()) == p.path() + " a b");
}
