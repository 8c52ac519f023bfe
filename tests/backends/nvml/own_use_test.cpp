// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Zero is a claim: it is made only where the driver's list must hold the caller.
#include <doctest/doctest.h>
#include <unistd.h>

#include "backends/nvml/abi.hpp"
#include "machine.hpp"

using namespace hmn;

namespace {

const auto own_pid = static_cast<std::uint32_t>(getpid());
constexpr std::uint32_t host_pid = 3'999'999;
constexpr std::uint32_t neighbour = 3'999'998;

std::string listing(const char* compute, const char* more = "") {
  return one_gpu(R"("processes": {"compute": )" + std::string(compute) + "}" + more);
}

const std::string host_pids = listing(R"([{"pid": 3999999, "used": 300}])");
const std::string empty_lists = listing("[]");

Result<void> own(Machine& m, Usage& out) {
  return m.process(0, own_pid, true, out);
}

void check_zero(Machine& m) {
  Usage out;
  require_ok(own(m, out));
  CHECK(out.used == 0);
  CHECK(out.allocated == 0);
  CHECK(out.accounting == Accounting::allocated);
  CHECK(out.pid == own_pid);
  CHECK(out.from == Source::nvml);
}

void check_unknown(Machine& m) {
  Usage out;
  const auto done = own(m, out);
  REQUIRE_FALSE(done);
  CHECK(done.why().code == Status::no_source);
  CHECK(done.why().message.view().find("PID namespace") != std::string::npos);
  CHECK(!out.used);
}

}  // namespace

TEST_CASE("the own figure stops at the first list that holds the caller") {
  Machine m(listing(R"([{"pid": 7, "used": 5}, {"pid": "self", "used": "1 GiB"}])"));
  Usage out;
  require_ok(own(m, out));
  CHECK(out.used == gib);
  CHECK(out.kinds == usage_kind::compute);
  CHECK(m.driver.calls("nvmlDeviceGetMPSComputeRunningProcesses_v3") == 0);
  CHECK(m.driver.calls("nvmlDeviceGetGraphicsRunningProcesses_v3") == 0);
}

TEST_CASE("the graphics list is the last to be asked") {
  Machine m(one_gpu(R"("processes": {"mps": [{"pid": "self", "used": 7}], "compute": []})"));
  Usage out;
  require_ok(own(m, out));
  CHECK(out.used == 7);
  CHECK(m.driver.calls("nvmlDeviceGetGraphicsRunningProcesses_v3") == 0);
  m.driver.load(one_gpu(R"("processes": {"graphics": [{"pid": "self", "used": 9}]})"));
  Usage graphics;
  require_ok(own(m, graphics));
  CHECK(graphics.used == 9);
  CHECK(graphics.kinds == usage_kind::graphics);
}

TEST_CASE("a figure that the driver does not tell is absent, with a remark") {
  Machine m(listing(R"([{"pid": "self"}])"));
  Usage out;
  require_ok(own(m, out));
  CHECK(!out.used);
  const auto said = m.reading.about(subject::self);
  REQUIRE(said.size() == 1);
  CHECK(said[0].field == (usage_field::used | usage_field::allocated));
  CHECK(said[0].pid == own_pid);
}

TEST_CASE("in the initial PID namespace whoever is not listed uses nothing") {
  Machine m(host_pids);
  m.add_self({"/dev/nvidia0", "/dev/nvidia-uvm"}, initial_namespace);
  check_zero(m);
}

TEST_CASE("a caller without a GPU descriptor uses nothing, wherever it runs") {
  Machine m(host_pids);
  m.add_self({"/dev/null", "socket:[12]", "/dev/shm/nvidia0"}, other_namespace);
  check_zero(m);
}

TEST_CASE("host pids read in a container say nothing about a caller that holds a GPU") {
  for (const char* node :
       {"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-modeset", "/dev/dxg",
        "/dev/nvhost-ctrl-gpu", "/dev/nvmap", "/dev/dri/renderD128", "/dev/nvidia-uvm (deleted)"}) {
    CAPTURE(node);
    Machine m(host_pids);
    m.add_self({"/dev/null", node}, other_namespace);
    check_unknown(m);
    m.restart();
    m.driver.load(empty_lists);
    check_unknown(m);
  }
}

TEST_CASE("a row of the caller's namespace that really holds a GPU makes the list one of it") {
  Machine m(listing(R"([{"pid": 3999998, "used": 5}])"));
  m.add_self({"/dev/nvidia-uvm"}, other_namespace);
  SUBCASE("a process of that number that holds a GPU") {
    m.add_process(neighbour, {"/dev/null", "/dev/nvidia0"});
    check_zero(m);
    SUBCASE("and it is remembered when it has gone") {
      m.driver.load(empty_lists);
      check_zero(m);
    }
  }
  SUBCASE("a process of that number that holds none") {
    m.add_process(neighbour, {"/dev/null"});
    check_unknown(m);
    SUBCASE("until it does") {
      m.add_process(neighbour, {"/dev/null", "/dev/nvidia0"});
      check_zero(m);
    }
  }
}

// The driver takes milliseconds for the graphics list.
TEST_CASE("a caller that no list holds has each list read once") {
  Machine m(host_pids);
  m.add_self({"/dev/nvidia0"}, other_namespace);
  check_unknown(m);
  CHECK(m.driver.calls("nvmlDeviceGetComputeRunningProcesses_v3") == 1);
  CHECK(m.driver.calls("nvmlDeviceGetMPSComputeRunningProcesses_v3") == 1);
  CHECK(m.driver.calls("nvmlDeviceGetGraphicsRunningProcesses_v3") == 1);
}

// What is asked of its rows is of all lists.
TEST_CASE("a row of any list may be of the caller's namespace") {
  for (const char* list : {"compute", "mps", "graphics"}) {
    CAPTURE(list);
    Machine m(one_gpu(R"("processes": {"compute": [], "graphics": [], ")" + std::string(list) +
                      R"(": [{"pid": 3999998, "used": 5}]})"));
    m.add_self({"/dev/nvidia-uvm"}, other_namespace);
    m.add_process(neighbour, {"/dev/nvidia0"});
    check_zero(m);
  }
}

TEST_CASE("a list that was not read lets nothing be said") {
  Machine m(listing("[]", R"(, "results": {"nvmlDeviceGetGraphicsRunningProcesses*": "UNKNOWN"})"));
  m.add_self({"/dev/nvidia0"}, initial_namespace);
  Usage out;
  const auto done = own(m, out);
  REQUIRE_FALSE(done);
  CHECK(done.why().code == Status::backend);
  CHECK(done.why().native.code == nvml::unknown);
  m.add_self({"/dev/null"}, initial_namespace);
  m.restart();
  check_zero(m);
}

// The clients of MPS are in the compute list as well.
TEST_CASE("a device that has no MPS list has nobody in it") {
  Machine m(listing("[]", R"(, "results": {"nvmlDeviceGetMPSComputeRunningProcesses*": 3})"));
  m.add_self({"/dev/nvidia0"}, initial_namespace);
  check_zero(m);
}

TEST_CASE("a device without a graphics list cannot say who does not use it") {
  Machine m(listing("[]", R"(, "results": {"nvmlDeviceGetGraphicsRunningProcesses*": 3})"));
  m.add_self({"/dev/nvidia0"}, initial_namespace);
  Usage out;
  const auto done = own(m, out);
  REQUIRE_FALSE(done);
  CHECK(done.why().code == Status::unsupported);
  CHECK(done.why().message.view().find("Graphics") != std::string::npos);
  CHECK(!out.used);
  CHECK_FALSE(m.process(0, 12345, false, out));
  m.add_self({"/dev/null"}, initial_namespace);
  m.restart();
  check_zero(m);
}

TEST_CASE("impossible lists prove no zero") {
  for (const char* list :
       {R"({"rows": [], "claim": 3})", R"([{"pid": 0, "used": 5}])",
        R"([{"pid": 4294967295, "used": 5}])", R"({"rows": [{"pid": 7, "used": 1}], "claim": 5})",
        R"({"rows": [{"pid": 7, "used": 1}], "always_insufficient": true})"}) {
    CAPTURE(list);
    Machine m(listing(list));
    m.add_self({"/dev/nvidia0"}, initial_namespace);
    Usage out;
    CHECK_FALSE(own(m, out));
    CHECK(!out.used);
  }
}

TEST_CASE("a device that lists nothing at all cannot say who does not use it") {
  Machine m(one_gpu());
  m.add_self({"/dev/nvidia0"}, initial_namespace);
  Usage out;
  const auto done = own(m, out);
  REQUIRE_FALSE(done);
  CHECK(done.why().code == Status::unsupported);
  CHECK(!out.used);
}

TEST_CASE("another process that no list holds is no process of the device") {
  Machine m(host_pids);
  Usage out;
  const auto done = m.process(0, 12345, false, out);
  REQUIRE_FALSE(done);
  CHECK(done.why().code == Status::no_process);
  Usage listed;
  require_ok(m.process(0, host_pid, false, listed));
  CHECK(listed.used == 300);
}

TEST_CASE("a process is not called absent from a list that was refused") {
  Machine m(listing("[]", R"(, "results": {"nvmlDeviceGetGraphicsRunningProcesses*": 4})"));
  Usage out;
  const auto done = m.process(0, 12345, false, out);
  REQUIRE_FALSE(done);
  CHECK(done.why().code == Status::permission);
}

TEST_CASE("rows of another PID namespace are marked") {
  Machine m(listing(R"([{"pid": 3999999, "used": 1}, {"pid": 3999998, "used": 2}])"));
  m.add_process(neighbour, {"/dev/null"});
  const auto notes = [&] {
    std::uint32_t all[2] = {};
    const auto rows = m.processes();
    REQUIRE(rows.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) all[i] = rows[i].notes & note::foreign_pid;
    return std::pair(all[0] != 0, all[1] != 0);
  };
  SUBCASE("not in the initial one") {
    m.add_self({"/dev/null"}, initial_namespace);
    CHECK(notes() == std::pair(false, false));
  }
  SUBCASE("all of them, when one does not exist here") {
    m.add_self({"/dev/null"}, other_namespace);
    CHECK(notes() == std::pair(true, true));
  }
  SUBCASE("the missing one alone, when the others are known to be ours") {
    m.add_self({"/dev/null"}, other_namespace);
    m.add_process(neighbour, {"/dev/nvidia0"});
    CHECK(notes() == std::pair(true, false));
  }
  SUBCASE("none, when all exist here") {
    m.add_self({"/dev/null"}, other_namespace);
    m.add_process(host_pid, {"/dev/null"});
    CHECK(notes() == std::pair(false, false));
  }
  SUBCASE("all of them, when all exist in the tree of a third one") {
    m.add_self({"/dev/null"}, other_namespace);
    m.add_process(host_pid, {"/dev/null"});
    m.tree.link("proc/self", std::to_string(neighbour));
    hmn_fake::set_pid_namespace(m.tree, neighbour, other_namespace);
    CHECK(notes() == std::pair(true, true));
  }
}
