// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/kept.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace hmn::simulated;

namespace {

std::string kept(const std::string& path, std::string_view text, std::string_view stat = {}) {
  Neutral n;
  n.know("alice", Neutral::Kind::user);
  return kept_text(n, path, text, stat);
}

std::string printed(const std::vector<std::string>& arguments, const std::string& text) {
  Neutral n;
  for (const char* comm : {"train", "postgres", "run"}) n.know_program(comm);
  hmn::platform::RecordedRun r;
  r.arguments = arguments;
  r.reported.output = text;
  return kept_output(n, r);
}

}  // namespace

TEST_CASE("kept: of a process its program and its numbers") {
  CHECK(kept("/proc/7/stat", "7 (sshd: alice [pri) S 1 7 7 0 -1 4194560") ==
        "7 (sshd) S 1 7 7 0 -1 4194560");
  CHECK(kept("/proc/7/cmdline", std::string_view("/opt/x/run\0--key=k\0", 20), "7 (run) S") ==
        std::string("run\0", 4));
  CHECK(kept("/proc/7/cmdline", "postgres: alice db 10.0.0.5(5432) idle", "7 (postgres) S") ==
        "postgres");
  CHECK(kept("/proc/7/cmdline", "secret", "7 (python3) S") == "python3");
  CHECK(kept("/proc/7/cmdline", "secret") == "name1");
}

TEST_CASE("kept: of mounts those of control groups and proc") {
  CHECK(kept("/proc/self/mountinfo",
             "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
             "31 1 0:27 / /srv/alice rw - nfs server:/export rw\nnonsense\n"
             "32 1 0:28 / /proc rw - proc proc rw,hidepid=2\n") ==
        "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
        "32 1 0:28 / /proc rw - proc proc rw,hidepid=2\n");
}

TEST_CASE("kept: of a control group its shape") {
  CHECK(kept("/proc/7/cgroup", "0::/user.slice/user-1000.slice/user@1000.service/my-job.scope\n") ==
        "0::/user.slice/user-1000.slice/user@1000.service/name1-job.scope\n");
  CHECK(kept("/proc/7/cgroup", "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n") ==
        "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n");
}

TEST_CASE("kept: an id is the same in decimal and in hexadecimal") {
  Neutral n;
  CHECK(kept_text(n, "/sys/a/unique_id", "59d01f7b6a5e4c3d\n", {}) == "0000000000000001\n");
  CHECK(kept_text(n, "/sys/n/properties", "simd_count 416\nunique_id 6471707279457406013\n", {}) ==
        "simd_count 416\nunique_id 0000000000000000001\n");
  CHECK(kept_text(n, "/sys/n/properties", "unique_id 0\nhive_id 15188982192727901047\nsize 1",
                  {}) == "unique_id 0\nhive_id 00000000000000000002\nsize 1");
}

TEST_CASE("kept: of a table of nvidia-smi the columns, and of processes the program") {
  CHECK(printed({"--query-gpu=index,uuid,name", "--format=csv,nounits"},
                "index, uuid, name\n0, GPU-5f6d2b1e-0a3c-4d5e-8f90-a1b2c3d4e5f6, NVIDIA L40S\n") ==
        "index, uuid, name\n0, GPU-00000000-0000-0000-0000-000000000001, NVIDIA L40S\n");
  CHECK(printed({"--query-compute-apps=gpu_uuid,pid,process_name", "--format=csv,nounits"},
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

TEST_CASE("kept: of a tool's JSON the values by their keys") {
  CHECK(printed({"--json"},
                R"({"card0": {"Card Series": "Navi 23 [Radeon RX 6600/6600M]", "GPU use": "0",)"
                R"( "Unique ID": "0x59d01f7b6a5e4c3d", "Note": "hunter2"},)"
                R"( "system": {"PID77": "train --key, 1, 2048, 0, unknown"}})") ==
        R"({"card0": {"Card Series": "Navi 23 [Radeon RX 6600/6600M]", "GPU use": "0",)"
        R"( "Unique ID": "0x0000000000000001", "name1": "name2"},)"
        R"( "system": {"PID77": "train, 1, 2048, 0, unknown"}})");
  CHECK(printed({"process", "--json"}, R"([{"name": "/srv/bob/run", "pid": 7}] cut "hunter2)") ==
        R"([{"name": "run", "pid": 7}] cut "name1)");
  CHECK(printed({"--help"}, "GPU is lost by hunter2") == "GPU is lost by name1");
}
