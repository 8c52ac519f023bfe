// SPDX-License-Identifier: MIT OR Apache-2.0
#include <string>

#include "backends/simulated/script.hpp"
#include "fuzz.hpp"
#include "platform/file.hpp"

using namespace hmn::simulated;
using namespace hmn::platform;

// Whatever a recording holds can be asked for.
void fuzz(std::string_view input) {
  const std::string text = "{\"recording\":" + std::string(input) + "}";
  const auto read = read_script(text, 4242);
  const auto* s = std::get_if<Script>(&read);
  if (s == nullptr || !s->recorded().answers) return;
  const OverrideScope scope(s->recorded().answers.get());
  char buffer[64];
  std::string whole;
  for (const char* path : {"/", "/a", "/a/b", "/machine/sys/class/drm"}) {
    const auto small = read_small(path, buffer);
    promise(!small || small.value <= sizeof buffer);
    (void)read_whole(path, whole, 16);
    promise(whole.size() <= 16);
    const auto link = read_link(path, buffer);
    promise(!link || link.value < sizeof buffer);
    (void)status_of(path);
    (void)exists(path);
    (void)is_executable_file(path);
    (void)for_each_entry(path, [](std::string_view name) {
      promise(!name.empty());
      return true;
    });
  }
}
