// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Run of one program from its start to its outcome, for any kind of child.
#pragma once

#include <string>

#include "platform/posix/child.hpp"
#include "platform/posix/descriptor.hpp"
#include "platform/subprocess.hpp"

namespace hmn::platform {

struct channel {
  descriptor null_device;
  descriptor from_child;
  descriptor to_parent;
};

outcome refused(outcome::kind what, int error);
outcome failed_to_start(const command& given, int error);

// Returns 0 at the end of the output, EFBIG beyond the cap, ETIMEDOUT, or errno.
int collect_output(int from, const command& given, std::string& output);
outcome::kind kind_of_collecting(int error) noexcept;

template <class Child>
outcome follow(Child& child, int from, const command& given) {
  outcome result;
  const int error = collect_output(from, given, result.output);
  result.what = kind_of_collecting(error);
  if (result.what == outcome::kind::not_runnable) result.error = error;
  if (result.what != outcome::kind::finished) return result;
  exit_status status;
  if (child.wait(given.deadline_ns, status) == ended::timed_out) {
    result.what = outcome::kind::timed_out;
    return result;
  }
  child.release();
  result.exit_known = status.known;
  result.exit_code = status.code;
  result.signal = status.signal;
  return result;
}

template <class Child>
outcome run_as(const launch& what, channel& open, const command& given) {
  Child child;
  const start_result start = child.start(what);
  open.to_parent.close();
  switch (start.what) {
    case started::running:
      return follow(child, open.from_child.get(), given);
    case started::late:
      return refused(outcome::kind::timed_out, 0);
    default:
      return failed_to_start(given, start.error);
  }
}

// Runs one of the kinds of child that the system has.
outcome run_child(const launch& what, channel& open, const command& given);
// Reaps children that earlier calls could not wait for.
void collect_children() noexcept;

}  // namespace hmn::platform
