// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/system_memory.hpp"

#include <doctest/doctest.h>

#include "fake_kernel32.hpp"

using namespace hmn;

namespace {

constexpr std::uint64_t gib = 1 << 30;
constexpr DWORD job_flag = JOB_OBJECT_LIMIT_JOB_MEMORY;
constexpr DWORD process_flag = JOB_OBJECT_LIMIT_PROCESS_MEMORY;

os::JobLimit read_limit(DWORD flags, std::uint64_t job, std::uint64_t process) {
  fake::system() = {};
  fake::system().limits.emplace();
  fake::system().limits->BasicLimitInformation.LimitFlags = flags;
  fake::system().limits->JobMemoryLimit = job;
  fake::system().limits->ProcessMemoryLimit = process;
  fake::system().used_by_job = gib;
  fake::system().process.ex.PrivateUsage = gib / 4;
  return os::read_job_limit();
}

}  // namespace

TEST_CASE("job_limit: a limit of the job is reported with the use of the job") {
  const os::JobLimit limit = read_limit(job_flag, 2 * gib, gib);
  CHECK(limit.bytes == 2 * gib);
  CHECK(limit.used == gib);
  CHECK_FALSE(limit.is_partial);
}

TEST_CASE("job_limit: a limit per process is reported with the use of this process") {
  const os::JobLimit limit = read_limit(process_flag, gib, 2 * gib);
  CHECK(limit.bytes == 2 * gib);
  CHECK(limit.used == gib / 4);
}

TEST_CASE("job_limit: the tighter limit applies, and of equal ones that of the job") {
  CHECK(read_limit(job_flag | process_flag, 3 * gib, 2 * gib).used == gib / 4);
  CHECK(read_limit(job_flag | process_flag, 2 * gib, 3 * gib).used == gib);
  CHECK(read_limit(job_flag | process_flag, 2 * gib, 2 * gib).used == gib);
}

TEST_CASE("job_limit: a value without its flag is ignored") {
  const os::JobLimit limit = read_limit(JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, gib, gib);
  CHECK_FALSE(limit.bytes);
  CHECK_FALSE(limit.used);
  CHECK_FALSE(limit.is_partial);
}

TEST_CASE("job_limit: a use that is not reported is unknown") {
  read_limit(job_flag, 2 * gib, 0);
  fake::system().used_by_job.reset();
  CHECK(os::read_job_limit().bytes == 2 * gib);
  CHECK_FALSE(os::read_job_limit().used);
  fake::system().used_by_job = 0;
  CHECK_FALSE(os::read_job_limit().used);
}

TEST_CASE("job_limit: outside a job there is no limit; without an answer it is unknown") {
  read_limit(job_flag, 2 * gib, 0);
  fake::system().limits.reset();
  CHECK_FALSE(os::read_job_limit().bytes);
  CHECK(os::read_job_limit().is_partial);
  fake::system().is_in_job = false;
  CHECK_FALSE(os::read_job_limit().bytes);
  CHECK_FALSE(os::read_job_limit().is_partial);
}
