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
  const std::size_t path_end = bytes.find('\0');
  if (path_end == bytes.npos) return;
  const std::size_t start = bytes.find_first_not_of('\0', path_end);
  if (start == bytes.npos) return;
  bytes.remove_prefix(start);
  for (std::int32_t i = 0; i < count && !bytes.empty(); ++i) {
    if (i > 0) out += ' ';
    append_utf8(out, scan::take_until(bytes, '\0'));
  }
}

namespace {

constexpr std::size_t max_arguments_size = std::size_t{1} << 20;  // ARG_MAX

// Sets the name of the file, or else the kernel's name of up to 16 bytes.
void set_name(const mach::Kernel& kernel, const mach::ProcessRecord& record, Usage& row) {
  std::array<char, mach::max_path_size> path;
  const int length = kernel.pid_path(static_cast<int>(row.pid), path.data(),
                                     static_cast<std::uint32_t>(path.size()));
  const auto capacity = static_cast<int>(path.size());
  std::string_view name(path.data(), static_cast<std::size_t>(std::clamp(length, 0, capacity)));
  name = name.substr(0, name.find('\0'));
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  if (name.empty()) name = {record.name, strnlen(record.name, sizeof record.name)};
  row.name.clear();
  append_utf8(row.name, name);
  if (!row.name.empty()) row.name_state = NameState::resolved;
}

// The kernel keeps the last values of an ended process.
void read_resident(const mach::Kernel& kernel, Usage& row) {
  mach::Rusage rusage{};
  if (kernel.pid_rusage(static_cast<int>(row.pid), mach::rusage_flavor,
                        reinterpret_cast<void**>(&rusage)) == 0 &&
      rusage.exit_time == 0) {
    row.host_resident = rusage.resident_size;
  }
}

bool is_complete(const Usage& row) {
  return row.name_state != NameState::unknown && row.start_unix_ns && row.process_key && row.uid &&
         row.host_resident;
}

}  // namespace

void describe(const mach::Kernel& kernel, Usage& row) {
  if (row.pid == 0 || is_complete(row)) return;
  mach::ProcessRecord record;
  if (const int error = mach::read_record(kernel, row.pid, record); error != 0) {
    if (row.name_state != NameState::unknown) return;
    if (error == ESRCH) row.name_state = NameState::exited;
    if (is_refused(error)) row.name_state = NameState::protected_process;
    return;
  }
  if (row.name_state == NameState::unknown) set_name(kernel, record, row);
  const std::optional<std::uint64_t> start = mach::start_unix_ns(record);
  if (!row.start_unix_ns) row.start_unix_ns = start;
  if (!row.process_key && start) row.process_key = make_process_key(0, *start, row.pid);
  if (!row.uid) row.uid = record.user;
  if (!row.host_resident && record.state != mach::zombie) read_resident(kernel, row);
}

void describe_command(const mach::Kernel& kernel, Usage& row) {
  if (row.pid == 0 || !row.command.empty()) return;
  std::array<int, 3> mib{mach::ctl_kern, mach::kern_arguments, static_cast<int>(row.pid)};
  std::size_t size = 0;
  if (kernel.sysctl(mib.data(), mib.size(), nullptr, &size, nullptr, 0) != 0) return;
  std::string bytes(std::min(size, max_arguments_size), '\0');
  size = bytes.size();
  if (kernel.sysctl(mib.data(), mib.size(), bytes.data(), &size, nullptr, 0) != 0) return;
  append_arguments(row.command, std::string_view(bytes).substr(0, size));
}

}  // namespace hmn::macos
