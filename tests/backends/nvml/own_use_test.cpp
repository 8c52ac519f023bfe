// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Own use is reported as 0 only if the driver's list must contain the caller.
#include <doctest/doctest.h>
#include <unistd.h>

#include "backends/nvml/abi.hpp"
#include "machine.hpp"

using namespace hmn;

namespace {

const auto own_pid = static_cast<std::uint32_t>(getpid());
constexpr std::uint32_t host_pid = 3'999'999;
constexpr std::uint32_t neighbour = 3'999'998;

std::string make_listing(const char* compute, const char* more = "") {
  return one_gpu(R"("processes": {"compute": )" + std::string(compute) + "}" + more);
}

const std::string host_pids = make_listing(R"([{"pid": 3999999, "used": 300}])");
const std::string empty_lists = make_listing("[]");

Result<void> read_own_use(Machine& machine, Usage& usage) {
  return machine.process(0, own_pid, true, usage);
}

void check_zero(Machine& machine) {
  Usage usage;
  require_ok(read_own_use(machine, usage));
  CHECK(usage.used == 0);
  CHECK(usage.allocated == 0);
  CHECK(usage.accounting == Accounting::allocated);
  CHECK(usage.pid == own_pid);
  CHECK(usage.source == Source::nvml);
}

void check_unknown(Machine& machine) {
  Usage usage;
  const auto result = read_own_use(machine, usage);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::no_source);
  CHECK(result.failure().message.view().find("PID namespace") != std::string::npos);
  CHECK(!usage.used);
}

}  // namespace

TEST_CASE("own use comes from the first list that contains the caller") {
  Machine machine(make_listing(R"([{"pid": 7, "used": 5}, {"pid": "self", "used": "1 GiB"}])"));
  Usage usage;
  require_ok(read_own_use(machine, usage));
  CHECK(usage.used == gib);
  CHECK(usage.kinds == usage_kind::compute);
  CHECK(machine.driver.calls("nvmlDeviceGetMPSComputeRunningProcesses_v3") == 0);
  CHECK(machine.driver.calls("nvmlDeviceGetGraphicsRunningProcesses_v3") == 0);
}

TEST_CASE("the graphics list is read last") {
  Machine machine(one_gpu(R"("processes": {"mps": [{"pid": "self", "used": 7}], "compute": []})"));
  Usage usage;
  require_ok(read_own_use(machine, usage));
  CHECK(usage.used == 7);
  CHECK(machine.driver.calls("nvmlDeviceGetGraphicsRunningProcesses_v3") == 0);
  machine.driver.load(one_gpu(R"("processes": {"graphics": [{"pid": "self", "used": 9}]})"));
  Usage graphics;
  require_ok(read_own_use(machine, graphics));
  CHECK(graphics.used == 9);
  CHECK(graphics.kinds == usage_kind::graphics);
}

TEST_CASE("own use not reported by the driver is absent, with a diagnostic") {
  Machine machine(make_listing(R"([{"pid": "self"}])"));
  Usage usage;
  require_ok(read_own_use(machine, usage));
  CHECK(!usage.used);
  const auto diagnostics = machine.reading.find_diagnostics(subject::self);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].field == (usage_field::used | usage_field::allocated));
  CHECK(diagnostics[0].pid == own_pid);
}

TEST_CASE("in the initial PID namespace an unlisted caller uses nothing") {
  Machine machine(host_pids);
  machine.add_self({"/dev/nvidia0", "/dev/nvidia-uvm"}, initial_namespace);
  check_zero(machine);
}

TEST_CASE("a caller without a GPU descriptor uses nothing, in any PID namespace") {
  Machine machine(host_pids);
  machine.add_self({"/dev/null", "socket:[12]", "/dev/shm/nvidia0"}, other_namespace);
  check_zero(machine);
}

TEST_CASE("host PIDs in a container leave the use of a caller that holds a GPU unknown") {
  for (const char* node :
       {"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-modeset", "/dev/dxg",
        "/dev/nvhost-ctrl-gpu", "/dev/nvmap", "/dev/dri/renderD128", "/dev/nvidia-uvm (deleted)"}) {
    CAPTURE(node);
    Machine machine(host_pids);
    machine.add_self({"/dev/null", node}, other_namespace);
    check_unknown(machine);
    machine.restart();
    machine.driver.load(empty_lists);
    check_unknown(machine);
  }
}

TEST_CASE("a listed process that holds a GPU here shows that the list has local PIDs") {
  Machine machine(make_listing(R"([{"pid": 3999998, "used": 5}])"));
  machine.add_self({"/dev/nvidia-uvm"}, other_namespace);
  SUBCASE("a process with that PID holds a GPU") {
    machine.add_process(neighbour, {"/dev/null", "/dev/nvidia0"});
    check_zero(machine);
    SUBCASE("the conclusion is remembered after the process has ended") {
      machine.driver.load(empty_lists);
      check_zero(machine);
    }
  }
  SUBCASE("a process with that PID holds no GPU") {
    machine.add_process(neighbour, {"/dev/null"});
    check_unknown(machine);
    SUBCASE("the process opens a GPU later") {
      machine.add_process(neighbour, {"/dev/null", "/dev/nvidia0"});
      check_zero(machine);
    }
  }
}

// The driver takes milliseconds for the graphics list.
TEST_CASE("each list is read once for a caller that is in none of them") {
  Machine machine(host_pids);
  machine.add_self({"/dev/nvidia0"}, other_namespace);
  check_unknown(machine);
  CHECK(machine.driver.calls("nvmlDeviceGetComputeRunningProcesses_v3") == 1);
  CHECK(machine.driver.calls("nvmlDeviceGetMPSComputeRunningProcesses_v3") == 1);
  CHECK(machine.driver.calls("nvmlDeviceGetGraphicsRunningProcesses_v3") == 1);
}

// The rows of all lists are checked.
TEST_CASE("a row of any list can show that the list has local PIDs") {
  for (const char* list : {"compute", "mps", "graphics"}) {
    CAPTURE(list);
    Machine machine(one_gpu(R"("processes": {"compute": [], "graphics": [], ")" +
                            std::string(list) + R"(": [{"pid": 3999998, "used": 5}]})"));
    machine.add_self({"/dev/nvidia-uvm"}, other_namespace);
    machine.add_process(neighbour, {"/dev/nvidia0"});
    check_zero(machine);
  }
}

TEST_CASE("own use is unknown if a list cannot be read") {
  Machine machine(
      make_listing("[]", R"(, "results": {"nvmlDeviceGetGraphicsRunningProcesses*": "UNKNOWN"})"));
  machine.add_self({"/dev/nvidia0"}, initial_namespace);
  Usage usage;
  const auto result = read_own_use(machine, usage);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::backend);
  CHECK(result.failure().native.code == nvml::unknown);
  machine.add_self({"/dev/null"}, initial_namespace);
  machine.restart();
  check_zero(machine);
}

// The clients of MPS are in the compute list as well.
TEST_CASE("an unsupported MPS list counts as empty") {
  Machine machine(
      make_listing("[]", R"(, "results": {"nvmlDeviceGetMPSComputeRunningProcesses*": 3})"));
  machine.add_self({"/dev/nvidia0"}, initial_namespace);
  check_zero(machine);
}

TEST_CASE("without a graphics list the use of an unlisted process is unknown") {
  Machine machine(
      make_listing("[]", R"(, "results": {"nvmlDeviceGetGraphicsRunningProcesses*": 3})"));
  machine.add_self({"/dev/nvidia0"}, initial_namespace);
  Usage usage;
  const auto result = read_own_use(machine, usage);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::unsupported);
  CHECK(result.failure().message.view().find("Graphics") != std::string::npos);
  CHECK(!usage.used);
  CHECK_FALSE(machine.process(0, 12345, false, usage));
  machine.add_self({"/dev/null"}, initial_namespace);
  machine.restart();
  check_zero(machine);
}

TEST_CASE("impossible lists do not prove that the caller uses nothing") {
  for (const char* list :
       {R"({"rows": [], "claim": 3})", R"([{"pid": 0, "used": 5}])",
        R"([{"pid": 4294967295, "used": 5}])", R"({"rows": [{"pid": 7, "used": 1}], "claim": 5})",
        R"({"rows": [{"pid": 7, "used": 1}], "always_insufficient": true})"}) {
    CAPTURE(list);
    Machine machine(make_listing(list));
    machine.add_self({"/dev/nvidia0"}, initial_namespace);
    Usage usage;
    CHECK_FALSE(read_own_use(machine, usage));
    CHECK(!usage.used);
  }
}

TEST_CASE("without any process list the use of an unlisted caller is unknown") {
  Machine machine(one_gpu());
  machine.add_self({"/dev/nvidia0"}, initial_namespace);
  Usage usage;
  const auto result = read_own_use(machine, usage);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::unsupported);
  CHECK(!usage.used);
}

TEST_CASE("another process that is in no list is reported as no_process") {
  Machine machine(host_pids);
  Usage usage;
  const auto result = machine.process(0, 12345, false, usage);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::no_process);
  Usage row;
  require_ok(machine.process(0, host_pid, false, row));
  CHECK(row.used == 300);
}

TEST_CASE("a process is not reported as absent if a list was refused") {
  Machine machine(
      make_listing("[]", R"(, "results": {"nvmlDeviceGetGraphicsRunningProcesses*": 4})"));
  Usage usage;
  const auto result = machine.process(0, 12345, false, usage);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::permission);
}

TEST_CASE("rows from another PID namespace are marked") {
  Machine machine(make_listing(R"([{"pid": 3999999, "used": 1}, {"pid": 3999998, "used": 2}])"));
  machine.add_process(neighbour, {"/dev/null"});
  const auto notes = [&] {
    std::uint32_t all[2] = {};
    const auto rows = machine.processes();
    REQUIRE(rows.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) all[i] = rows[i].notes & note::foreign_pid;
    return std::pair(all[0] != 0, all[1] != 0);
  };
  SUBCASE("no row, in the initial namespace") {
    machine.add_self({"/dev/null"}, initial_namespace);
    CHECK(notes() == std::pair(false, false));
  }
  SUBCASE("every row, if one PID does not exist here") {
    machine.add_self({"/dev/null"}, other_namespace);
    CHECK(notes() == std::pair(true, true));
  }
  SUBCASE("only the missing PID, if the other row is known to be local") {
    machine.add_self({"/dev/null"}, other_namespace);
    machine.add_process(neighbour, {"/dev/nvidia0"});
    CHECK(notes() == std::pair(true, false));
  }
  SUBCASE("no row, if all PIDs exist here") {
    machine.add_self({"/dev/null"}, other_namespace);
    machine.add_process(host_pid, {"/dev/null"});
    CHECK(notes() == std::pair(false, false));
  }
  SUBCASE("every row, if /proc belongs to a third namespace") {
    machine.add_self({"/dev/null"}, other_namespace);
    machine.add_process(host_pid, {"/dev/null"});
    machine.tree.link("proc/self", std::to_string(neighbour));
    hmn_fake::set_pid_namespace(machine.tree, neighbour, other_namespace);
    CHECK(notes() == std::pair(true, true));
  }
}
