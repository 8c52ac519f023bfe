// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/environment.hpp"

#include "model/message_text.hpp"
#include "model/text.hpp"
#include "platform/file.hpp"
#include "platform/process.hpp"

namespace hmn {
namespace {

constexpr std::size_t longest_path = 4095;

struct Variable {
  const char* name;
  PathKind kind;
};
constexpr Variable variables[] = {
    {"HMN_PROC", PathKind::proc},         {"HMN_SYS", PathKind::sys},
    {"HMN_NVML", PathKind::nvml},         {"HMN_NVIDIA_SMI", PathKind::nvidia_smi},
    {"HMN_ROCM_SMI", PathKind::rocm_smi}, {"HMN_AMD_SMI", PathKind::amd_smi},
    {"HMN_MACMON", PathKind::macmon},     {"HMN_SIMULATION", PathKind::simulation},
    {"HMN_CGROUP", PathKind::cgroup},     {"HMN_DEV", PathKind::dev},
};

}  // namespace

Result<void> check_path(std::string_view value) {
  if (platform::is_absolute(value) && value.size() <= longest_path) return {};
  std::string excerpt;
  append_utf8(excerpt, value.substr(0, 120));
  return make_failure(
      Status::argument,
      {"path \"", excerpt, "\": expected an absolute path of at most ", longest_path, " bytes"});
}

Result<void> apply_environment(Context& context) {
  for (const Variable& variable : variables) {
    const char* value = platform::environment(variable.name);
    if (value == nullptr || *value == '\0') continue;
    Result<void> ok = check_path(value);
    if (ok) ok = context.set_path(variable.kind, value);
    if (ok) continue;
    ok.failure().message = {variable.name, ": ", ok.failure().message.view()};
    return ok;
  }
  return {};
}

}  // namespace hmn
