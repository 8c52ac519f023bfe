// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Paths as the runtimes' own documentation and code give them: Docker and Podman with both cgroup
// drivers, containerd's CRI, CRI-O, Kubernetes, systemd's machines, LXC.
#include "backends/os/linux/container.hpp"

#include <doctest/doctest.h>

#include <string>

#include "support.hpp"

using namespace hmn;
using namespace hmn::os;

namespace {

const std::string id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string other = "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff";

std::string told(const std::string& text) {
  const container in = parse_container(text);
  std::string out;
  if (!in.empty()) append_container(out, in);
  return out;
}

std::string in_v2(const std::string& path) {
  return told("0::" + path + "\n");
}

usage with_texts(const hmn_fake::tree& tree, std::uint32_t pid) {
  usage row;
  row.pid = pid;
  host_on(tree)->describe_texts(row);
  return row;
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
  CHECK(told("3:cpu,cpuacct:/lxc/web\n") == "lxc:web");
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
  CHECK(told("").empty());
  CHECK(told("12:memory:/\n1:name=systemd:/init.scope\n0::/\n").empty());
}

TEST_CASE("the innermost container of several") {
  CHECK(in_v2("/docker/" + other + "/kubelet.slice/kubelet-kubepods.slice/cri-containerd-" + id +
              ".scope") == "containerd:" + id);
  CHECK(in_v2("/docker/" + id + "/init.scope") == "docker:" + id);
}

TEST_CASE("on v1 any controller's line tells, and a v2 line without one is passed over") {
  CHECK(told("5:cpuset:/\n4:memory:/docker/" + id + "\n0::/\n") == "docker:" + id);
  CHECK(told("0::/\n4:memory:/docker/" + id) == "docker:" + id);
}

TEST_CASE("from outside a control group namespace the path climbs") {
  CHECK(in_v2("/../../system.slice/docker-" + id + ".scope") == "docker:" + id);
}

TEST_CASE("what only looks like an id is none") {
  CHECK(in_v2("/docker/" + id.substr(1)).empty());
  CHECK(in_v2("/docker/" + id.substr(1) + "g").empty());
  CHECK(in_v2("/system.slice/x" + id).empty());
  CHECK(told("no colon " + id).empty());
  CHECK(told("x::/docker/" + id).empty());
  CHECK(in_v2("/machine.slice/machine-.scope").empty());
  CHECK(in_v2("/system.slice/-" + id + ".scope") == "container:" + id);
}

TEST_CASE("a row has command and container from its process") {
  const hmn_fake::tree tree;
  hmn_fake::process p = hmn_fake::simple_process(7, "python3", 1, 1);
  p.cmdline = std::string("python3\0-c\0print(1)\0", 21);
  p.cgroup = "0::/docker/" + id + "\n";
  hmn_fake::add_process(tree, p);
  const usage row = with_texts(tree, 7);
  CHECK(row.command == "python3 -c print(1)");
  CHECK(row.container == "docker:" + id);
  CHECK(with_texts(tree, 8).command.empty());
  CHECK(with_texts(tree, 8).container.empty());
}

TEST_CASE("padding behind a title goes, bytes that are no UTF-8 are replaced") {
  const hmn_fake::tree tree;
  hmn_fake::process p = hmn_fake::simple_process(7, "nginx", 1, 1);
  p.cmdline = "nginx: worker\xFF" + std::string(40, '\0');
  hmn_fake::add_process(tree, p);
  CHECK(with_texts(tree, 7).command == "nginx: worker\xEF\xBF\xBD");
}

TEST_CASE("of a long command line the beginning, cut at a character") {
  const hmn_fake::tree tree;
  hmn_fake::process p = hmn_fake::simple_process(7, "java", 1, 1);
  p.cmdline = std::string(4095, 'x') + "\xC3\xA4" + "y";
  hmn_fake::add_process(tree, p);
  CHECK(with_texts(tree, 7).command == std::string(4095, 'x'));
}
