// SPDX-License-Identifier: MIT OR Apache-2.0
#include <string>

#include "backends/simulated/script.hpp"
#include "fuzz.hpp"
#include "platform/file.hpp"

using namespace hmn::simulated;
using namespace hmn::platform;

// Any path can be read from any recording.
void fuzz(std::string_view input) {
  const std::string text = "{\"recording\":" + std::string(input) + "}";
  const auto result = read_script(text, 4242);
  const auto* loaded_script = std::get_if<MachineScript>(&result);
  if (loaded_script == nullptr || !loaded_script->recorded_machine().recording) return;
  const OverrideScope scope(loaded_script->recorded_machine().recording.get());
  char buffer[64];
  std::string content;
  for (const char* path : {"/", "/a", "/a/b", "/machine/sys/class/drm"}) {
    const auto small = read_small(path, buffer);
    promise(!small || small.value <= sizeof buffer);
    (void)read_whole(path, content, 16);
    promise(content.size() <= 16);
    const auto link = read_link(path, buffer);
    promise(!link || link.value < sizeof buffer);
    (void)read_status(path);
    (void)exists(path);
    (void)is_executable_file(path);
    (void)for_each_entry(path, [](std::string_view name) {
      promise(!name.empty());
      return true;
    });
  }
}
