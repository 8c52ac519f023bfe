// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/anonymizer.hpp"

#include <doctest/doctest.h>

#include <cctype>
#include <string>
#include <string_view>

using hmn::simulated::Anonymizer;

TEST_CASE("anonymizer: whole-word names of users and hosts are replaced") {
  Anonymizer anonymizer;
  anonymizer.add_name("alice", Anonymizer::Kind::user);
  anonymizer.add_name("alicebox", Anonymizer::Kind::host);
  anonymizer.add_name("root", Anonymizer::Kind::user);
  anonymizer.add_name("x", Anonymizer::Kind::user);
  CHECK(anonymizer.anonymize_free_text("alice alice_2 malice alicebox alicebox.lan (alice)") ==
        "user1 user1_2 malice host1 host1.lan (user1)");
  CHECK(anonymizer.anonymize_free_text("root x") == "root x");
  anonymizer.add_name("alice", Anonymizer::Kind::user);
  anonymizer.add_name("bob", Anonymizer::Kind::user);
  CHECK(anonymizer.anonymize_free_text("bob,alice") == "user2,user1");
}

TEST_CASE("anonymizer: paths keep the words that sources search for") {
  const std::string home = "/home";
  Anonymizer anonymizer;
  anonymizer.learn_names(home + "/carol/x");
  CHECK(anonymizer.anonymize_free_text("no such file: /srv/people/dora/lib/libnvidia-ml.so.1, 3") ==
        "no such file: /name1/name2/name3/lib/libnvidia-ml.name4.1, 3");
  CHECK(anonymizer.anonymize_free_text("AMD/ATI Radeon [RX 6600/6600M]") ==
        "AMD/ATI Radeon [RX 6600/6600M]");
  CHECK(anonymizer.anonymize_free_text("by carol") == "by user1");
  CHECK(anonymizer.anonymize_words("/sys/fs/cgroup/user.slice/my_box.scope/memory.max") ==
        "/sys/fs/cgroup/user.slice/name5_name6.scope/memory.max");
  CHECK(anonymizer.anonymize_words("my\\x2dbox my\\040box") == "name5\\x2dname6 name5\\040name6");
}

TEST_CASE("anonymizer: numbers and known words of unknown content are kept") {
  Anonymizer anonymizer;
  CHECK(anonymizer.anonymize_words("0: 500Mhz *\n1: 0x1f 12.5 MiB (cpu0)\n") ==
        "0: 500Mhz *\n1: 0x1f 12.5 MiB (cpu0)\n");
  CHECK(
      anonymizer.anonymize_words("PCI_ID=1002:73BF\nPCI_SLOT_NAME=0000:c3:00.0\nDRIVER=amdgpu\n") ==
      "PCI_ID=1002:73BF\nPCI_SLOT_NAME=0000:c3:00.0\nDRIVER=amdgpu\n");
  for (const char* text :
       {"inactive_file 1\nactive_file 2\nfile_mapped 3\nfile_dirty 4\nfile_writeback 5\n",
        "total_inactive_file 1\ntotal_active_file 2\ntotal_mapped_file 3\ntotal_dirty 4\n"
        "total_writeback 5\nhierarchical_memory_limit 6\n"}) {
    CHECK(anonymizer.anonymize_words(text) == text);
  }
  CHECK(anonymizer.anonymize_words("CapEff:\t000001ffffffffff\n") == "CapEff:\t000001ffffffffff\n");
  CHECK(anonymizer.anonymize_words("drm-client-name:\thunter2 hunter2\n") ==
        "drm-client-name:\tname1 name1\n");
  CHECK(anonymizer.anonymize_words("p\xC3\xA4ssword") == "name2");
  CHECK(anonymizer.anonymize_words("123456789012345678901") == "name3");
}

TEST_CASE("anonymizer: network addresses are replaced by zeros") {
  Anonymizer anonymizer;
  for (const char* text : {"10.0.0.5", "fe80::1ff:fe23:4567:890a", "0a:1b:2c:3d:4e:5f",
                           "0A-1B-2C-3D-4E-5F", "2001:db8:0:1:2:3:4:5"}) {
    const std::string address = text;
    std::string zeros = address;
    for (char& c : zeros) c = std::isxdigit(static_cast<unsigned char>(c)) ? '0' : c;
    CHECK(anonymizer.anonymize_free_text("to " + address + ",") == "to " + zeros + ",");
    CHECK(anonymizer.anonymize_words("to " + address + ",") == "to " + zeros + ",");
  }
  for (const char* text : {"550.163.01", "0::/init.scope", "0000:03:00.0", "31.0.15.5222"}) {
    CHECK(anonymizer.anonymize_free_text(text) == text);
    CHECK(anonymizer.anonymize_words(text).find("00.00") == std::string::npos);
  }
}

TEST_CASE("anonymizer: a process title is reduced to its program") {
  Anonymizer anonymizer;
  const auto reduce = [&](std::string_view title, std::string_view comm) {
    return anonymizer.anonymize_program(title, comm);
  };
  CHECK(reduce(std::string_view("/opt/alice/run\0--password\0x\0", 27), "run") == "run");
  CHECK(reduce("postgres: alice db 10.0.0.5(5432) idle", "postgres") == "postgres");
  CHECK(reduce("sshd: alice@pts/0", "sshd") == "sshd");
  CHECK(reduce("/usr/bin/python3 /srv/alice/x.py --token=t", "python3") == "python3");
  CHECK(reduce("/srv/Alice Smith/run", "run") == "run");
  CHECK(reduce("alice's run", "python3") == "python3");
  CHECK(reduce("alice@tallbox: run", "python3") == "python3");
  CHECK(reduce("secret", "python3") == "python3");
  CHECK(reduce(std::string_view("/opt/firm/secret\0", 17), "python3") == "python3");
  CHECK(reduce("key=secret", "ruby") == "ruby");
  CHECK(reduce("run.secret", "run") == "run");
  CHECK(reduce("C:\\Users\\alice\\secret.exe", "chrome") == "chrome");
  CHECK(reduce("/srv/worker_of_everything --key=k", "worker_of_every") == "worker_of_everything");
  CHECK(reduce("", "").empty());
}

TEST_CASE("anonymizer: a program without a comm is recognized from other processes") {
  Anonymizer anonymizer;
  anonymizer.add_program("train.exe");
  anonymizer.add_program("nginx: worker");
  CHECK(anonymizer.anonymize_program("C:\\Users\\alice\\train.exe", "") == "train.exe");
  CHECK(anonymizer.anonymize_program("/srv/firm/train.exe --key", "") == "train.exe");
  CHECK(anonymizer.anonymize_program("nginx: worker process", "") == "nginx");
  CHECK(anonymizer.anonymize_program("secret", "") == "name1");
  CHECK(anonymizer.anonymize_program("/srv/Alice Smith/train.exe", "") == "name2");
  CHECK(anonymizer.anonymize_program("/usr/bin/python3.10", "") == "python3.10");
}

TEST_CASE("anonymizer: ids keep their shape, and equal ids stay equal") {
  Anonymizer anonymizer;
  const std::string uuid = "GPU-5f6d2b1e-0a3c-4d5e-8f90-a1b2c3d4e5f6";
  const std::string first = anonymizer.anonymize_free_text(uuid);
  CHECK(first == "GPU-00000000-0000-0000-0000-000000000001");
  CHECK(anonymizer.anonymize_free_text("MIG-5F6D2B1E-0A3C-4D5E-8F90-A1B2C3D4E5F6/1") ==
        "MIG-00000000-0000-0000-0000-000000000001/1");
  CHECK(anonymizer.anonymize_free_text("pod5f6d2b1e_0a3c_4d5e_8f90_a1b2c3d4e5f6.slice") ==
        "pod00000000_0000_0000_0000_000000000001.slice");
  const std::string container(64, 'a');
  CHECK(anonymizer.anonymize_free_text("docker-" + container + ".scope") ==
        "docker-" + std::string(63, '0') + "2.scope");
  CHECK(anonymizer.anonymize_free_text("0x00007f1234567890 226:128 0000:03:00.0") ==
        "0x00007f1234567890 226:128 0000:03:00.0");
}

TEST_CASE("anonymizer: a number is the same in hexadecimal and in decimal") {
  Anonymizer anonymizer;
  CHECK(anonymizer.anonymize_id("59d01f7b6a5e4c3d\n", 16) == "0000000000000001\n");
  CHECK(anonymizer.anonymize_id("6471707279457406013", 10) == "0000000000000000001");
  CHECK(anonymizer.anonymize_id("0\n", 16) == "0\n");
  CHECK(anonymizer.anonymize_id("N/A\n", 16) == "N/A\n");
  CHECK(anonymizer.anonymize_id("", 16).empty());
}

TEST_CASE("anonymizer: serial numbers are replaced after their keys") {
  Anonymizer anonymizer;
  CHECK(anonymizer.anonymize_free_text("\"Serial Number\": \"PCB052348-0007\",") ==
        "\"Serial Number\": \"00000000000001\",");
  CHECK(anonymizer.anonymize_free_text("  \"asset_serial\": \"0xABCD1234\"") ==
        "  \"asset_serial\": \"0x00000002\"");
  CHECK(anonymizer.anonymize_free_text("Unique ID: 0x59d01f7b6a5e4c3d") ==
        "Unique ID: 0x0000000000000003");
  CHECK(anonymizer.anonymize_free_text("Serial Number: N/A") == "Serial Number: N/A");
  CHECK(anonymizer.anonymize_free_text("serial\nport: 1") == "serial\nport: 1");
}
