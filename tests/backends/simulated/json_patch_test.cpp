// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/json_patch.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "backends/simulated/json_pointer.hpp"
#include "model/json_parse.hpp"

using hmn::json::equal;
using hmn::json::value;

namespace {

value parsed(const std::string& text) {
  auto out = hmn::json::parse(text);
  INFO(text);
  REQUIRE(std::holds_alternative<value>(out));
  return std::move(*std::get_if<value>(&out));
}

struct example {
  const char* document;
  const char* patch;
  const char* result;
};

// The examples of RFC 6902, appendix A, that succeed.
const example examples[] = {
    {R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux"}])",
     R"({"baz":"qux","foo":"bar"})"},
    {R"({"foo":["bar","baz"]})", R"([{"op":"add","path":"/foo/1","value":"qux"}])",
     R"({"foo":["bar","qux","baz"]})"},
    {R"({"baz":"qux","foo":"bar"})", R"([{"op":"remove","path":"/baz"}])", R"({"foo":"bar"})"},
    {R"({"foo":["bar","qux","baz"]})", R"([{"op":"remove","path":"/foo/1"}])",
     R"({"foo":["bar","baz"]})"},
    {R"({"baz":"qux","foo":"bar"})", R"([{"op":"replace","path":"/baz","value":"boo"}])",
     R"({"baz":"boo","foo":"bar"})"},
    {R"({"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}})",
     R"([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}])",
     R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})"},
    {R"({"foo":["all","grass","cows","eat"]})",
     R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])",
     R"({"foo":["all","cows","eat","grass"]})"},
    {R"({"baz":"qux","foo":["a",2,"c"]})",
     R"([{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}])",
     R"({"baz":"qux","foo":["a",2,"c"]})"},
    {R"({"foo":"bar"})", R"([{"op":"add","path":"/child","value":{"grandchild":{}}}])",
     R"({"foo":"bar","child":{"grandchild":{}}})"},
    {R"({"/":9,"~1":10})", R"([{"op":"test","path":"/~01","value":10}])", R"({"/":9,"~1":10})"},
    {R"({"foo":["bar"]})", R"([{"op":"add","path":"/foo/-","value":["abc","def"]}])",
     R"({"foo":["bar",["abc","def"]]})"},
    // Of our own.
    {R"({"a":{"b":[1,2]}})", R"([{"op":"copy","from":"/a/b","path":"/c"}])",
     R"({"a":{"b":[1,2]},"c":[1,2]})"},
    {R"({"a":1})", R"([{"op":"add","path":"/a","value":null}])", R"({"a":null})"},
    {R"({"a":1})", R"([{"op":"replace","path":"","value":[7]}])", R"([7])"},
    {R"({"":{"":1}})", R"([{"op":"replace","path":"//","value":2}])", R"({"":{"":2}})"},
    {R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
    {R"({"n":1})", R"([{"op":"test","path":"/n","value":1.0,"comment":"the same number"}])",
     R"({"n":1})"},
    {R"({"a":[{"b":1,"c":2}]})", R"([{"op":"test","path":"/a/0","value":{"c":2,"b":1}}])",
     R"({"a":[{"b":1,"c":2}]})"},
    {R"({})", R"([])", R"({})"},
};

auto change(value& document, const std::string& patch) {
  std::size_t moved = 0;
  return hmn::json::apply_patch(document, parsed(patch), moved);
}

std::string patch_refusal(const std::string& document, const std::string& patch) {
  value v = parsed(document);
  const auto e = change(v, patch);
  CAPTURE(patch);
  REQUIRE(e);
  return e->pointer + ": " + e->what;
}

}  // namespace

TEST_CASE("the operations do what RFC 6902 says, and what another implementation does") {
  for (const example& x : examples) {
    CAPTURE(x.patch);
    value v = parsed(x.document);
    const auto e = change(v, x.patch);
    CHECK(!e);
    CHECK(equal(v, parsed(x.result)));
    CHECK(nlohmann::json::parse(x.document).patch(nlohmann::json::parse(x.patch)) ==
          nlohmann::json::parse(x.result));
  }
}

TEST_CASE("what cannot be done is refused with its place") {
  CHECK(patch_refusal(R"({"foo":"bar"})", R"([{"op":"add","path":"/baz/bat","value":"qux"}])") ==
        "/0/path: there is nothing at \"/baz\"");
  CHECK(patch_refusal(R"({"a":[1]})", R"([{"op":"add","path":"/a/2","value":1}])") ==
        "/0/path: there is nothing at \"/a/2\"");
  CHECK(patch_refusal(R"({"a":[1]})", R"([{"op":"replace","path":"/a/01","value":1}])") ==
        "/0/path: there is nothing at \"/a/01\"");
  CHECK(patch_refusal(R"({"a":[1]})", R"([{"op":"remove","path":"/a/-"}])") ==
        "/0/path: there is nothing at \"/a/-\"");
  CHECK(patch_refusal(R"({"a":1})", R"([{"op":"add","path":"/a/b","value":1}])") ==
        "/0/path: there is nothing at \"/a/b\"");
  CHECK(patch_refusal(R"({"a~":1})", R"([{"op":"remove","path":"/x~1y~0"}])") ==
        "/0/path: there is nothing at \"/x~1y~0\"");
  CHECK(patch_refusal(
            R"({})",
            R"([{"op":"test","path":"","value":{}},{"op":"copy","from":"/x","path":"/y"}])") ==
        "/1/from: there is nothing at \"/x\"");
  CHECK(patch_refusal(R"({"a":{"b":1}})", R"([{"op":"move","from":"/a","path":"/a/c"}])") ==
        "/0/path: a value cannot be moved into itself");
  CHECK(patch_refusal(R"({"a":1})", R"([{"op":"test","path":"/a","value":"1"}])") ==
        "/0/value: the value there is 1, not \"1\"");
  CHECK(patch_refusal(R"({"a":1})", R"([{"op":"remove","path":""}])") ==
        "/0/path: the whole document cannot be removed");
}

TEST_CASE("an operation that is none is refused") {
  CHECK(patch_refusal("{}", R"({})") == ": an object is not a list of operations");
  CHECK(patch_refusal("{}", R"([1])") == "/0: 1 is not an object");
  CHECK(patch_refusal("{}", R"([{}])") ==
        "/0/op: nothing is not one of add, remove, replace, move, copy, test");
  CHECK(patch_refusal("{}", R"([{"op":"spam","path":"/a"}])") ==
        "/0/op: \"spam\" is not one of add, remove, replace, move, copy, test");
  CHECK(patch_refusal("{}", R"([{"op":"add","path":"/a"}])") == "/0: \"value\" is missing");
  CHECK(patch_refusal("{}", R"([{"op":"add","value":1}])") == "/0: \"path\" is missing");
  CHECK(patch_refusal("{}", R"([{"op":"copy","path":"/a"}])") == "/0: \"from\" is missing");
  CHECK(patch_refusal("{}", R"([{"op":"add","path":"a","value":1}])") ==
        "/0/path: \"a\" is not a JSON pointer such as \"/devices/0\"");
  CHECK(patch_refusal("{}", R"([{"op":"add","path":"/~2","value":1}])") ==
        "/0/path: \"/~2\" is not a JSON pointer such as \"/devices/0\"");
  CHECK(patch_refusal("{}", R"([{"op":"remove","path":"/a","value":1}])") ==
        "/0: \"value\" has no meaning for \"remove\"");
  CHECK(patch_refusal("{}", R"([{"op":"add","path":"/a","value":1,"form":"/b"}])") ==
        "/0: \"form\" has no meaning for \"add\"");
}

TEST_CASE("what is replaced or removed makes room again") {
  const std::string text(9 * 1024 * 1024, 'x');
  const std::string put = R"({"op":"add","path":"/a","value":")" + text + R"("})";
  const std::string drop = R"({"op":"remove","path":"/a"})";
  value v = parsed("{}");
  for (const std::string& patch : {put + "," + put, put + "," + drop + "," + put}) {
    const auto e = change(v, "[" + patch + "]");
    CHECK(!e);
  }
}

TEST_CASE("copies cannot grow the document without bound") {
  std::string patch = R"([{"op":"add","path":"/a","value":[0,0,0,0,0,0,0,0]})";
  for (int i = 0; i < 20; ++i) patch += R"(,{"op":"copy","from":"/a","path":"/a/-"})";
  CHECK(patch_refusal("{}", patch + "]") == "/17: the document gets too large by it");
  std::string deep = R"([{"op":"add","path":"/a","value":[[]]})";
  for (int i = 0; i < 8; ++i) deep += R"(,{"op":"copy","from":"/a","path":"/a/0"})";
  CHECK(!patch_refusal("{}", deep + R"(,{"op":"test","path":"","value":0}])").empty());
  std::string nested = R"([{"op":"add","path":"/a","value":{}})";
  for (int i = 0; i < 70; ++i)
    nested +=
        R"(,{"op":"add","path":"/b","value":{}},{"op":"move","from":"/a","path":"/b/a"},{"op":"move","from":"/b","path":"/a"})";
  CHECK(patch_refusal("{}", nested + "]").find("the document gets too deep by it") !=
        std::string::npos);
  const std::string long_text(1'000'000, 'x');
  std::string texts = R"([{"op":"add","path":"/a","value":[")" + long_text + R"("]})";
  for (int i = 0; i < 20; ++i) texts += R"(,{"op":"copy","from":"/a/0","path":"/a/-"})";
  CHECK(patch_refusal("{}", texts + "]") == "/16: the document gets too large by it");
}

TEST_CASE("what patches may move has a limit") {
  std::string list = "[0";
  std::string patch = R"([{"op":"add","path":"/a/-","value":1})";
  for (int i = 0; i < 20'000; ++i) {
    list += ",0";
    patch += i % 2 == 0 ? R"(,{"op":"add","path":"/a/0","value":1})"
                        : R"(,{"op":"remove","path":"/a/0"})";
  }
  CHECK(patch_refusal(R"({"a":)" + list + "]}", patch + "]") ==
        "/801: the operations before it move too many values; \"-\" adds to the end of a list, "
        "which moves none");
}
