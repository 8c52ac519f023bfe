// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/neutral.hpp"

#include <doctest/doctest.h>

#include <string>

using hmn::simulated::neutral;

TEST_CASE("neutral: names of users and hosts, as words") {
  neutral n;
  n.know("alice", neutral::kind::user);
  n.know("alicebox", neutral::kind::host);
  n.know("root", neutral::kind::user);
  n.know("x", neutral::kind::user);
  CHECK(n.plain("alice alice_2 malice alicebox alicebox.lan (alice)") ==
        "user1 user1_2 malice host1 host1.lan (user1)");
  CHECK(n.plain("root x") == "root x");
  n.know("alice", neutral::kind::user);
  n.know("bob", neutral::kind::user);
  CHECK(n.plain("bob,alice") == "user2,user1");
}

TEST_CASE("neutral: home folders") {
  const std::string home = "/home";
  neutral n;
  n.learn("12, " + home + "/carol/models/llama/run.py, 3\n/media/dave/x");
  CHECK(n.plain("12, " + home + "/carol/models/llama/run.py, 3") ==
        "12, " + home + "/user1/run.py, 3");
  CHECK(n.plain(home + "/carol carol dave") == home + "/user1 user1 user2");
  CHECK(n.plain(home + "/erin/a") == home + "/erin/a");  // not mentioned before
}

TEST_CASE("neutral: ids keep their shape, and the same is the same") {
  neutral n;
  const std::string uuid = "GPU-5f6d2b1e-0a3c-4d5e-8f90-a1b2c3d4e5f6";
  const std::string first = n.plain(uuid);
  CHECK(first == "GPU-00000000-0000-0000-0000-000000000001");
  CHECK(n.plain("MIG-5F6D2B1E-0A3C-4D5E-8F90-A1B2C3D4E5F6/1") ==
        "MIG-00000000-0000-0000-0000-000000000001/1");
  CHECK(n.plain("pod5f6d2b1e_0a3c_4d5e_8f90_a1b2c3d4e5f6.slice") ==
        "pod00000000_0000_0000_0000_000000000001.slice");
  const std::string container(64, 'a');
  CHECK(n.plain("docker-" + container + ".scope") == "docker-" + std::string(63, '0') + "2.scope");
  CHECK(n.plain("0x00007f1234567890 226:128 0000:03:00.0") ==
        "0x00007f1234567890 226:128 0000:03:00.0");
}

TEST_CASE("neutral: a number is the same in hexadecimal and in decimal") {
  neutral n;
  CHECK(n.id("59d01f7b6a5e4c3d\n", 16) == "0000000000000001\n");
  CHECK(n.properties("simd_count 416\nunique_id 6471707279457406013\ndomain 0\n") ==
        "simd_count 416\nunique_id 1\ndomain 0\n");
  CHECK(n.properties("unique_id 0\n") == "unique_id 0\n");
  CHECK(n.id("0\n", 16) == "0\n");
  CHECK(n.id("N/A\n", 16) == "N/A\n");
  CHECK(n.id("", 16).empty());
}

TEST_CASE("neutral: serial numbers behind their keys") {
  neutral n;
  CHECK(n.plain("\"Serial Number\": \"PCB052348-0007\",") ==
        "\"Serial Number\": \"00000000000001\",");
  CHECK(n.plain("  \"asset_serial\": \"0xABCD1234\"") == "  \"asset_serial\": \"0x00000002\"");
  CHECK(n.plain("Unique ID: 0x59d01f7b6a5e4c3d") == "Unique ID: 0x0000000000000003");
  CHECK(n.plain("Serial Number: N/A") == "Serial Number: N/A");
  CHECK(n.plain("serial\nport: 1") == "serial\nport: 1");
}

TEST_CASE("neutral: of a command line the program, of mounts those of control groups") {
  neutral n;
  n.know("alice", neutral::kind::user);
  CHECK(n.command(std::string("/opt/alice/run\0--password\0x\0", 27)) ==
        std::string("/opt/user1/run\0", 15));
  CHECK(n.command("run") == "run");
  CHECK(n.command("").empty());
  CHECK(n.mounts("30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
                 "31 1 0:27 / /srv/alice rw - nfs server:/export rw\nnonsense\n"
                 "32 1 0:28 / /proc rw - proc proc rw,hidepid=2\n") ==
        "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
        "32 1 0:28 / /proc rw - proc proc rw,hidepid=2\n");
}
