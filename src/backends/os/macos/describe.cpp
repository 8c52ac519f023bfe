// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/macos/describe.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "backends/shared/mach/facts.hpp"
#include "model/failure.hpp"
#include "model/process_key.hpp"
#include "model/scan.hpp"
#include "model/text.hpp"

namespace hmn::macos {

void append_arguments(std::string& out, std::string_view bytes) {
  std::int32_t count = 0;
  if (bytes.size() < sizeof count) return;
  std::memcpy(&count, bytes.data(), sizeof count);
  bytes.remove_prefix(sizeof count);
  const std::size_t end_of_path = bytes.find('\0');
  if (end_of_path == bytes.npos) return;
  const std::size_t first = bytes.find_first_not_of('\0', end_of_path);
  if (first == bytes.npos) return;
  bytes.remove_prefix(first);
  for (std::int32_t i = 0; i < count && !bytes.empty(); ++i) {
    if (i > 0) out += ' ';
    append_utf8(out, scan::take_until(bytes, '\0'));
  }
}

namespace {

constexpr std::size_t most_arguments = std::size_t{1} << 20;  // ARG_MAX

// Name of the file, else the kernel's name of up to 16 bytes.
void name(const mach::Kernel& k, const mach::ProcessRecord& known, Usage& row) {
  std::array<char, mach::longest_path> path;
  const int length =
      k.pid_path(static_cast<int>(row.pid), path.data(), static_cast<std::uint32_t>(path.size()));
  const auto capacity = static_cast<int>(path.size());
  std::string_view found(path.data(), static_cast<std::size_t>(std::clamp(length, 0, capacity)));
  found = found.substr(0, found.find('\0'));
  found.remove_prefix(found.rfind('/') + 1);  // npos + 1 is 0
  if (found.empty()) found = {known.name, strnlen(known.name, sizeof known.name)};
  row.name.clear();
  append_utf8(row.name, found);
  if (!row.name.empty()) row.name_state = NameState::resolved;
}

// The kernel keeps the last values of an ended process.
void measure(const mach::Kernel& k, Usage& row) {
  mach::Rusage found{};
  if (k.pid_rusage(static_cast<int>(row.pid), mach::rusage_flavor,
                   reinterpret_cast<void**>(&found)) == 0 &&
      found.exit_time == 0) {
    row.host_resident = found.resident_size;
  }
}

bool is_complete(const Usage& row) {
  return row.name_state != NameState::unknown && row.start_unix_ns && row.process_key && row.uid &&
         row.host_resident;
}

}  // namespace

void describe(const mach::Kernel& k, Usage& row) {
  if (row.pid == 0 || is_complete(row)) return;
  mach::ProcessRecord known;
  if (const int error = mach::read_record(k, row.pid, known); error != 0) {
    if (row.name_state != NameState::unknown) return;
    if (error == ESRCH) row.name_state = NameState::exited;
    if (is_refused(error)) row.name_state = NameState::protected_process;
    return;
  }
  if (row.name_state == NameState::unknown) name(k, known, row);
  const std::optional<std::uint64_t> start = mach::start_unix_ns(known);
  if (!row.start_unix_ns) row.start_unix_ns = start;
  if (!row.process_key && start) row.process_key = process_key(0, *start, row.pid);
  if (!row.uid) row.uid = known.user;
  if (!row.host_resident && known.state != mach::zombie) measure(k, row);
}

void describe_command(const mach::Kernel& k, Usage& row) {
  if (row.pid == 0 || !row.command.empty()) return;
  std::array<int, 3> which{mach::ctl_kern, mach::kern_arguments, static_cast<int>(row.pid)};
  std::size_t size = 0;
  if (k.sysctl(which.data(), which.size(), nullptr, &size, nullptr, 0) != 0) return;
  std::string bytes(std::min(size, most_arguments), '\0');
  size = bytes.size();
  if (k.sysctl(which.data(), which.size(), bytes.data(), &size, nullptr, 0) != 0) return;
  append_arguments(row.command, std::string_view(bytes).substr(0, size));
}

}  // namespace hmn::macos
