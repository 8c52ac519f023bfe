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

inline void must(hmn_status status, const hmn_error& error) {
  if (status == HMN_OK) return;
  std::fprintf(stderr, "%s: %s\n", hmn_status_name(status), error.message);
  std::abort();
}

// Processor time of this process so far.
inline double used_seconds() {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
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

// GPUs whose calls cost nothing, each used by this process and by `more` rows.
std::string gpus(unsigned count, const std::string& more = {});
// The same, used by a process of the host alone, whose pid no process has here.
std::string gpus_of_others(unsigned count);

// Microseconds that a snapshot takes so many threads of the context together, which take one after
// the other until all stop together.
double snapshot_together_us(hmn_context* context, unsigned threads);

// The plain way: reads each link of a folder. Returns their number.
int read_links(const std::string& folder);

}  // namespace bench
