// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/environment.hpp"

#include "model/compose.hpp"
#include "model/text.hpp"
#include "platform/process.hpp"

namespace hmn {
namespace {

constexpr std::size_t longest_path = 4095;

struct variable {
  const char* name;
  path_kind which;
};
constexpr variable variables[] = {
    {"HMN_PROC", path_kind::proc},
    {"HMN_SYS", path_kind::sys},
    {"HMN_NVML", path_kind::nvml},
    {"HMN_NVIDIA_SMI", path_kind::nvidia_smi},
    {"HMN_SIMULATION", path_kind::simulation},
    {"HMN_CGROUP", path_kind::cgroup},
    {"HMN_DEV", path_kind::dev},
};

}  // namespace

result<void> check_path(std::string_view value) {
  if (!value.empty() && value.front() == '/' && value.size() <= longest_path) return {};
  std::string shown;
  append_utf8(shown, value.substr(0, 120));
  return failure{status::argument,
                 source::none,
                 {},
                 compose({"path \"", shown, "\": expected an absolute path of at most ",
                          longest_path, " bytes"})};
}

result<void> apply_environment(context& to) {
  for (const variable& v : variables) {
    const char* value = platform::environment(v.name);
    if (value == nullptr || *value == '\0') continue;
    result<void> ok = check_path(value);
    if (ok) ok = to.set_path(v.which, value);
    if (ok) continue;
    ok.why().message = compose({v.name, ": ", ok.why().message});
    return ok;
  }
  return {};
}

}  // namespace hmn
