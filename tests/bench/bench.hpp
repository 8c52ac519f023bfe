// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <hypomnesis.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace bench {

template <class T>
T sized() {
  T record = {};
  record.struct_size = sizeof record;
  return record;
}

inline void require_ok(hmn_status status, const hmn_error& error) {
  if (status == HMN_OK) return;
  std::fprintf(stderr, "%s: %s\n", hmn_status_name(status), error.message);
  std::abort();
}

// Processor time of this process so far.
inline double used_seconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A context over the fake NVML, with a scenario given as text.
class Machine {
 public:
  explicit Machine(hmn_flags flags, const std::string& scenario = {});
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { hmn_context_destroy(context_); }
  [[nodiscard]] hmn_context* context() const { return context_; }

 private:
  hmn_context* context_ = nullptr;
};

// Returns a scenario of GPUs used by this process and by `extra_rows` each.
std::string make_gpus(unsigned count, const std::string& extra_rows = {});
// The same, used only by a process of the host, whose PID does not exist here.
std::string make_foreign_gpus(unsigned count);

// Microseconds per snapshot of `threads` threads of one context together, which take snapshots
// until all stop.
double measure_concurrent_snapshot_us(hmn_context* context, unsigned threads);

// Reads each link of a folder, as a baseline. Returns their number.
int read_links(const std::string& folder);

}  // namespace bench
