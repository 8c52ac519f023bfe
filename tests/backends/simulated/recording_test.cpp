// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The "recording" of a machine file: valid and rejected content.
#include <doctest/doctest.h>

#include <cerrno>
#include <string>

#include "backends/simulated/recorder.hpp"
#include "backends/simulated/script.hpp"
#include "platform/file.hpp"

using namespace hmn::simulated;
using hmn::platform::OverrideScope;

namespace {

std::string read_problem(const std::string& text) {
  const auto result = read_script(text, 1);
  CAPTURE(text);
  const auto* problem = std::get_if<Problem>(&result);
  REQUIRE(problem != nullptr);
  return problem->pointer + ": " + problem->sentence;
}

std::string make_recording(const std::string& members) {
  return R"({"recording":{"format":1,)" + members + "}}";
}
std::string make_file_recording(const std::string& members) {
  return make_recording(R"("files":[{"path":"/machine/sys/a",)" + members + "}]");
}

std::string read_text(const char* path) {
  std::string text;
  const auto read_result = hmn::platform::read_whole(path, text, 4096);
  return read_result ? text : "errno " + std::to_string(read_result.error);
}

}  // namespace

TEST_CASE("recording: hexadecimal digits in upper case are rejected") {
  const auto result = read_script(make_recording(R"("page_size":16384,"roots":["sys"],"files":[
        {"path":"/machine/sys/text","text":"a\u0000b\n"},
        {"path":"/machine/sys/bytes","hex":"00ff7F"},
        {"path":"/machine/sys/refused","errors":{"read":13,"list":13}},
        {"path":"/machine/sys/link","link":"../there"},
        {"path":"/machine/sys/node","status":{"type":"character","major":226,"minor":128}},
        {"path":"/usr/bin/tool","program":true}])"),
                                  1);
  const auto* problem = std::get_if<Problem>(&result);
  REQUIRE(problem != nullptr);
  CHECK(problem->pointer == "/recording/files/1/hex");
}

TEST_CASE("recording: each part of a file is replayed") {
  const auto result = read_script(make_recording(R"("page_size":16384,"roots":["sys"],"files":[
        {"path":"/machine/sys/text","text":"a\u0000b\n"},
        {"path":"/machine/sys/bytes","hex":"00ff7f"},
        {"path":"/machine/sys/refused","errors":{"read":13,"list":13}},
        {"path":"/machine/sys/node","status":{"type":"character","major":226,"minor":128}},
        {"path":"/usr/bin/tool","program":true}])"),
                                  1);
  const auto* loaded_script = std::get_if<MachineScript>(&result);
  REQUIRE(loaded_script != nullptr);
  CHECK(loaded_script->recorded_machine().moved_roots == 2);
  const OverrideScope scope(loaded_script->recorded_machine().recording.get());
  CHECK(read_text("/machine/sys/text") == std::string("a\0b\n", 4));
  CHECK(read_text("/machine/sys/bytes") == std::string("\0\xff\x7f", 3));
  CHECK(read_text("/machine/sys/refused") == "errno " + std::to_string(EACCES));
  CHECK(hmn::platform::exists("/machine/sys/refused"));
  CHECK(hmn::platform::is_executable_file("/usr/bin/tool"));
  const auto node = hmn::platform::read_status("/machine/sys/node");
  CHECK(node.value.is_character_device);
  CHECK(node.value.special_device_minor == 128);
}

TEST_CASE("recording: a malformed recording is rejected with its position") {
  CHECK(read_problem(R"({"recording":{}})").starts_with("/recording: \"format\" "));
  CHECK(read_problem(R"({"recording":{"format":2}})").starts_with("/recording/format: 2 is not "));
  CHECK(read_problem(R"({"recording":[]})").starts_with("/recording: a list is not an object"));
  CHECK(read_problem(make_recording(R"("file":[])")).starts_with("/recording: "));
  CHECK(
      read_problem(make_recording(R"("files":[{}])")).starts_with("/recording/files/0: \"path\" "));
  for (const char* path : {"sys/a", "/sys/../etc/a", "/..", "", "/a\\u0000b"}) {
    CHECK(read_problem(make_recording(R"("files":[{"path":")" + std::string(path) + "\"}]"))
              .starts_with("/recording/files/0/path: "));
  }
  CHECK(read_problem(make_recording(R"("files":[{"path":"/)" + std::string(5000, 'a') + "\"}]"))
            .starts_with("/recording/files/0/path: "));
  CHECK(read_problem(make_recording(R"("files":[{"path":"/a"},{"path":"/b"},{"path":"/a"}])")) ==
        "/recording/files/2/path: it is in the list already");
  CHECK(read_problem(make_file_recording(R"("text":1)")).starts_with("/recording/files/0/text: "));
  CHECK(read_problem(make_file_recording(R"("hex":"0")")).starts_with("/recording/files/0/hex: "));
  CHECK(read_problem(make_file_recording(R"("hex":"0g")")).starts_with("/recording/files/0/hex: "));
  CHECK(read_problem(make_file_recording(R"("hex":"00","text":"")"))
            .starts_with("/recording/files/0: "));
  CHECK(read_problem(make_file_recording(R"("list":["a/b"])"))
            .starts_with("/recording/files/0/list/0: "));
  CHECK(read_problem(make_file_recording(R"("list":[1])"))
            .starts_with("/recording/files/0/list/0: "));
  CHECK(read_problem(make_file_recording(R"("errors":{"read":0})"))
            .starts_with("/recording/files/0/errors/read: "));
  CHECK(read_problem(make_file_recording(R"("errors":{"read":18446744073709551616})"))
            .starts_with("/recording/files/0/errors/read: "));
  CHECK(read_problem(make_file_recording(R"("text":"a","errors":{"read":13})"))
            .starts_with("/recording/files/0/errors/read: it is given and cannot have failed"));
  CHECK(read_problem(make_file_recording(R"("status":{"type":"fifo"})"))
            .starts_with("/recording/files/0/status/type: "));
  CHECK(read_problem(make_recording(R"("page_size":1)")).starts_with("/recording/page_size: "));
  CHECK(read_problem(make_recording(R"("roots":["etc"])")).starts_with("/recording/roots"));
  CHECK(read_problem(make_recording(R"("runs":[{"path":"nvidia-smi"}])"))
            .starts_with("/recording/runs/0/path: "));
  CHECK(read_problem(make_recording(R"("answers":[{"node":"/dev/dri/renderD128"}])"))
            .starts_with("/recording/answers/0: "));
  std::string deep = make_recording(R"("files":)" + std::string(70, '[') + std::string(70, ']'));
  CHECK(read_problem(deep).find("64") != std::string::npos);
  const std::string complete = make_file_recording(R"("text":"a")");
  for (std::size_t cut = 1; cut < complete.size(); ++cut) {
    CHECK(read_problem(complete.substr(0, cut)).starts_with(": line 1, column "));
  }
}

TEST_CASE("recording: the text of a recorder is read back unchanged") {
  hmn::Settings settings;
  settings.sys_root = "/sys/devices/system";
  const Recorder recorder(settings);
  {
    const OverrideScope scope(recorder.recording().get());
    static_cast<void>(read_text("/sys/devices/system/cpu/online"));
    static_cast<void>(read_text("/proc/self/statm"));
    CHECK(read_text("/proc/self/nothing") == "errno " + std::to_string(ENOENT));
  }
  std::string text;
  REQUIRE(recorder.write_machine_file(text));
  const auto result = read_script(text, 1);
  const auto* reread_script = std::get_if<MachineScript>(&result);
  REQUIRE(reread_script != nullptr);
  CHECK(reread_script->recorded_machine().moved_roots == 2);
  CHECK(text.find("/sys/devices/system") == std::string::npos);
  const std::string online = read_text("/sys/devices/system/cpu/online");
  const OverrideScope scope(reread_script->recorded_machine().recording.get());
  CHECK(read_text("/machine/sys/cpu/online") == online);
}
