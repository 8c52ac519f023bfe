// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Paths as the kubelet, containerd, CRI-O, Slurm and systemd name them.
#include "procfs/workload.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::procfs;

namespace {

const std::string hex = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string uid = "7a96d5b2-1c3f-4e5d-8a6b-0c1d2e3f4a5b";
const std::string slice_uid = "7a96d5b2_1c3f_4e5d_8a6b_0c1d2e3f4a5b";

Workload at_path(const std::string& path) {
  return parse_workload("0::" + path + "\n");
}

}  // namespace

TEST_CASE("workload: a pod by systemd's driver, in each class and with each runtime") {
  for (const char* of_class : {"", "-burstable", "-besteffort"})
    for (const char* runtime : {"cri-containerd", "crio", "docker"}) {
      const auto found =
          at_path("/kubepods.slice/kubepods" + std::string(of_class) + ".slice/kubepods" +
                  of_class + "-pod" + slice_uid + ".slice/" + runtime + "-" + hex + ".scope");
      CHECK(found.pod == uid);
      CHECK(found.container == hex);
    }
}

TEST_CASE("workload: a pod by the cgroupfs driver") {
  for (const std::string parent : {"/kubepods", "/kubepods/burstable", "/kubepods/besteffort"})
    for (const char* prefix : {"", "crio-"}) {
      const auto found = at_path(parent + "/pod" + uid + "/" + prefix + hex);
      CHECK(found.pod == uid);
      CHECK(found.container == hex);
    }
}

TEST_CASE("workload: a pod in the name that containerd gives without systemd") {
  const auto found = at_path("/system.slice/containerd.service/kubepods-burstable-pod" + slice_uid +
                             ".slice:cri-containerd:" + hex);
  CHECK(found.pod == uid);
  CHECK(found.container == hex);
  CHECK(found.runtime == "containerd");
}

TEST_CASE("workload: a pod as it is seen from the control group namespace of another") {
  for (const std::string& pod : {uid, std::string("d41d8cd98f00b204e9800998ecf8427e")}) {
    const auto found = at_path("/../../pod" + pod + "/" + hex);
    CHECK(found.pod == pod);
    CHECK(found.container == hex);
  }
  CHECK(
      at_path("/../../kubepods-besteffort-pod" + slice_uid + ".slice/crio-" + hex + ".scope").pod ==
      uid);
  CHECK(at_path("/../cri-containerd-" + hex + ".scope").container == hex);
  for (const char* path : {"/../podman", "/../pod1", "/../pods/podx"})
    CHECK_MESSAGE(at_path(path).pod.empty(), path);
}

TEST_CASE("workload: a node that is a container itself, and a static pod") {
  CHECK(at_path("/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + slice_uid +
                ".slice/cri-containerd-" + hex + ".scope")
            .pod == uid);
  CHECK(at_path("/kubepods.slice/kubepods-podd41d8cd98f00b204e9800998ecf8427e.slice/crio-" + hex +
                ".scope")
            .pod == "d41d8cd98f00b204e9800998ecf8427e");
}

TEST_CASE("workload: a process that only watches a container is not in it") {
  const auto found =
      at_path("/kubepods.slice/kubepods-pod" + slice_uid + ".slice/crio-conmon-" + hex + ".scope");
  CHECK(found.container.empty());
  CHECK(found.pod == uid);
}

TEST_CASE("workload: a folder that is only named like a pod is none") {
  for (const char* path : {"/podman", "/pod1", "/user.slice/pods/podx", "/kubepods.slice",
                           "/kubepods.slice/kubepods-burstable.slice", "/kubepods/pod",
                           "/kubepods.slice/kubepods-pod.slice", "/kubepods/burstable"})
    CHECK_MESSAGE(at_path(path).pod.empty(), path);
}

TEST_CASE("workload: a job of Slurm, v1") {
  CHECK(parse_workload("9:memory:/slurm/uid_1000/job_4711/step_0/task_0\n").job == "4711");
  CHECK(parse_workload("9:memory:/slurm_node7/uid_1000/job_4711/step_batch\n").job == "4711");
}

TEST_CASE("workload: a job of Slurm, v2, and wherever its scope is") {
  for (const char* path :
       {"/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0",
        "/system.slice/node7_slurmstepd.scope/job_4711/step_batch/user/task_special",
        "/hpc.slice/slurmstepd.scope/job_4711/step_extern/slurm",
        "/slurmstepd.scope/job_4711/step_interactive/user/task_3"})
    CHECK_MESSAGE(at_path(path).job == "4711", path);
}

TEST_CASE("workload: a SLUID stands in the place of the job's number") {
  CHECK(at_path("/system.slice/slurmstepd.scope/sACM8KB4J7V800/step_0/user/task_0").job ==
        "sACM8KB4J7V800");
  CHECK(parse_workload("3:devices:/slurm/uid_1000/sACM8KB4J7V800/step_0\n").job ==
        "sACM8KB4J7V800");
}

TEST_CASE("workload: what is below Slurm and no job is none") {
  for (const char* path :
       {"/system.slice/slurmstepd.scope/system", "/slurm/uid_1000", "/system.slice/slurmd.service",
        "/slurm/job_x", "/job_7/step_0", "/system.slice/slurmstepd.scope/step_0"})
    CHECK_MESSAGE(at_path(path).job.empty(), path);
}

TEST_CASE("workload: a container in a job is both") {
  const auto found =
      at_path("/system.slice/slurmstepd.scope/job_7/step_0/user/task_0/libpod-" + hex + ".scope");
  CHECK(found.job == "7");
  CHECK(found.container == hex);
  CHECK(found.runtime == "podman");
}

TEST_CASE("workload: the innermost unit of systemd") {
  CHECK(at_path("/system.slice/ollama.service").unit == "ollama.service");
  CHECK(at_path("/user.slice/user-1000.slice/user@1000.service/app.slice/app-steam.scope").unit ==
        "app-steam.scope");
  CHECK(at_path("/system.slice/docker-" + hex + ".scope").unit == "docker-" + hex + ".scope");
  CHECK(at_path("/system.slice/ollama.service/payload").unit == "ollama.service");
  CHECK(at_path("/").unit.empty());
  CHECK(at_path("/user.slice").unit.empty());
}

TEST_CASE("workload: of the lines of v1 the first that names something counts") {
  const auto found = parse_workload("12:pids:/\n11:memory:/docker/" + hex +
                                    "\n1:name=systemd:/system.slice/x.service\n0::/\n");
  CHECK(found.container == hex);
  CHECK(found.unit == "x.service");
}

TEST_CASE("workload: what is no list of control groups names nothing") {
  for (const char* text : {"", "\n", "nonsense", "::/docker/x", "x::/system.slice/a.service\n",
                           "0::system.slice/a.service\n"}) {
    const auto found = parse_workload(text);
    CHECK_MESSAGE((found.container + found.pod + found.job + found.unit).empty(), text);
  }
}

TEST_CASE("workload: bytes that are no UTF-8 are replaced") {
  CHECK(at_path("/system.slice/a\xff.service").unit == "a\xef\xbf\xbd.service");
}
