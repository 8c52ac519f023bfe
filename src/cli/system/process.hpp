// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "cli/system/environment.hpp"
#include "procfs/workload.hpp"

namespace hmn::cli {

// Facts that the command looks up by itself: a user's name may come over a network, which a library
// must not wait for.

// Looks up the user; uid is from the library, and is the result for one without a name.
std::optional<std::string> find_process_user(std::uint32_t pid, std::optional<std::uint32_t> uid);

struct UserLookup {
  bool is_conclusive = false;          // false: not known whether there is such a user
  std::optional<std::uint32_t> uid{};  // none: there is none
};
// Looks up the number of a user of this system; is not conclusive where users have no numbers.
UserLookup find_uid(const std::string& name);

// Returns the pid in the process's own PID namespace, from the proc tree that the library reads.
// Returns none on systems without PID namespaces.
std::optional<std::uint32_t> find_namespace_pid(std::uint32_t pid);

// Returns the processor time that a process has used, with all its threads. Returns none for one
// that has ended or cannot be read, and on systems other than Linux.
std::optional<std::uint64_t> read_process_cpu_ns(const Roots& roots, std::uint32_t pid);

struct SignalChoice {
  int number = 0;
  const char* name = "";    // "TERM"
  const char* effect = "";  // "ends the process"
};
// Returns the signals that a process can be sent; none on systems without process descriptors.
std::span<const SignalChoice> list_signal_choices();

// Sends a signal through a process descriptor, so that a process that gets the pid later never
// receives it. `is_same` tests whether the pid is still the intended process's, after the
// descriptor was opened. Returns why it was not sent.
std::optional<std::string> send_signal(std::uint32_t pid, int number,
                                       const std::function<bool()>& is_same);

// Reads the workload that a process' control groups name, from the proc tree that the library
// reads. Returns none for a process that is gone, and on systems without control groups.
std::optional<procfs::Workload> read_process_workload(std::uint32_t pid);

}  // namespace hmn::cli
