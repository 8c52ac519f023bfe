// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/library.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>
#ifdef __linux__
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>
#endif

#include <array>
#include <string>
#include <utility>

#include "support.hpp"

using namespace hmn::platform;

namespace {

bool is_loaded() {
  void* handle = dlopen(HMN_PROBE_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

using ProbeFunction = int (*)();

}  // namespace

TEST_CASE("library: a symbol is found in the library alone") {
  auto opened = Library::open(HMN_PROBE_LIBRARY);
  INFO(opened.error_text);
  REQUIRE(opened);
  CHECK(opened.error_text.empty());
  void* symbol = opened.value.symbol("hmn_platform_probe");
  REQUIRE(symbol != nullptr);
  CHECK(reinterpret_cast<ProbeFunction>(symbol)() == 4711);
  CHECK(opened.value.symbol("hmn_platform_absent") == nullptr);
  CHECK(dlsym(RTLD_DEFAULT, "hmn_platform_probe") == nullptr);
}

TEST_CASE("library: a failure has the loader's message") {
  const auto absent = Library::open("libhmn-absent.so.7");
  CHECK_FALSE(absent);
  CHECK(absent.error_text.find("libhmn-absent.so.7") != std::string::npos);
  CHECK(absent.is_missing);
  CHECK(Library::open("/nowhere/libhmn-absent.so.7").is_missing);

  const test::ScratchFolder scratch;
  const auto broken = Library::open(scratch.write("libbroken.so", "not ELF").c_str());
  CHECK_FALSE(broken);
  CHECK(broken.error_text.find("libbroken.so") != std::string::npos);
  CHECK_FALSE(broken.is_missing);
  CHECK(broken.value.symbol("hmn_platform_probe") == nullptr);
}

TEST_CASE("library: an empty name opens neither a library nor the program itself") {
  CHECK_FALSE(Library::open(nullptr));
  CHECK_FALSE(Library::open("").error_text.empty());
  CHECK(Library().symbol("malloc") == nullptr);
}

TEST_CASE("library: the last owner unloads the library") {
  REQUIRE_FALSE(is_loaded());
  {
    Library first = std::move(Library::open(HMN_PROBE_LIBRARY).value);
    Library second = std::move(first);
    CHECK_FALSE(first);
    CHECK(second);
    CHECK(is_loaded());
    second.close();
    CHECK_FALSE(is_loaded());
    second.close();
    second = std::move(Library::open(HMN_PROBE_LIBRARY).value);
    CHECK(is_loaded());
  }
  CHECK_FALSE(is_loaded());
}

TEST_CASE("library: a library that is left open stays loaded") {
  const int code = test::in_child([] {
    {
      auto opened = Library::open(HMN_PROBE_LIBRARY);
      opened.value.leave_open();
      if (opened.value) return 1;
    }
    return is_loaded() ? 0 : 2;
  });
  CHECK(code == 0);
}

#ifdef __linux__
TEST_CASE("library: the own folder is that of the file") {
  char file[PATH_MAX];
  REQUIRE(realpath("/proc/self/exe", file) != nullptr);
  std::array<char, max_path_size> buffer;
  const std::string folder(own_folder(buffer));
  CHECK(folder == std::string(file).substr(0, std::string(file).rfind('/')));
}

// No run path of this program has $ORIGIN, without which the loader keeps no folder for it.
TEST_CASE("library: the own folder does not depend on the name that starts the program") {
  if (!test::can_run_itself()) return;
  for (const char* name : {"hmn", "./hmn", "/nowhere/hmn"}) {
    const int code = test::in_child([name] {
      execl("/proc/self/exe", name, "-tc=library: the own folder is that of the file",
            static_cast<char*>(nullptr));
      return 1;
    });
    CHECK(code == 0);
  }
}
#endif
