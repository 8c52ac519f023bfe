// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Secrets in every kind of file and output, with anything around them, are in none of what is kept.
#include <string>

#include "backends/simulated/kept.hpp"
#include "fuzz.hpp"

using hmn::simulated::kept_output;
using hmn::simulated::kept_text;
using hmn::simulated::neutral;

namespace {

// The contents of these are words of a driver, or nothing but the program: secrets in the shape of
// addresses, paths and ids are still found there.
constexpr std::string_view secrets[] = {"hunter2", "s3cretword", "quillfeather", "hf_Zq8xKv3Lw0Ty"};
constexpr std::string_view places[] = {
    "10.81.92.73",          "fe80::1ff:fe23:4567:890a",
    "0a:1b:2c:3d:4e:5f",    "/srv/people/quillfeather/thesis",
    "quillfeather@tallbox", "5f6d2b1e-0a3c-4d5e-8f90-a1b2c3d4e5f6"};
constexpr std::string_view of_words[] = {
    "/proc/meminfo",     "/proc/7/status",      "/proc/7/fdinfo/5",
    "/proc/7/cgroup",    "/sys/a/uevent",       "/sys/fs/cgroup/a/memory.stat",
    "/sys/a/properties", "/sys/a/unknown_file", "/proc/7/environ",
    "/proc/7/maps",      "/etc/passwd",         "/proc/7/mountinfo"};
constexpr std::string_view of_texts[] = {"/sys/a/name", "/sys/a/fan1_label", "/sys/a/product_name",
                                         "/proc/driver/nvidia/version"};

bool holds(const std::string& text, std::string_view secret) {
  return text.find(secret) != std::string::npos;
}

// Bytes of the input may not make up the secret, nor belong to its word.
std::string around(std::string_view input, std::string_view secret) {
  std::string before(input.substr(0, input.size() / 2));
  std::string after(input.substr(input.size() / 2));
  return before + " " + std::string(secret) + " " + after;
}

std::string printed(std::string_view option, const std::string& text) {
  neutral by;
  hmn::platform::recorded_run r;
  r.arguments = {std::string(option)};
  r.reported.output = text;
  return kept_output(by, r);
}

std::string kept(std::string_view path, const std::string& text) {
  neutral by;
  return kept_text(by, path, text, {});
}

void plant(std::string_view input, std::string_view secret) {
  const std::string text = around(input, secret);
  for (const std::string_view path : of_words) promise(!holds(kept(path, text), secret));
  promise(!holds(printed("--help", text), secret));
  const std::string title = "run: " + text;
  promise(!holds(kept("/proc/7/cmdline", title), secret));
  promise(!holds(kept("/proc/7/cmdline", "/usr/bin/run " + text), secret));
  promise(!holds(kept("/proc/7/cmdline", std::string("run") + '\0' + text), secret));
  promise(!holds(kept("/proc/7/stat", "7 (" + title + ") S 1 7"), secret));
}

}  // namespace

void fuzz(std::string_view input) {
  for (const std::string_view secret : secrets) {
    if (input.find(secret) != std::string_view::npos) return;
    plant(input, secret);
    promise(!holds(printed("--json", R"({"note": ")" + std::string(secret) + R"("})"), secret));
    promise(!holds(printed("--json", R"({"name": "run )" + std::string(secret) + R"("})"), secret));
  }
  for (const std::string_view secret : places) {
    if (input.find(secret) != std::string_view::npos) return;
    plant(input, secret);
    for (const std::string_view path : of_texts) {
      promise(!holds(kept(path, around(input, secret)), secret));
    }
  }
}
