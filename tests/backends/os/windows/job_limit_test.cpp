// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/system_memory.hpp"

#include <doctest/doctest.h>

#include "fake_kernel32.hpp"

using namespace hmn;

namespace {

constexpr std::uint64_t gib = 1 << 30;
constexpr DWORD of_job = JOB_OBJECT_LIMIT_JOB_MEMORY;
constexpr DWORD of_process = JOB_OBJECT_LIMIT_PROCESS_MEMORY;

os::JobLimit limit(DWORD set, std::uint64_t job, std::uint64_t process) {
  fake::system() = {};
  fake::system().limits.emplace();
  fake::system().limits->BasicLimitInformation.LimitFlags = set;
  fake::system().limits->JobMemoryLimit = job;
  fake::system().limits->ProcessMemoryLimit = process;
  fake::system().used_by_job = gib;
  fake::system().process.ex.PrivateUsage = gib / 4;
  return os::read_job_limit();
}

}  // namespace

TEST_CASE("job_limit: the whole job's, with what the job uses") {
  const os::JobLimit l = limit(of_job, 2 * gib, gib);
  CHECK(l.bytes == 2 * gib);
  CHECK(l.used == gib);
  CHECK_FALSE(l.is_partial);
}

TEST_CASE("job_limit: that of each process, with what this one uses") {
  const os::JobLimit l = limit(of_process, gib, 2 * gib);
  CHECK(l.bytes == 2 * gib);
  CHECK(l.used == gib / 4);
}

TEST_CASE("job_limit: the tighter of both, of equal ones the job's") {
  CHECK(limit(of_job | of_process, 3 * gib, 2 * gib).used == gib / 4);
  CHECK(limit(of_job | of_process, 2 * gib, 3 * gib).used == gib);
  CHECK(limit(of_job | of_process, 2 * gib, 2 * gib).used == gib);
}

TEST_CASE("job_limit: a figure without its flag is no limit") {
  const os::JobLimit l = limit(JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, gib, gib);
  CHECK_FALSE(l.bytes);
  CHECK_FALSE(l.used);
  CHECK_FALSE(l.is_partial);
}

TEST_CASE("job_limit: a use that is not told is unknown") {
  limit(of_job, 2 * gib, 0);
  fake::system().used_by_job.reset();
  CHECK(os::read_job_limit().bytes == 2 * gib);
  CHECK_FALSE(os::read_job_limit().used);
  fake::system().used_by_job = 0;
  CHECK_FALSE(os::read_job_limit().used);
}

TEST_CASE("job_limit: outside of a job there is none, in one that does not tell it is unknown") {
  limit(of_job, 2 * gib, 0);
  fake::system().limits.reset();
  CHECK_FALSE(os::read_job_limit().bytes);
  CHECK(os::read_job_limit().is_partial);
  fake::system().is_in_job = false;
  CHECK_FALSE(os::read_job_limit().bytes);
  CHECK_FALSE(os::read_job_limit().is_partial);
}
