// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/environment.hpp"

#include "model/message_text.hpp"
#include "model/text.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"

namespace hmn {
namespace {

constexpr std::size_t longest_path = 4095;

struct variable {
  const char* name;
  path_kind which;
};
constexpr variable variables[] = {
    {"HMN_PROC", path_kind::proc},         {"HMN_SYS", path_kind::sys},
    {"HMN_NVML", path_kind::nvml},         {"HMN_NVIDIA_SMI", path_kind::nvidia_smi},
    {"HMN_ROCM_SMI", path_kind::rocm_smi}, {"HMN_AMD_SMI", path_kind::amd_smi},
    {"HMN_MACMON", path_kind::macmon},     {"HMN_SIMULATION", path_kind::simulation},
    {"HMN_CGROUP", path_kind::cgroup},     {"HMN_DEV", path_kind::dev},
};

}  // namespace

result<void> check_path(std::string_view value) {
  if (platform::is_absolute(value) && value.size() <= longest_path) return {};
  std::string shown;
  append_utf8(shown, value.substr(0, 120));
  return failed(status::argument, {"path \"", shown, "\": expected an absolute path of at most ",
                                   longest_path, " bytes"});
}

result<void> apply_environment(context& to) {
  for (const variable& v : variables) {
    const char* value = platform::environment(v.name);
    if (value == nullptr || *value == '\0') continue;
    result<void> ok = check_path(value);
    if (ok) ok = to.set_path(v.which, value);
    if (ok) continue;
    ok.why().message = {v.name, ": ", ok.why().message.view()};
    return ok;
  }
  return {};
}

}  // namespace hmn
