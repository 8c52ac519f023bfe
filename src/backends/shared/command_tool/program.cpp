// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/command_tool/program.hpp"

#include "backends/shared/command_tool/verdict.hpp"
#include "model/compose.hpp"
#include "platform/clock.hpp"
#include "platform/file.hpp"

namespace hmn::command_tool {
namespace {

constexpr std::size_t output_cap = 4U << 20;

void trace(source from, const platform::command& c, const platform::outcome& o,
           std::uint64_t duration, reading& r) {
  std::string line = c.path;
  for (const std::string& argument : c.arguments) line += " " + argument;
  diagnostic d;
  d.why = {status::ok, from, exit_of(o), std::move(line)};
  d.notes = note::trace;
  d.duration_ns = duration;
  r.diagnose(d);
}

}  // namespace

result<void> program::find() {
  path_ = wanted_path_;
  if (!path_.empty()) {
    if (!platform::is_absolute(path_)) {
      return d_.fail(status::no_source,
                     {"the path of ", d_.name, " must be absolute, \"", path_, "\" is not"});
    }
    if (platform::is_executable_file(path_.c_str())) return {};
    return d_.fail(status::no_source, {path_, " is no program that can be run"});
  }
  const std::string_view file = d_.file.empty() ? d_.name : d_.file;
  for (const std::string_view folder : d_.folders) {
    path_ = compose({folder, file});
    if (platform::is_executable_file(path_.c_str())) return {};
  }
  return d_.fail(status::no_source, {d_.absent});
}

bool program::was_replaced() {
  const auto now = platform::status_of(path_.c_str());
  if (!now || (now.value.device == device_ && now.value.inode == inode_)) return false;
  device_ = now.value.device;
  inode_ = now.value.inode;
  return true;
}

platform::outcome program::run(std::vector<std::string> arguments, bool with_errors,
                               reading& r) const {
  const platform::command c{path_, std::move(arguments), r.deadline_ns(), output_cap, with_errors};
  const std::uint64_t begun = platform::monotonic_ns();
  platform::outcome o = platform::run(c);
  if (r.wants_trace()) trace(d_.fail.from, c, o, platform::monotonic_ns() - begun, r);
  return o;
}

}  // namespace hmn::command_tool
