// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/recording.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "platform/process.hpp"
#include "support.hpp"

using namespace hmn::platform;
using Mode = Recording::Mode;

namespace {

std::string read_file_text(const std::string& path) {
  std::string text;
  const auto result = read_whole(path.c_str(), text, 1 << 20);
  return result ? text : "errno " + std::to_string(result.error);
}

std::string read_link_text(const std::string& path) {
  std::array<char, 64> buffer;
  const auto result = read_link(path.c_str(), buffer);
  return result ? std::string(buffer.data(), result.value)
                : "errno " + std::to_string(result.error);
}

std::vector<std::string> list_names(const std::string& path) {
  std::vector<std::string> names;
  const int error = for_each_entry(path.c_str(), [&](std::string_view name) {
    names.emplace_back(name);
    return true;
  });
  if (error != 0) names.push_back("errno " + std::to_string(error));
  return names;
}

// A folder with a text and a link, and what the platform's functions return for it.
struct MachineFolder {
  MachineFolder() {
    files.write("text", "one\n");
    REQUIRE(symlink("text", files.path("link").c_str()) == 0);
  }
  std::string path(const char* name) const { return files.path(name); }
  std::string folder() const { return files.path("").substr(0, files.path("").size() - 1); }

  std::vector<std::string> observe() const {
    std::vector<std::string> observations = list_names(folder());
    observations.push_back(read_file_text(path("text")));
    observations.push_back(read_file_text(path("nothing")));
    observations.push_back(read_link_text(path("link")));
    observations.push_back(read_link_text(path("text")));
    observations.push_back(exists(path("text").c_str()) ? "there" : "not there");
    observations.push_back(exists(path("nothing").c_str()) ? "there" : "not there");
    observations.push_back(is_executable_file("/bin/sh") ? "a program" : "none");
    observations.push_back(is_executable_file(path("text").c_str()) ? "a program" : "none");
    const auto null = read_status("/dev/null");
    observations.push_back(std::to_string(null.value.special_device_major) + ":" +
                           std::to_string(null.value.special_device_minor));
    CachedFile file(path("text"));
    std::array<char, 2> buffer;
    const auto result = file.read(buffer);
    observations.emplace_back(buffer.data(), result.value);
    auto opened = Directory::open(folder().c_str());
    REQUIRE(opened);
    const auto contents = opened.value.read_small("text", buffer);
    observations.emplace_back(buffer.data(), contents.value);
    observations.push_back(opened.value.read_status("nothing") ? "there" : "not there");
    observations.push_back("errno " + std::to_string(Directory::open(path("text").c_str()).error));
    return observations;
  }

  test::ScratchFolder files;
};

void copy_recording(const Recording& source, Recording& target) {
  source.visit([&](const auto& files, const auto& runs, const auto& answers) {
    for (const auto& file : files) target.at(file->path) = *file;
    for (const RecordedRun& recorded : runs) target.add(recorded);
    for (const RecordedAnswer& answer : answers) target.add(answer);
  });
}

}  // namespace

TEST_CASE("recording: recorded answers are replayed when the files are gone") {
  Recording recorder(Mode::record);
  Recording replayer(Mode::replay);
  std::vector<std::string> real, recorded;
  std::string folder;
  {
    const MachineFolder machine;
    folder = machine.folder() + "/";
    real = machine.observe();
    const OverrideScope scope(&recorder);
    recorded = machine.observe();
  }
  CHECK(recorded == real);
  CHECK(recorder.error() == 0);
  copy_recording(recorder, replayer);
  const MachineFolder unrecorded;  // whose paths were not kept
  replayer.mount(unrecorded.folder(), folder + "gone");
  const OverrideScope scope(&replayer);
  CHECK(read_file_text(folder + "text") == "one\n");
  CHECK(read_link_text(folder + "link") == "text");
  CHECK(read_link_text(folder + "text") == "errno " + std::to_string(EINVAL));
  CHECK(list_names(folder.substr(0, folder.size() - 1)).size() == 2);
  CHECK(read_file_text(folder + "nothing") == "errno " + std::to_string(ENOENT));
  CHECK(is_executable_file("/bin/sh"));
  CHECK_FALSE(is_executable_file((folder + "text").c_str()));
  CHECK(read_file_text("/proc/self/stat") == "errno " + std::to_string(ENOENT));
  CHECK(read_file_text(unrecorded.path("text")) == "errno " + std::to_string(ENOENT));
  std::array<char, 16> buffer;
  const auto opened = Directory::open(folder.substr(0, folder.size() - 1).c_str());
  REQUIRE(opened);
  CHECK(opened.value.read_small("text", buffer).value == 4);
  CHECK(opened.value.read_small(std::string(5000, 'x').c_str(), buffer).error == ENOENT);
}

TEST_CASE("recording: a path answers only what was recorded, and its folders exist") {
  Recording recording(Mode::replay);
  RecordedFile& file = recording.at("/machine/sys/a/text");
  file.text = "1234567890";
  file.errors[RecordedFile::contents] = 0;
  recording.at("/machine/sys/refused").errors[RecordedFile::names] = EACCES;
  recording.at("/machine/sys/link").link = std::string(64, 't');
  recording.at("/machine/sys/link").errors[RecordedFile::target] = 0;
  const OverrideScope scope(&recording);
  CHECK(exists("/machine/sys"));
  CHECK(exists("/machine/sys/a"));
  CHECK_FALSE(exists("/machine/sy"));
  CHECK_FALSE(exists("/machine/sys/a/te"));
  CHECK(list_names("/machine/sys/refused") ==
        std::vector<std::string>{"errno " + std::to_string(EACCES)});
  CHECK(read_link_text("/machine/sys/link") == "errno " + std::to_string(ENAMETOOLONG));
  std::array<char, 4> buffer;
  CHECK(read_small("/machine/sys/a/text", buffer).value == 4);
  std::string text;
  CHECK(read_whole("/machine/sys/a/text", text, 10).value == false);
  CHECK(read_whole("/machine/sys/a/text", text, 9).value == true);
  CHECK(text == "123456789");
}

TEST_CASE("recording: mounted folders answer where nothing was recorded") {
  const MachineFolder machine;
  Recording recording(Mode::replay);
  recording.mount("/machine/sys", machine.path("nothing"));
  recording.mount("/machine/sys/deep", machine.folder());
  RecordedFile& file = recording.at("/machine/sys/deep/link");
  file.text = "not of the folder";
  file.errors[RecordedFile::contents] = 0;
  const OverrideScope scope(&recording);
  CHECK(read_file_text("/machine/sys/deep/text") == "one\n");
  CHECK(read_file_text("/machine/sys/deep/link") == "not of the folder");
  CHECK(read_link_text("/machine/sys/deep/link") == "text");
  CHECK(list_names("/machine/sys/deep").size() == 2);
  CHECK(read_file_text("/machine/sys/deeper") == "errno " + std::to_string(ENOENT));
  CHECK(exists("/machine/sys/deep/text"));
  CHECK(read_file_text("/machine/sys/deep/" + std::string(5000, 'x')) ==
        "errno " + std::to_string(ENAMETOOLONG));
}

TEST_CASE("recording: a driver's answers are recorded and replayed") {
  const test::ScratchFolder files;
  const std::string plain = files.write("node", "");
  const DeviceQuery question{QueryDriver::xe, 1};
  std::array<std::byte, 8> buffer{};
  Recording recorder(Mode::record);
  {
    const OverrideScope scope(&recorder);
    CHECK(query_device(plain.c_str(), question, buffer).error == EOPNOTSUPP);
    CHECK(query_device(files.path("none").c_str(), question, buffer).error == ENOENT);
  }
  Recording replayer(Mode::replay);
  copy_recording(recorder, replayer);
  replayer.add(RecordedAnswer{"/dev/dri/renderD128", question, 0, "12345678"});
  replayer.add(RecordedAnswer{"/dev/dri/renderD129", question, 0, "123456789"});
  const OverrideScope scope(&replayer);
  CHECK(query_device(plain.c_str(), question, buffer).error == EOPNOTSUPP);
  CHECK(query_device(files.path("none").c_str(), question, buffer).error == ENOENT);
  CHECK(query_device("/dev/dri/renderD128", question, buffer).value == 8);
  CHECK(buffer[7] == std::byte{'8'});
  CHECK(query_device("/dev/dri/renderD129", question, buffer).error == ENOBUFS);
  CHECK(query_device("/dev/dri/renderD128", {QueryDriver::i915, 1}, buffer).error == ENOENT);
}

TEST_CASE("recording: other threads query the real system") {
  const MachineFolder machine;
  Recording recording(Mode::replay);
  const OverrideScope scope(&recording);
  CHECK(read_file_text(machine.path("text")) == "errno " + std::to_string(ENOENT));
  std::string elsewhere;
  std::thread([&] { elsewhere = read_file_text(machine.path("text")); }).join();
  CHECK(elsewhere == "one\n");
  Recording inner(Mode::replay);
  {
    const OverrideScope nested(&inner);
    CHECK(SystemOverride::active() == &inner);
    const OverrideScope empty_scope(nullptr);
    CHECK(SystemOverride::active() == &inner);
  }
  CHECK(SystemOverride::active() == &recording);
}

TEST_CASE("recording: an answer is kept over a later error, and a whole text over a prefix") {
  const MachineFolder machine;
  Recording recorder(Mode::record);
  const OverrideScope scope(&recorder);
  std::array<char, 2> buffer;
  CHECK(read_file_text(machine.path("text")) == "one\n");
  CHECK(read_small(machine.path("text").c_str(), buffer).value == 2);
  unlink(machine.path("text").c_str());
  CHECK(read_file_text(machine.path("text")) == "errno " + std::to_string(ENOENT));
  recorder.visit([&](const auto& files, const auto&, const auto&) {
    REQUIRE(files.size() == 1);
    CHECK(files[0]->text == "one\n");
    CHECK_FALSE(files[0]->is_cut);
  });
}

TEST_CASE("recording: several threads can record at once") {
  const MachineFolder machine;
  Recording recorder(Mode::record);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const OverrideScope scope(&recorder);
      for (int i = 0; i < 100; ++i) {
        static_cast<void>(read_file_text(machine.path("text")));
        static_cast<void>(exists(("/proc/" + std::to_string(t * 100 + i)).c_str()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  recorder.visit([&](const auto& files, const auto&, const auto&) {
    for (std::size_t i = 1; i < files.size(); ++i) CHECK(files[i - 1]->path < files[i]->path);
  });
}

TEST_CASE("recording: a recording past its cap is reported as incomplete") {
  const test::ScratchFolder files;
  const std::string big(1 << 20, 'b');
  Recording recorder(Mode::record);
  const OverrideScope scope(&recorder);
  for (int i = 0; i < 66; ++i) {
    const std::string path = files.write("big", big);
    CHECK(read_file_text(path).size() == big.size());
    if (i < 60) CHECK(recorder.error() == 0);
  }
  CHECK(recorder.error() == ENOBUFS);
}

TEST_CASE("recording: the page size is that of the recorded machine") {
  Recording recording(Mode::replay);
  const std::size_t real_size = page_size();
  recording.set_page_size(65536);
  CHECK(page_size() == real_size);
  const OverrideScope scope(&recording);
  CHECK(page_size() == 65536);
}
