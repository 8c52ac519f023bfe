// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/text/json.hpp"
#include "cli/text/output.hpp"

namespace hmn::cli {

// What can keep values from being measured. Each has a remedy, or is known to have none.
enum class problem : std::uint8_t {
  nouveau,
  no_nvidia_driver,
  nvidia_not_loaded,
  no_nvidia_node,
  closed_nvidia_node,
  no_nvidia_library,
  wrong_nvml_path,
  wrong_nvidia_smi_path,
  nvidia_mismatch,
  nvidia_blocked,
  nvidia_unknown_error,
  nvidia_other_error,
  needs_power_cables,
  no_kernel_driver,
  no_render_node,
  closed_render_node,
  hidden_processes,
  foreign_proc,
  own_pid_namespace,
  own_user_namespace,
  no_tracing_right,
  no_watching_right,
  no_driver,
  no_host_files,
  not_permitted,
  not_answered,
  lost,
  needs_reset,
  not_understood,
  out_of_resources,
  defect,
  failed,
};
constexpr std::size_t problem_count = static_cast<std::size_t>(problem::failed) + 1;

constexpr std::string_view no_remedy = "no remedy known";
// Where a remedy is applied: what is to be done on the host cannot be done in a container.
enum class site : bool { host, container };
std::string_view remedy_for(problem what, site at) noexcept;
// Returns the problem behind a failure of a source.
problem problem_of(const hypomnesis::diagnostic& of);
problem problem_of(const hypomnesis::backend_info& of);

// A problem that is broken fails; one that is only worth knowing, as a missing right, is a note.
enum class severity { fine, note, trouble };

// Result of an inspection. Trouble always has advice.
struct finding {
  severity how = severity::fine;
  std::string text;
  std::string advice;
};

struct section {
  std::string title;
  std::vector<finding> findings;
};

finding fine(std::string text);
finding note(std::string text);
finding note(std::string text, problem what, site at);
finding trouble(std::string text, problem what, site at);
bool is_broken(const std::vector<section>& report) noexcept;

// Returns whether another source has answered in its place.
bool is_needless(const hypomnesis::backend_info& of) noexcept;
// Takes in `needed` whether there is a GPU that this source should know.
finding inspect_backend(std::string_view name, const hypomnesis::backend_info& of, bool needed,
                        site at);
// Takes in `unread` what is said of limits that could not be read.
finding inspect_memory_limit(const std::optional<hypomnesis::system_memory>& memory,
                             std::string_view unread);

std::vector<json_object> to_json(const std::vector<section>& report);
std::string render(const std::vector<section>& report, const style& as);

}  // namespace hmn::cli
