// SPDX-License-Identifier: MIT OR Apache-2.0
#include "platform/subprocess.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "platform/clock.hpp"
#include "platform/file.hpp"
#include "platform/stand_in.hpp"
#include "platform/windows/contained_child.hpp"
#include "platform/windows/list_folder.hpp"
#include "platform/windows/output_pipe.hpp"
#include "platform/windows/system_error.hpp"

namespace hmn::platform {
namespace {

using kind = outcome::kind;

outcome refused(kind what, int error) {
  outcome result;
  result.what = what;
  result.error = error;
  return result;
}

outcome failed_to_start(const command& given, unsigned long error) {
  const bool absent = errno_of(error) == ENOENT && !exists(given.path.c_str());
  return refused(absent ? kind::not_found : kind::not_runnable, errno_of(error));
}

// Rejects scripts, which would be passed to a shell.
bool is_well_formed(const command& given) {
  const auto has_nul = [](const std::string& text) { return text.find('\0') != text.npos; };
  return is_absolute(given.path) && is_program_name(given.path) && !has_nul(given.path) &&
         std::none_of(given.arguments.begin(), given.arguments.end(), has_nul);
}

handle null_device() noexcept {
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  return handle(CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE,
                            FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0,
                            nullptr));
}

// Returns 0 at the end of the output, EFBIG beyond the cap, ETIMEDOUT at the deadline, or the
// error.
int collect_output(output_pipe& from, const command& given, std::string& output) {
  std::array<char, 16384> chunk;
  for (;;) {
    const size_t left = given.output_cap - output.size();
    const size_t wanted = std::min(left, chunk.size() - 1) + 1;
    const errno_or<size_t> got = from.read(std::span(chunk).first(wanted), given.deadline_ns);
    if (!got) return got.error;
    if (got.value == 0) return 0;
    output.append(chunk.data(), std::min(got.value, left));
    if (got.value > left) return EFBIG;
  }
}

kind kind_of(int collecting_error) noexcept {
  switch (collecting_error) {
    case 0:
      return kind::finished;
    case EFBIG:
      return kind::output_too_long;
    case ETIMEDOUT:
      return kind::timed_out;
    default:
      return kind::not_runnable;
  }
}

outcome follow(contained_child& child, output_pipe& from, const command& given) {
  outcome result;
  const int error = collect_output(from, given, result.output);
  result.what = kind_of(error);
  if (result.what == kind::not_runnable) result.error = error;
  if (result.what != kind::finished) return result;
  if (!child.wait(given.deadline_ns)) {
    result.what = kind::timed_out;
    return result;
  }
  result.exit_known = child.exit_code(result.exit_code);
  child.release();
  return result;
}

outcome run_really(const command& given) {
  if (!is_well_formed(given)) return refused(kind::not_runnable, EINVAL);
  if (monotonic_ns() >= given.deadline_ns) return refused(kind::timed_out, 0);
  output_pipe pipe;
  if (const int error = pipe.open()) return refused(kind::not_runnable, error);
  const handle nothing = null_device();
  if (!nothing) return refused(kind::not_runnable, last_errno());
  contained_child child;
  const HANDLE errors = given.with_errors ? pipe.to_parent() : nothing.get();
  if (const auto error = child.start(given, nothing.get(), pipe.to_parent(), errors)) {
    return failed_to_start(given, error);
  }
  pipe.close_to_parent();
  return follow(child, pipe, given);
}

}  // namespace

outcome run(const command& given) {
  if (stand_in* const r = stand_in::of_thread()) return r->run(given, run_really);
  return run_really(given);
}

}  // namespace hmn::platform
