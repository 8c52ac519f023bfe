// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Paths as the kubelet, containerd, CRI-O, Slurm and systemd name them.
#include "procfs/workload.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::procfs;

namespace {

const std::string container_id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string uid = "7a96d5b2-1c3f-4e5d-8a6b-0c1d2e3f4a5b";
const std::string slice_uid = "7a96d5b2_1c3f_4e5d_8a6b_0c1d2e3f4a5b";

Workload parse_path(const std::string& path) {
  return parse_workload("0::" + path + "\n");
}

}  // namespace

TEST_CASE("workload: a pod is found with the systemd driver, in each class and runtime") {
  for (const char* qos_class : {"", "-burstable", "-besteffort"})
    for (const char* runtime : {"cri-containerd", "crio", "docker"}) {
      const auto workload = parse_path("/kubepods.slice/kubepods" + std::string(qos_class) +
                                       ".slice/kubepods" + qos_class + "-pod" + slice_uid +
                                       ".slice/" + runtime + "-" + container_id + ".scope");
      CHECK(workload.pod == uid);
      CHECK(workload.container == container_id);
    }
}

TEST_CASE("workload: a pod is found with the cgroupfs driver") {
  for (const std::string parent : {"/kubepods", "/kubepods/burstable", "/kubepods/besteffort"})
    for (const char* prefix : {"", "crio-"}) {
      const auto workload = parse_path(parent + "/pod" + uid + "/" + prefix + container_id);
      CHECK(workload.pod == uid);
      CHECK(workload.container == container_id);
    }
}

TEST_CASE("workload: a pod is found in the name that containerd uses without systemd") {
  const auto workload = parse_path("/system.slice/containerd.service/kubepods-burstable-pod" +
                                   slice_uid + ".slice:cri-containerd:" + container_id);
  CHECK(workload.pod == uid);
  CHECK(workload.container == container_id);
  CHECK(workload.runtime == "containerd");
}

TEST_CASE("workload: a pod is found from the cgroup namespace of another") {
  for (const std::string& pod : {uid, std::string("d41d8cd98f00b204e9800998ecf8427e")}) {
    const auto workload = parse_path("/../../pod" + pod + "/" + container_id);
    CHECK(workload.pod == pod);
    CHECK(workload.container == container_id);
  }
  CHECK(parse_path("/../../kubepods-besteffort-pod" + slice_uid + ".slice/crio-" + container_id +
                   ".scope")
            .pod == uid);
  CHECK(parse_path("/../cri-containerd-" + container_id + ".scope").container == container_id);
  for (const char* path : {"/../podman", "/../pod1", "/../pods/podx"})
    CHECK_MESSAGE(parse_path(path).pod.empty(), path);
}

TEST_CASE("workload: pods of a node that is a container and static pods are found") {
  CHECK(parse_path("/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + slice_uid +
                   ".slice/cri-containerd-" + container_id + ".scope")
            .pod == uid);
  CHECK(parse_path("/kubepods.slice/kubepods-podd41d8cd98f00b204e9800998ecf8427e.slice/crio-" +
                   container_id + ".scope")
            .pod == "d41d8cd98f00b204e9800998ecf8427e");
}

TEST_CASE("workload: a container monitor is in the pod but not in the container") {
  const auto workload = parse_path("/kubepods.slice/kubepods-pod" + slice_uid +
                                   ".slice/crio-conmon-" + container_id + ".scope");
  CHECK(workload.container.empty());
  CHECK(workload.pod == uid);
}

TEST_CASE("workload: a folder that is only named like a pod is not one") {
  for (const char* path : {"/podman", "/pod1", "/user.slice/pods/podx", "/kubepods.slice",
                           "/kubepods.slice/kubepods-burstable.slice", "/kubepods/pod",
                           "/kubepods.slice/kubepods-pod.slice", "/kubepods/burstable"})
    CHECK_MESSAGE(parse_path(path).pod.empty(), path);
}

TEST_CASE("workload: a Slurm job is found on cgroup v1") {
  CHECK(parse_workload("9:memory:/slurm/uid_1000/job_4711/step_0/task_0\n").job == "4711");
  CHECK(parse_workload("9:memory:/slurm_node7/uid_1000/job_4711/step_batch\n").job == "4711");
}

TEST_CASE("workload: a Slurm job is found on cgroup v2, wherever its scope is") {
  for (const char* path :
       {"/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0",
        "/system.slice/node7_slurmstepd.scope/job_4711/step_batch/user/task_special",
        "/hpc.slice/slurmstepd.scope/job_4711/step_extern/slurm",
        "/slurmstepd.scope/job_4711/step_interactive/user/task_3"})
    CHECK_MESSAGE(parse_path(path).job == "4711", path);
}

TEST_CASE("workload: a SLUID replaces the job number") {
  CHECK(parse_path("/system.slice/slurmstepd.scope/sACM8KB4J7V800/step_0/user/task_0").job ==
        "sACM8KB4J7V800");
  CHECK(parse_workload("3:devices:/slurm/uid_1000/sACM8KB4J7V800/step_0\n").job ==
        "sACM8KB4J7V800");
}

TEST_CASE("workload: other folders below Slurm are not jobs") {
  for (const char* path :
       {"/system.slice/slurmstepd.scope/system", "/slurm/uid_1000", "/system.slice/slurmd.service",
        "/slurm/job_x", "/job_7/step_0", "/system.slice/slurmstepd.scope/step_0"})
    CHECK_MESSAGE(parse_path(path).job.empty(), path);
}

TEST_CASE("workload: a container in a Slurm job is reported with the job") {
  const auto workload = parse_path(
      "/system.slice/slurmstepd.scope/job_7/step_0/user/task_0/libpod-" + container_id + ".scope");
  CHECK(workload.job == "7");
  CHECK(workload.container == container_id);
  CHECK(workload.runtime == "podman");
}

TEST_CASE("workload: the innermost systemd unit is reported") {
  CHECK(parse_path("/system.slice/ollama.service").unit == "ollama.service");
  CHECK(
      parse_path("/user.slice/user-1000.slice/user@1000.service/app.slice/app-steam.scope").unit ==
      "app-steam.scope");
  CHECK(parse_path("/system.slice/docker-" + container_id + ".scope").unit ==
        "docker-" + container_id + ".scope");
  CHECK(parse_path("/system.slice/ollama.service/payload").unit == "ollama.service");
  CHECK(parse_path("/").unit.empty());
  CHECK(parse_path("/user.slice").unit.empty());
}

TEST_CASE("workload: the first v1 line that names something counts") {
  const auto workload = parse_workload("12:pids:/\n11:memory:/docker/" + container_id +
                                       "\n1:name=systemd:/system.slice/x.service\n0::/\n");
  CHECK(workload.container == container_id);
  CHECK(workload.unit == "x.service");
}

TEST_CASE("workload: text that is not a list of control groups names nothing") {
  for (const char* text : {"", "\n", "nonsense", "::/docker/x", "x::/system.slice/a.service\n",
                           "0::system.slice/a.service\n"}) {
    const auto workload = parse_workload(text);
    CHECK_MESSAGE((workload.container + workload.pod + workload.job + workload.unit).empty(), text);
  }
}

TEST_CASE("workload: invalid UTF-8 is replaced") {
  CHECK(parse_path("/system.slice/a\xff.service").unit == "a\xef\xbf\xbd.service");
}
