// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The "recording" of a machine file: what it may hold, and what is refused.
#include <doctest/doctest.h>

#include <cerrno>
#include <string>

#include "backends/simulated/recorder.hpp"
#include "backends/simulated/script.hpp"
#include "platform/file.hpp"

using namespace hmn::simulated;
using hmn::platform::OverrideScope;

namespace {

std::string recording_refusal(const std::string& text) {
  const auto read = read_script(text, 1);
  CAPTURE(text);
  const auto* wrong = std::get_if<Problem>(&read);
  REQUIRE(wrong != nullptr);
  return wrong->pointer + ": " + wrong->sentence;
}

std::string with(const std::string& members) {
  return R"({"recording":{"format":1,)" + members + "}}";
}
std::string file(const std::string& members) {
  return with(R"("files":[{"path":"/machine/sys/a",)" + members + "}]");
}

std::string text_of(const char* path) {
  std::string text;
  const auto cut = hmn::platform::read_whole(path, text, 4096);
  return cut ? text : "errno " + std::to_string(cut.error);
}

}  // namespace

TEST_CASE("recording: what is given is there") {
  const auto read = read_script(with(R"("page_size":16384,"roots":["sys"],"files":[
        {"path":"/machine/sys/text","text":"a\u0000b\n"},
        {"path":"/machine/sys/bytes","hex":"00ff7F"},
        {"path":"/machine/sys/refused","errors":{"read":13,"list":13}},
        {"path":"/machine/sys/link","link":"../there"},
        {"path":"/machine/sys/node","status":{"type":"character","major":226,"minor":128}},
        {"path":"/usr/bin/tool","program":true}])"),
                                1);
  const auto* wrong = std::get_if<Problem>(&read);
  REQUIRE(wrong != nullptr);
  CHECK(wrong->pointer == "/recording/files/1/hex");
}

TEST_CASE("recording: each part of a file is given again") {
  const auto read = read_script(with(R"("page_size":16384,"roots":["sys"],"files":[
        {"path":"/machine/sys/text","text":"a\u0000b\n"},
        {"path":"/machine/sys/bytes","hex":"00ff7f"},
        {"path":"/machine/sys/refused","errors":{"read":13,"list":13}},
        {"path":"/machine/sys/node","status":{"type":"character","major":226,"minor":128}},
        {"path":"/usr/bin/tool","program":true}])"),
                                1);
  const auto* s = std::get_if<Script>(&read);
  REQUIRE(s != nullptr);
  CHECK(s->recorded().moved == 2);
  const OverrideScope scope(s->recorded().answers.get());
  CHECK(text_of("/machine/sys/text") == std::string("a\0b\n", 4));
  CHECK(text_of("/machine/sys/bytes") == std::string("\0\xff\x7f", 3));
  CHECK(text_of("/machine/sys/refused") == "errno " + std::to_string(EACCES));
  CHECK(hmn::platform::exists("/machine/sys/refused"));
  CHECK(hmn::platform::is_executable_file("/usr/bin/tool"));
  const auto node = hmn::platform::status_of("/machine/sys/node");
  CHECK(node.value.is_character_device);
  CHECK(node.value.special_device_minor == 128);
}

TEST_CASE("recording: what is refused, with its place") {
  CHECK(recording_refusal(R"({"recording":{}})").starts_with("/recording: \"format\" "));
  CHECK(recording_refusal(R"({"recording":{"format":2}})")
            .starts_with("/recording/format: 2 is not "));
  CHECK(
      recording_refusal(R"({"recording":[]})").starts_with("/recording: a list is not an object"));
  CHECK(recording_refusal(with(R"("file":[])")).starts_with("/recording: "));
  CHECK(recording_refusal(with(R"("files":[{}])")).starts_with("/recording/files/0: \"path\" "));
  for (const char* path : {"sys/a", "/sys/../etc/a", "/..", "", "/a\\u0000b"}) {
    CHECK(recording_refusal(with(R"("files":[{"path":")" + std::string(path) + "\"}]"))
              .starts_with("/recording/files/0/path: "));
  }
  CHECK(recording_refusal(with(R"("files":[{"path":"/)" + std::string(5000, 'a') + "\"}]"))
            .starts_with("/recording/files/0/path: "));
  CHECK(recording_refusal(with(R"("files":[{"path":"/a"},{"path":"/b"},{"path":"/a"}])")) ==
        "/recording/files/2/path: it is in the list already");
  CHECK(recording_refusal(file(R"("text":1)")).starts_with("/recording/files/0/text: "));
  CHECK(recording_refusal(file(R"("hex":"0")")).starts_with("/recording/files/0/hex: "));
  CHECK(recording_refusal(file(R"("hex":"0g")")).starts_with("/recording/files/0/hex: "));
  CHECK(recording_refusal(file(R"("hex":"00","text":"")")).starts_with("/recording/files/0: "));
  CHECK(recording_refusal(file(R"("list":["a/b"])")).starts_with("/recording/files/0/list/0: "));
  CHECK(recording_refusal(file(R"("list":[1])")).starts_with("/recording/files/0/list/0: "));
  CHECK(recording_refusal(file(R"("errors":{"read":0})"))
            .starts_with("/recording/files/0/errors/read: "));
  CHECK(recording_refusal(file(R"("errors":{"read":18446744073709551616})"))
            .starts_with("/recording/files/0/errors/read: "));
  CHECK(recording_refusal(file(R"("text":"a","errors":{"read":13})"))
            .starts_with("/recording/files/0/errors/read: it is given and cannot have failed"));
  CHECK(recording_refusal(file(R"("status":{"type":"fifo"})"))
            .starts_with("/recording/files/0/status/type: "));
  CHECK(recording_refusal(with(R"("page_size":1)")).starts_with("/recording/page_size: "));
  CHECK(recording_refusal(with(R"("roots":["etc"])")).starts_with("/recording/roots"));
  CHECK(recording_refusal(with(R"("runs":[{"path":"nvidia-smi"}])"))
            .starts_with("/recording/runs/0/path: "));
  CHECK(recording_refusal(with(R"("answers":[{"node":"/dev/dri/renderD128"}])"))
            .starts_with("/recording/answers/0: "));
  std::string deep = with(R"("files":)" + std::string(70, '[') + std::string(70, ']'));
  CHECK(recording_refusal(deep).find("64") != std::string::npos);
  const std::string whole = file(R"("text":"a")");
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    CHECK(recording_refusal(whole.substr(0, cut)).starts_with(": line 1, column "));
  }
}

TEST_CASE("recording: a recorder's text is read again as it was") {
  hmn::Settings s;
  s.sys_root = "/sys/devices/system";
  const Recorder keeps(s);
  {
    const OverrideScope scope(keeps.answers().get());
    static_cast<void>(text_of("/sys/devices/system/cpu/online"));
    static_cast<void>(text_of("/proc/self/statm"));
    CHECK(text_of("/proc/self/nothing") == "errno " + std::to_string(ENOENT));
  }
  std::string text;
  REQUIRE(keeps.text(text));
  const auto read = read_script(text, 1);
  const auto* again = std::get_if<Script>(&read);
  REQUIRE(again != nullptr);
  CHECK(again->recorded().moved == 2);
  CHECK(text.find("/sys/devices/system") == std::string::npos);
  const std::string online = text_of("/sys/devices/system/cpu/online");
  const OverrideScope scope(again->recorded().answers.get());
  CHECK(text_of("/machine/sys/cpu/online") == online);
}
