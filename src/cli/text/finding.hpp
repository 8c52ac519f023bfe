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
enum class Problem : std::uint8_t {
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
constexpr std::size_t problem_count = static_cast<std::size_t>(Problem::failed) + 1;

constexpr std::string_view no_remedy = "no remedy known";
// Where a remedy is applied: what is to be done on the host cannot be done in a container.
enum class Site : bool { host, container };
std::string_view remedy_for(Problem what, Site at) noexcept;
// Returns the problem behind a failure of a source.
Problem problem_of(const hypomnesis::diagnostic& of);
Problem problem_of(const hypomnesis::backend_info& of);

// A problem that is broken fails; one that is only worth knowing, as a missing right, is a note.
enum class Severity { fine, note, trouble };

// Result of an inspection. Trouble always has advice.
struct Finding {
  Severity how = Severity::fine;
  std::string text;
  std::string advice;
};

struct Section {
  std::string title;
  std::vector<Finding> findings;
};

Finding fine(std::string text);
Finding note(std::string text);
Finding note(std::string text, Problem what, Site at);
Finding trouble(std::string text, Problem what, Site at);
bool is_broken(const std::vector<Section>& report) noexcept;

// Returns whether another source has answered in its place.
bool is_needless(const hypomnesis::backend_info& of) noexcept;
// Takes in `needed` whether there is a GPU that this source should know.
Finding inspect_backend(std::string_view name, const hypomnesis::backend_info& of, bool needed,
                        Site at);
// Takes in `unread` what is said of limits that could not be read.
Finding inspect_memory_limit(const std::optional<hypomnesis::system_memory>& memory,
                             std::string_view unread);

std::vector<JsonObject> to_json(const std::vector<Section>& report);
std::string render(const std::vector<Section>& report, const Style& as);

}  // namespace hmn::cli
