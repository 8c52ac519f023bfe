// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Paths as the runtimes' own documentation and code give them: Docker and Podman with both cgroup
// drivers, containerd's CRI, CRI-O, Kubernetes, systemd's machines, LXC.
#include "procfs/workload.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::procfs;

namespace {

const std::string id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string outer_id = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

std::string container_text(const std::string& text) {
  const Container container = parse_container(text);
  std::string out;
  if (!container.empty()) append_container(out, container);
  return out;
}

std::string v2_container_text(const std::string& path) {
  return container_text("0::" + path + "\n");
}

}  // namespace

TEST_CASE("a container is recognised by the scope or folder of each runtime") {
  CHECK(v2_container_text("/system.slice/docker-" + id + ".scope") == "docker:" + id);
  CHECK(v2_container_text("/docker/" + id) == "docker:" + id);
  CHECK(v2_container_text("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + id +
                          ".scope/container") == "podman:" + id);
  CHECK(v2_container_text("/libpod_parent/libpod-" + id) == "podman:" + id);
  CHECK(
      v2_container_text("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod7a96.slice/"
                        "cri-containerd-" +
                        id + ".scope") == "containerd:" + id);
  CHECK(v2_container_text("/kubepods.slice/kubepods-pod7a96.slice/crio-" + id + ".scope") ==
        "cri-o:" + id);
  CHECK(v2_container_text("/kubepods/besteffort/pod7a96c459-d529/" + id) == "kubernetes:" + id);
  CHECK(v2_container_text(
            "/system.slice/containerd.service/kubepods-burstable-pod7a96.slice:cri-containerd:" +
            id) == "containerd:" + id);
  CHECK(v2_container_text("/system.slice/nerdctl-" + id + ".scope") == "nerdctl:" + id);
  CHECK(v2_container_text("/ecs/0a1b2c/" + id) == "container:" + id);
}

TEST_CASE("containers of nspawn, machined and LXC have names") {
  CHECK(v2_container_text(
            "/machine.slice/systemd-nspawn@debian.service/payload/system.slice/cron.service") ==
        "systemd-nspawn:debian");
  CHECK(v2_container_text("/machine.slice/machine-my\\x2dbox.scope") == "machine:my-box");
  CHECK(v2_container_text("/lxc.payload.web/system.slice/ssh.service") == "lxc:web");
  CHECK(v2_container_text("/lxc.payload/web") == "lxc:web");
  CHECK(container_text("3:cpu,cpuacct:/lxc/web\n") == "lxc:web");
}

TEST_CASE("container monitors and virtual machines are in no container") {
  CHECK(v2_container_text("/machine.slice/libpod-conmon-" + id + ".scope").empty());
  CHECK(v2_container_text("/kubepods.slice/crio-conmon-" + id + ".scope").empty());
  CHECK(v2_container_text("/lxc.monitor.web").empty());
  CHECK(v2_container_text("/machine.slice/machine-qemu\\x2d1\\x2dvm.scope").empty());
}

TEST_CASE("a process of the host is in no container") {
  CHECK(v2_container_text("/user.slice/user-1000.slice/session-2.scope").empty());
  CHECK(v2_container_text("/system.slice/docker.service").empty());
  CHECK(v2_container_text("/").empty());
  CHECK(container_text("").empty());
  CHECK(container_text("12:memory:/\n1:name=systemd:/init.scope\n0::/\n").empty());
}

TEST_CASE("the innermost of nested containers is reported") {
  CHECK(v2_container_text("/docker/" + outer_id +
                          "/kubelet.slice/kubelet-kubepods.slice/cri-containerd-" + id +
                          ".scope") == "containerd:" + id);
  CHECK(v2_container_text("/docker/" + id + "/init.scope") == "docker:" + id);
}

TEST_CASE("cgroup v1: every controller line is accepted, and a v2 line without one is skipped") {
  CHECK(container_text("5:cpuset:/\n4:memory:/docker/" + id + "\n0::/\n") == "docker:" + id);
  CHECK(container_text("0::/\n4:memory:/docker/" + id) == "docker:" + id);
}

TEST_CASE("a path that climbs out of a cgroup namespace is accepted") {
  CHECK(v2_container_text("/../../system.slice/docker-" + id + ".scope") == "docker:" + id);
}

TEST_CASE("text that only resembles a container id is not one") {
  CHECK(v2_container_text("/docker/" + id.substr(1)).empty());
  CHECK(v2_container_text("/docker/" + id.substr(1) + "g").empty());
  CHECK(v2_container_text("/system.slice/x" + id).empty());
  CHECK(container_text("no colon " + id).empty());
  CHECK(container_text("x::/docker/" + id).empty());
  CHECK(v2_container_text("/machine.slice/machine-.scope").empty());
  CHECK(v2_container_text("/system.slice/-" + id + ".scope") == "container:" + id);
}
