// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/mach/facts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "model/failure.hpp"
#include "model/message_text.hpp"

namespace hmn::mach {

Failure make_process_failure(Source source, std::uint32_t pid, std::string_view subject,
                             int error) {
  Failure failure{Status::backend, source, {NativeDomain::error_number, error}, {}};
  if (error == ESRCH) {
    failure.code = Status::no_process;
    failure.message = compose({"there is no process ", pid});
  } else if (is_refused(error)) {
    failure.code = Status::permission;
    failure.message =
        compose({"macOS does not report ", subject, " of process ", pid, "; root may read it"});
  } else {
    failure.message =
        compose({"macOS did not report ", subject, " of process ", pid, ": error ", error});
  }
  return failure;
}

Failure make_kernel_failure(Source source, std::string_view call, KernReturn code) {
  return {Status::backend,
          source,
          {NativeDomain::kern, code},
          compose({call, " failed with kern_return ", code})};
}

int read_record(const Kernel& kernel, std::uint32_t pid, ProcessRecord& record) noexcept {
  std::array<int, 4> name{ctl_kern, kern_process, kern_process_by_pid, static_cast<int>(pid)};
  std::size_t size = sizeof record;
  record = ProcessRecord();
  if (kernel.sysctl(name.data(), name.size(), &record, &size, nullptr, 0) != 0) return errno;
  // An empty result means that there is no such process.
  if (size == 0) return ESRCH;
  return size == sizeof record && record.pid == static_cast<int>(pid) ? 0 : EIO;
}

std::optional<std::uint64_t> start_unix_ns(const ProcessRecord& record) noexcept {
  constexpr std::uint64_t ns_per_second = 1'000'000'000;
  if (record.start_seconds <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(record.start_seconds) * ns_per_second +
         static_cast<std::uint64_t>(std::max(record.start_microseconds, 0)) * 1000;
}

bool is_forked_only(const Kernel& kernel, std::uint32_t own_pid) noexcept {
  ProcessRecord record;
  return read_record(kernel, own_pid, record) == 0 && (record.accounting_flags & forked_only) != 0;
}

std::optional<std::uint64_t> read_number(const Kernel& kernel, const char* name) noexcept {
  std::uint64_t value = 0;
  std::size_t size = sizeof value;
  if (kernel.sysctl_by_name(name, &value, &size, nullptr, 0) != 0) return std::nullopt;
  if (size == sizeof value) return value;
  std::uint32_t narrow = 0;
  if (size != sizeof narrow) return std::nullopt;
  std::memcpy(&narrow, &value, sizeof narrow);
  return narrow;
}

Text<96> read_text(const Kernel& kernel, const char* name) noexcept {
  std::array<char, 96> value{};
  std::size_t size = value.size();
  if (kernel.sysctl_by_name(name, value.data(), &size, nullptr, 0) != 0) return {};
  const std::string_view bytes(value.data(), std::min(size, value.size()));
  return Text<96>(bytes.substr(0, bytes.find('\0')));
}

}  // namespace hmn::mach
