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
const std::string other = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

std::string text_of(const std::string& text) {
  const Container in = parse_container(text);
  std::string out;
  if (!in.empty()) append_container(out, in);
  return out;
}

std::string in_v2(const std::string& path) {
  return text_of("0::" + path + "\n");
}

}  // namespace

TEST_CASE("each runtime by systemd's scope and by a bare folder") {
  CHECK(in_v2("/system.slice/docker-" + id + ".scope") == "docker:" + id);
  CHECK(in_v2("/docker/" + id) == "docker:" + id);
  CHECK(in_v2("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + id +
              ".scope/container") == "podman:" + id);
  CHECK(in_v2("/libpod_parent/libpod-" + id) == "podman:" + id);
  CHECK(in_v2("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod7a96.slice/"
              "cri-containerd-" +
              id + ".scope") == "containerd:" + id);
  CHECK(in_v2("/kubepods.slice/kubepods-pod7a96.slice/crio-" + id + ".scope") == "cri-o:" + id);
  CHECK(in_v2("/kubepods/besteffort/pod7a96c459-d529/" + id) == "kubernetes:" + id);
  CHECK(in_v2("/system.slice/containerd.service/kubepods-burstable-pod7a96.slice:cri-containerd:" +
              id) == "containerd:" + id);
  CHECK(in_v2("/system.slice/nerdctl-" + id + ".scope") == "nerdctl:" + id);
  CHECK(in_v2("/ecs/0a1b2c/" + id) == "container:" + id);
}

TEST_CASE("machines have names") {
  CHECK(in_v2("/machine.slice/systemd-nspawn@debian.service/payload/system.slice/cron.service") ==
        "systemd-nspawn:debian");
  CHECK(in_v2("/machine.slice/machine-my\\x2dbox.scope") == "machine:my-box");
  CHECK(in_v2("/lxc.payload.web/system.slice/ssh.service") == "lxc:web");
  CHECK(in_v2("/lxc.payload/web") == "lxc:web");
  CHECK(text_of("3:cpu,cpuacct:/lxc/web\n") == "lxc:web");
}

TEST_CASE("what only watches a container is in none, nor is a virtual machine") {
  CHECK(in_v2("/machine.slice/libpod-conmon-" + id + ".scope").empty());
  CHECK(in_v2("/kubepods.slice/crio-conmon-" + id + ".scope").empty());
  CHECK(in_v2("/lxc.monitor.web").empty());
  CHECK(in_v2("/machine.slice/machine-qemu\\x2d1\\x2dvm.scope").empty());
}

TEST_CASE("a process of the host is in none") {
  CHECK(in_v2("/user.slice/user-1000.slice/session-2.scope").empty());
  CHECK(in_v2("/system.slice/docker.service").empty());
  CHECK(in_v2("/").empty());
  CHECK(text_of("").empty());
  CHECK(text_of("12:memory:/\n1:name=systemd:/init.scope\n0::/\n").empty());
}

TEST_CASE("the innermost container of several") {
  CHECK(in_v2("/docker/" + other + "/kubelet.slice/kubelet-kubepods.slice/cri-containerd-" + id +
              ".scope") == "containerd:" + id);
  CHECK(in_v2("/docker/" + id + "/init.scope") == "docker:" + id);
}

TEST_CASE("on v1 any controller's line tells, and a v2 line without one is passed over") {
  CHECK(text_of("5:cpuset:/\n4:memory:/docker/" + id + "\n0::/\n") == "docker:" + id);
  CHECK(text_of("0::/\n4:memory:/docker/" + id) == "docker:" + id);
}

TEST_CASE("from outside a control group namespace the path climbs") {
  CHECK(in_v2("/../../system.slice/docker-" + id + ".scope") == "docker:" + id);
}

TEST_CASE("what only looks like an id is none") {
  CHECK(in_v2("/docker/" + id.substr(1)).empty());
  CHECK(in_v2("/docker/" + id.substr(1) + "g").empty());
  CHECK(in_v2("/system.slice/x" + id).empty());
  CHECK(text_of("no colon " + id).empty());
  CHECK(text_of("x::/docker/" + id).empty());
  CHECK(in_v2("/machine.slice/machine-.scope").empty());
  CHECK(in_v2("/system.slice/-" + id + ".scope") == "container:" + id);
}
