// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/tegra/gpu.hpp"

#include <algorithm>
#include <utility>

#include "backends/tegra/files.hpp"
#include "model/compose.hpp"
#include "platform/file.hpp"

namespace hmn::tegra {
namespace {

// Nodes of NVIDIA's GPUs alone; "gpu" is what other makers call theirs, too.
constexpr std::string_view chips[] = {"gk20a", "gm20b", "gp10b", "gv11b", "ga10b", "gb10b"};

bool is_one(const std::string& folder, std::string& chip) {
  chip = read_line(folder, "of_node/name").value;
  const bool is_named = std::ranges::find(chips, chip) != std::end(chips);
  const bool is_nvidias =
      chip == "gpu" && has_text_from(read_property(folder, "of_node/compatible"), "nvidia,");
  return (is_named || is_nvidias) && link_name(folder, "driver") != "nouveau";
}

std::string first_entry(const std::string& folder) {
  std::string found;
  (void)platform::for_each_entry(folder.c_str(), [&](std::string_view name) {
    found = compose({folder, "/", name});
    return false;
  });
  return found;
}

}  // namespace

gpu find_gpu(std::string_view sys_root) {
  gpu found;
  const std::string by_clock = compose({sys_root, "/class/devfreq"});
  (void)platform::for_each_entry(by_clock.c_str(), [&](std::string_view name) {
    const std::string devfreq = compose({by_clock, "/", name});
    const std::string folder = devfreq + "/device";
    if (is_one(folder, found.chip)) {
      found.folder = folder;
      found.devfreq = devfreq;
    }
    return found.folder.empty();
  });
  // Before L4T 32 under a name of its own.
  for (const char* const place : {"/devices/gpu.0", "/devices/platform/gpu.0"}) {
    if (!found.folder.empty()) break;
    const std::string folder = compose({sys_root, place});
    if (!is_one(folder, found.chip)) continue;
    found.folder = folder;
    found.devfreq = first_entry(folder + "/devfreq");
  }
  return found;
}

platform::errno_or<std::string> board_name(std::string_view proc_root, std::string_view sys_root) {
  auto by_proc = read_line(proc_root, "device-tree/model");
  return by_proc ? std::move(by_proc) : read_line(sys_root, "firmware/devicetree/base/model");
}

bool is_suspended(const gpu& g) {
  return read_line(g.folder, "power/runtime_status").value.starts_with("suspend");
}

}  // namespace hmn::tegra
