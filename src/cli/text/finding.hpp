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

// Obstacles to measuring. Each has a remedy, or is known to have none.
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
  no_ptrace_right,
  no_perfmon_right,
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
// Where hmn runs: a remedy on the host cannot be applied from inside a container.
enum class Site : bool { host, container };
std::string_view find_remedy(Problem problem, Site site) noexcept;
// Returns the problem behind a failure of a source.
Problem find_problem(const hypomnesis::diagnostic& diagnostic);
Problem find_problem(const hypomnesis::backend_info& backend);

// Trouble is something broken; a note is only worth knowing, for example a missing right.
enum class Severity { fine, note, trouble };

// Result of an inspection. Trouble always has advice.
struct Finding {
  Severity severity = Severity::fine;
  std::string text;
  std::string advice;
};

struct Section {
  std::string title;
  std::vector<Finding> findings;
};

Finding make_fine(std::string text);
Finding make_note(std::string text);
Finding make_note(std::string text, Problem problem, Site site);
Finding make_trouble(std::string text, Problem problem, Site site);
bool has_trouble(const std::vector<Section>& report) noexcept;

// Returns whether another source has answered in its place.
bool is_unneeded(const hypomnesis::backend_info& backend) noexcept;
// `is_needed`: there is a GPU that this source should list.
Finding inspect_backend(std::string_view name, const hypomnesis::backend_info& backend,
                        bool is_needed, Site site);
// `reason`: why limits could not be read.
Finding inspect_memory_limit(const std::optional<hypomnesis::system_memory>& memory,
                             std::string_view reason);

std::vector<JsonObject> to_json(const std::vector<Section>& report);
std::string render(const std::vector<Section>& report, const Style& style);

}  // namespace hmn::cli
