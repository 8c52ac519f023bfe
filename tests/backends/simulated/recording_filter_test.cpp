// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/recording_filter.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace hmn::simulated;

namespace {

std::string filter_file(const std::string& path, std::string_view text,
                        std::string_view stat = {}) {
  Anonymizer anonymizer;
  anonymizer.add_name("alice", Anonymizer::Kind::user);
  return filter_text(anonymizer, path, text, stat);
}

std::string filter_printed(const std::vector<std::string>& arguments, const std::string& text) {
  Anonymizer anonymizer;
  for (const char* comm : {"train", "postgres", "run"}) anonymizer.add_program(comm);
  hmn::platform::RecordedRun run;
  run.arguments = arguments;
  run.outcome.output = text;
  return filter_output(anonymizer, run);
}

}  // namespace

TEST_CASE("kept: a process keeps its program and its numbers") {
  CHECK(filter_file("/proc/7/stat", "7 (sshd: alice [pri) S 1 7 7 0 -1 4194560") ==
        "7 (sshd) S 1 7 7 0 -1 4194560");
  CHECK(filter_file("/proc/7/cmdline", std::string_view("/opt/x/run\0--key=k\0", 20),
                    "7 (run) S") == std::string("run\0", 4));
  CHECK(filter_file("/proc/7/cmdline", "postgres: alice db 10.0.0.5(5432) idle",
                    "7 (postgres) S") == "postgres");
  CHECK(filter_file("/proc/7/cmdline", "secret", "7 (python3) S") == "python3");
  CHECK(filter_file("/proc/7/cmdline", "secret") == "name1");
}

TEST_CASE("kept: only mounts of control groups and proc are kept") {
  CHECK(filter_file("/proc/self/mountinfo",
                    "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
                    "31 1 0:27 / /srv/alice rw - nfs server:/export rw\nnonsense\n"
                    "32 1 0:28 / /proc rw - proc proc rw,hidepid=2\n") ==
        "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
        "32 1 0:28 / /proc rw - proc proc rw,hidepid=2\n");
}

TEST_CASE("kept: a control group keeps its shape") {
  CHECK(filter_file("/proc/7/cgroup",
                    "0::/user.slice/user-1000.slice/user@1000.service/my-job.scope\n") ==
        "0::/user.slice/user-1000.slice/user@1000.service/name1-job.scope\n");
  CHECK(filter_file("/proc/7/cgroup",
                    "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n") ==
        "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n");
}

TEST_CASE("kept: an id is the same in decimal and in hexadecimal") {
  Anonymizer anonymizer;
  CHECK(filter_text(anonymizer, "/sys/a/unique_id", "59d01f7b6a5e4c3d\n", {}) ==
        "0000000000000001\n");
  CHECK(filter_text(anonymizer, "/sys/n/properties",
                    "simd_count 416\nunique_id 6471707279457406013\n",
                    {}) == "simd_count 416\nunique_id 0000000000000000001\n");
  CHECK(filter_text(anonymizer, "/sys/n/properties",
                    "unique_id 0\nhive_id 15188982192727901047\nsize 1",
                    {}) == "unique_id 0\nhive_id 00000000000000000002\nsize 1");
}

TEST_CASE("kept: an nvidia-smi table keeps known columns, and processes keep their program") {
  CHECK(filter_printed(
            {"--query-gpu=index,uuid,name", "--format=csv,nounits"},
            "index, uuid, name\n0, GPU-5f6d2b1e-0a3c-4d5e-8f90-a1b2c3d4e5f6, NVIDIA L40S\n") ==
        "index, uuid, name\n0, GPU-00000000-0000-0000-0000-000000000001, NVIDIA L40S\n");
  CHECK(filter_printed({"--query-compute-apps=gpu_uuid,pid,process_name", "--format=csv,nounits"},
                       "gpu_uuid, pid, process_name\n"
                       "GPU-5f6d2b1e-0a3c-4d5e-8f90-a1b2c3d4e5f6, 77, /srv/bob/train\n"
                       "GPU-5f6d2b1e-0a3c-4d5e-8f90-a1b2c3d4e5f6, 78, [Not Found]\n"
                       "GPU-5f6d2b1e-0a3c-4d5e-8f90-a1b2c3d4e5f6, 79, postgres: bob, secret\n"
                       "GPU-5f6d2b1e-0a3c-4d5e-8f90-a1b2c3d4e5f6, 80, secret\n") ==
        "gpu_uuid, pid, process_name\n"
        "GPU-00000000-0000-0000-0000-000000000001, 77, train\n"
        "GPU-00000000-0000-0000-0000-000000000001, 78, [Not Found]\n"
        "GPU-00000000-0000-0000-0000-000000000001, 79, postgres\n"
        "GPU-00000000-0000-0000-0000-000000000001, 80, name1\n");
}

TEST_CASE("kept: JSON of a tool keeps values of known keys") {
  CHECK(filter_printed(
            {"--json"},
            R"({"card0": {"Card Series": "Navi 23 [Radeon RX 6600/6600M]", "GPU use": "0",)"
            R"( "Unique ID": "0x59d01f7b6a5e4c3d", "Note": "hunter2"},)"
            R"( "system": {"PID77": "train --key, 1, 2048, 0, unknown"}})") ==
        R"({"card0": {"Card Series": "Navi 23 [Radeon RX 6600/6600M]", "GPU use": "0",)"
        R"( "Unique ID": "0x0000000000000001", "name1": "name2"},)"
        R"( "system": {"PID77": "train, 1, 2048, 0, unknown"}})");
  CHECK(filter_printed({"process", "--json"},
                       R"([{"name": "/srv/bob/run", "pid": 7}] cut "hunter2)") ==
        R"([{"name": "run", "pid": 7}] cut "name1)");
  CHECK(filter_printed({"--help"}, "GPU is lost by hunter2") == "GPU is lost by name1");
}
