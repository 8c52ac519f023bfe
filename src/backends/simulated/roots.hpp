// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Roots that a context reads. One other than the default is "/machine/<name>" in a recording, which
// hides the recorder's folders.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "source/interface.hpp"

namespace hmn::simulated {

struct root {
  std::string_view name;
  std::string settings::*place;
  std::string_view usual;
};

inline constexpr std::array roots = {
    root{"proc", &settings::proc_root, "/proc"},
    root{"sys", &settings::sys_root, "/sys"},
    root{"dev", &settings::dev_root, ""},
    root{"cgroup", &settings::cgroup_root, ""},
    root{"nvidia_smi", &settings::nvidia_smi_path, ""},
    root{"rocm_smi", &settings::rocm_smi_path, ""},
    root{"amd_smi", &settings::amd_smi_path, ""},
};

inline constexpr std::string_view moved_roots = "/machine/";

}  // namespace hmn::simulated
