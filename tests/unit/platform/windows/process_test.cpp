// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/process.hpp"

#include <doctest/doctest.h>
#include <windows.h>

#include <string>

using namespace hmn::platform;

namespace {

bool is_elevated() {
  HANDLE token = nullptr;
  TOKEN_ELEVATION elevation{};
  DWORD length = 0;
  REQUIRE(OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token));
  const bool is_reported =
      GetTokenInformation(token, TokenElevation, &elevation, sizeof elevation, &length) != 0;
  CloseHandle(token);
  return is_reported && elevation.TokenIsElevated != 0;
}

}  // namespace

TEST_CASE("process: pid, page size and host name come from the system") {
  CHECK(current_pid() == GetCurrentProcessId());
  CHECK(page_size() == 4096);
  CHECK_FALSE(host_name().empty());
  CHECK(process_generation() != 0);
  CHECK_FALSE(is_privileged_start());
}

TEST_CASE("process: environment values are UTF-8") {
  CHECK(environment("HMN_TEST_ABSENT") == nullptr);
  SetEnvironmentVariableW(L"HMN_TEST", L"\u00E9\U0001F4BB");
  CHECK(std::string(environment("HMN_TEST")) == "\xC3\xA9\xF0\x9F\x92\xBB");
  SetEnvironmentVariableW(L"HMN_TEST", std::wstring(20'000, L'a').c_str());
  CHECK(std::string(environment("HMN_TEST")) == std::string(4096, 'a'));
  SetEnvironmentVariableW(L"HMN_TEST", nullptr);
  CHECK(environment("HMN_TEST") == nullptr);
}

// All processes of Wine are elevated.
TEST_CASE("process: an elevated process reads its environment") {
  if (!is_elevated()) return;
  SetEnvironmentVariableW(L"HMN_TEST", L"here");
  CHECK_FALSE(is_privileged_start());
  CHECK(std::string(environment("HMN_TEST")) == "here");
  SetEnvironmentVariableW(L"HMN_TEST", nullptr);
}
