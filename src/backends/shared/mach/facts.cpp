// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/mach/facts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "model/failure.hpp"
#include "model/message_text.hpp"

namespace hmn::mach {

Failure why_not(Source from, std::uint32_t pid, std::string_view what, int error) {
  Failure why{Status::backend, from, {NativeDomain::error_number, error}, {}};
  if (error == ESRCH) {
    why.code = Status::no_process;
    why.message = compose({"there is no process ", pid});
  } else if (is_refused(error)) {
    why.code = Status::permission;
    why.message =
        compose({"macOS does not report ", what, " of process ", pid, "; root may read it"});
  } else {
    why.message = compose({"macOS did not report ", what, " of process ", pid, ": error ", error});
  }
  return why;
}

Failure of_kernel(Source from, std::string_view call, KernReturn code) {
  return {Status::backend,
          from,
          {NativeDomain::kern, code},
          compose({call, " failed with kern_return ", code})};
}

int read_record(const Kernel& k, std::uint32_t pid, ProcessRecord& out) noexcept {
  std::array<int, 4> name{ctl_kern, kern_process, kern_process_by_pid, static_cast<int>(pid)};
  std::size_t size = sizeof out;
  out = ProcessRecord();
  if (k.sysctl(name.data(), name.size(), &out, &size, nullptr, 0) != 0) return errno;
  // An empty result means that there is no such process.
  if (size == 0) return ESRCH;
  return size == sizeof out && out.pid == static_cast<int>(pid) ? 0 : EIO;
}

std::optional<std::uint64_t> start_unix_ns(const ProcessRecord& of) noexcept {
  constexpr std::uint64_t ns_per_second = 1'000'000'000;
  if (of.start_seconds <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(of.start_seconds) * ns_per_second +
         static_cast<std::uint64_t>(std::max(of.start_microseconds, 0)) * 1000;
}

bool is_forked_only(const Kernel& k, std::uint32_t own_pid) noexcept {
  ProcessRecord own;
  return read_record(k, own_pid, own) == 0 && (own.accounting_flags & forked_only) != 0;
}

std::optional<std::uint64_t> number_of(const Kernel& k, const char* name) noexcept {
  std::uint64_t value = 0;
  std::size_t size = sizeof value;
  if (k.sysctl_by_name(name, &value, &size, nullptr, 0) != 0) return std::nullopt;
  if (size == sizeof value) return value;
  std::uint32_t narrow = 0;
  if (size != sizeof narrow) return std::nullopt;
  std::memcpy(&narrow, &value, sizeof narrow);
  return narrow;
}

Text<96> text_of(const Kernel& k, const char* name) noexcept {
  std::array<char, 96> value{};
  std::size_t size = value.size();
  if (k.sysctl_by_name(name, value.data(), &size, nullptr, 0) != 0) return {};
  const std::string_view all(value.data(), std::min(size, value.size()));
  return Text<96>(all.substr(0, all.find('\0')));
}

}  // namespace hmn::mach
