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
using Use = Recording::Use;

namespace {

std::string text_of(const std::string& path) {
  std::string text;
  const auto cut = read_whole(path.c_str(), text, 1 << 20);
  return cut ? text : "errno " + std::to_string(cut.error);
}

std::string link_of(const std::string& path) {
  std::array<char, 64> buffer;
  const auto got = read_link(path.c_str(), buffer);
  return got ? std::string(buffer.data(), got.value) : "errno " + std::to_string(got.error);
}

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  const int error = for_each_entry(path.c_str(), [&](std::string_view name) {
    names.emplace_back(name);
    return true;
  });
  if (error != 0) names.push_back("errno " + std::to_string(error));
  return names;
}

// A folder with a text, a link and a folder, and what is seen of it.
struct Machine {
  Machine() {
    files.write("text", "one\n");
    REQUIRE(symlink("text", files.path("link").c_str()) == 0);
  }
  std::string at(const char* name) const { return files.path(name); }
  std::string folder() const { return files.path("").substr(0, files.path("").size() - 1); }

  std::vector<std::string> look() const {
    std::vector<std::string> seen = names_in(folder());
    seen.push_back(text_of(at("text")));
    seen.push_back(text_of(at("nothing")));
    seen.push_back(link_of(at("link")));
    seen.push_back(link_of(at("text")));
    seen.push_back(exists(at("text").c_str()) ? "there" : "not there");
    seen.push_back(exists(at("nothing").c_str()) ? "there" : "not there");
    seen.push_back(is_executable_file("/bin/sh") ? "a program" : "none");
    seen.push_back(is_executable_file(at("text").c_str()) ? "a program" : "none");
    const auto null = status_of("/dev/null");
    seen.push_back(std::to_string(null.value.special_device_major) + ":" +
                   std::to_string(null.value.special_device_minor));
    KeptFile kept(at("text"));
    std::array<char, 2> little;
    const auto got = kept.read(little);
    seen.emplace_back(little.data(), got.value);
    auto opened = Directory::open(folder().c_str());
    REQUIRE(opened);
    const auto below = opened.value.read_small("text", little);
    seen.emplace_back(little.data(), below.value);
    seen.push_back(opened.value.status_of("nothing") ? "there" : "not there");
    seen.push_back("errno " + std::to_string(Directory::open(at("text").c_str()).error));
    return seen;
  }

  test::ScratchFolder files;
};

void copy_to(const Recording& from, Recording& to) {
  from.look([&](const auto& files, const auto& runs, const auto& answers) {
    for (const auto& f : files) to.at(f->path) = *f;
    for (const RecordedRun& r : runs) to.add(r);
    for (const RecordedAnswer& a : answers) to.add(a);
  });
}

}  // namespace

TEST_CASE("recording: what was kept is given again when the files are gone") {
  Recording kept(Use::keep);
  Recording again(Use::replay);
  std::vector<std::string> real, watched;
  std::string folder;
  {
    const Machine m;
    folder = m.folder() + "/";
    real = m.look();
    const OverrideScope scope(&kept);
    watched = m.look();
  }
  CHECK(watched == real);
  CHECK(kept.lost() == 0);
  copy_to(kept, again);
  const Machine other;  // whose paths were not kept
  again.mount(other.folder(), folder + "gone");
  const OverrideScope scope(&again);
  CHECK(text_of(folder + "text") == "one\n");
  CHECK(link_of(folder + "link") == "text");
  CHECK(link_of(folder + "text") == "errno " + std::to_string(EINVAL));
  CHECK(names_in(folder.substr(0, folder.size() - 1)).size() == 2);
  CHECK(text_of(folder + "nothing") == "errno " + std::to_string(ENOENT));
  CHECK(is_executable_file("/bin/sh"));
  CHECK_FALSE(is_executable_file((folder + "text").c_str()));
  CHECK(text_of("/proc/self/stat") == "errno " + std::to_string(ENOENT));
  CHECK(text_of(other.at("text")) == "errno " + std::to_string(ENOENT));
  std::array<char, 16> buffer;
  const auto opened = Directory::open(folder.substr(0, folder.size() - 1).c_str());
  REQUIRE(opened);
  CHECK(opened.value.read_small("text", buffer).value == 4);
  CHECK(opened.value.read_small(std::string(5000, 'x').c_str(), buffer).error == ENOENT);
}

TEST_CASE("recording: a path is what it was asked for, and its folder is there") {
  Recording r(Use::replay);
  RecordedFile& f = r.at("/machine/sys/a/text");
  f.text = "1234567890";
  f.errors[RecordedFile::contents] = 0;
  r.at("/machine/sys/refused").errors[RecordedFile::names] = EACCES;
  r.at("/machine/sys/link").link = std::string(64, 't');
  r.at("/machine/sys/link").errors[RecordedFile::target] = 0;
  const OverrideScope scope(&r);
  CHECK(exists("/machine/sys"));
  CHECK(exists("/machine/sys/a"));
  CHECK_FALSE(exists("/machine/sy"));
  CHECK_FALSE(exists("/machine/sys/a/te"));
  CHECK(names_in("/machine/sys/refused") ==
        std::vector<std::string>{"errno " + std::to_string(EACCES)});
  CHECK(link_of("/machine/sys/link") == "errno " + std::to_string(ENAMETOOLONG));
  std::array<char, 4> four;
  CHECK(read_small("/machine/sys/a/text", four).value == 4);
  std::string whole;
  CHECK(read_whole("/machine/sys/a/text", whole, 10).value == false);
  CHECK(read_whole("/machine/sys/a/text", whole, 9).value == true);
  CHECK(whole == "123456789");
}

TEST_CASE("recording: folders of this system stand in where nothing else answers") {
  const Machine m;
  Recording r(Use::replay);
  r.mount("/machine/sys", m.at("nothing"));
  r.mount("/machine/sys/deep", m.folder());
  RecordedFile& f = r.at("/machine/sys/deep/link");
  f.text = "not of the folder";
  f.errors[RecordedFile::contents] = 0;
  const OverrideScope scope(&r);
  CHECK(text_of("/machine/sys/deep/text") == "one\n");
  CHECK(text_of("/machine/sys/deep/link") == "not of the folder");
  CHECK(link_of("/machine/sys/deep/link") == "text");
  CHECK(names_in("/machine/sys/deep").size() == 2);
  CHECK(text_of("/machine/sys/deeper") == "errno " + std::to_string(ENOENT));
  CHECK(exists("/machine/sys/deep/text"));
  CHECK(text_of("/machine/sys/deep/" + std::string(5000, 'x')) ==
        "errno " + std::to_string(ENAMETOOLONG));
}

TEST_CASE("recording: what a driver answered through its node") {
  const test::ScratchFolder files;
  const std::string plain = files.write("node", "");
  const DeviceQuestion question{QueryLanguage::xe, 1};
  std::array<std::byte, 8> buffer{};
  Recording kept(Use::keep);
  {
    const OverrideScope scope(&kept);
    CHECK(ask_device(plain.c_str(), question, buffer).error == EOPNOTSUPP);
    CHECK(ask_device(files.path("none").c_str(), question, buffer).error == ENOENT);
  }
  Recording again(Use::replay);
  copy_to(kept, again);
  again.add(RecordedAnswer{"/dev/dri/renderD128", question, 0, "12345678"});
  again.add(RecordedAnswer{"/dev/dri/renderD129", question, 0, "123456789"});
  const OverrideScope scope(&again);
  CHECK(ask_device(plain.c_str(), question, buffer).error == EOPNOTSUPP);
  CHECK(ask_device(files.path("none").c_str(), question, buffer).error == ENOENT);
  CHECK(ask_device("/dev/dri/renderD128", question, buffer).value == 8);
  CHECK(buffer[7] == std::byte{'8'});
  CHECK(ask_device("/dev/dri/renderD129", question, buffer).error == ENOBUFS);
  CHECK(ask_device("/dev/dri/renderD128", {QueryLanguage::i915, 1}, buffer).error == ENOENT);
}

TEST_CASE("recording: other threads ask the system") {
  const Machine m;
  Recording r(Use::replay);
  const OverrideScope scope(&r);
  CHECK(text_of(m.at("text")) == "errno " + std::to_string(ENOENT));
  std::string elsewhere;
  std::thread([&] { elsewhere = text_of(m.at("text")); }).join();
  CHECK(elsewhere == "one\n");
  Recording inner(Use::replay);
  {
    const OverrideScope nested(&inner);
    CHECK(SystemOverride::of_thread() == &inner);
    const OverrideScope none(nullptr);
    CHECK(SystemOverride::of_thread() == &inner);
  }
  CHECK(SystemOverride::of_thread() == &r);
}

TEST_CASE("recording: an answer is kept over a later error, and the whole over a beginning") {
  const Machine m;
  Recording kept(Use::keep);
  const OverrideScope scope(&kept);
  std::array<char, 2> little;
  CHECK(text_of(m.at("text")) == "one\n");
  CHECK(read_small(m.at("text").c_str(), little).value == 2);
  unlink(m.at("text").c_str());
  CHECK(text_of(m.at("text")) == "errno " + std::to_string(ENOENT));
  kept.look([&](const auto& files, const auto&, const auto&) {
    REQUIRE(files.size() == 1);
    CHECK(files[0]->text == "one\n");
    CHECK_FALSE(files[0]->is_cut);
  });
}

TEST_CASE("recording: threads keep at once") {
  const Machine m;
  Recording kept(Use::keep);
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t) {
    all.emplace_back([&, t] {
      const OverrideScope scope(&kept);
      for (int i = 0; i < 100; ++i) {
        static_cast<void>(text_of(m.at("text")));
        static_cast<void>(exists(("/proc/" + std::to_string(t * 100 + i)).c_str()));
      }
    });
  }
  for (std::thread& t : all) t.join();
  kept.look([&](const auto& files, const auto&, const auto&) {
    for (std::size_t i = 1; i < files.size(); ++i) CHECK(files[i - 1]->path < files[i]->path);
  });
}

TEST_CASE("recording: past its cap it says that it is not whole") {
  const test::ScratchFolder files;
  const std::string big(1 << 20, 'b');
  Recording kept(Use::keep);
  const OverrideScope scope(&kept);
  for (int i = 0; i < 66; ++i) {
    const std::string path = files.write("big", big);
    CHECK(text_of(path).size() == big.size());
    if (i < 60) CHECK(kept.lost() == 0);
  }
  CHECK(kept.lost() == ENOBUFS);
}

TEST_CASE("recording: the recorded machine's pages are its own") {
  Recording r(Use::replay);
  const std::size_t real = page_size();
  r.set_page_size(65536);
  CHECK(page_size() == real);
  const OverrideScope scope(&r);
  CHECK(page_size() == 65536);
}
