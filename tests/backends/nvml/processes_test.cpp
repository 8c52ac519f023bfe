// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/processes.hpp"

#include <doctest/doctest.h>

#include <map>

#include "machine.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace hmn::nvml;

namespace {

std::string make_lists(const std::string& compute, const std::string& graphics = "[]",
                       const std::string& mps = "[]") {
  return one_gpu(R"("processes": {"compute": )" + compute + R"(, "graphics": )" + graphics +
                 R"(, "mps": )" + mps + "}");
}

std::vector<Diagnostic> find_pid_diagnostics(const PlainReading& reading, std::uint32_t pid) {
  std::vector<Diagnostic> matches;
  for (const Diagnostic& diagnostic : reading.find_diagnostics(subject::processes)) {
    if (diagnostic.pid == pid) matches.push_back(diagnostic);
  }
  return matches;
}

std::string variant_path(const char* name) {
  return std::string(HMN_FAKE_NVML_FOLDER) + "/nvml-" + name + "/libnvidia-ml.so.1";
}

// Diagnostics except those of the load, which has its own test.
std::vector<Diagnostic> find_list_diagnostics(const PlainReading& reading) {
  std::vector<Diagnostic> diagnostics = reading.find_diagnostics();
  std::erase_if(diagnostics, [](const Diagnostic& diagnostic) {
    return diagnostic.field == usage_field::busy_percent;
  });
  return diagnostics;
}

}  // namespace

TEST_CASE("merged lists have one row per process, with the larger value") {
  ProcessMerger merge;
  const std::vector<ListedProcess> compute{{100, 10}, {200, 20}};
  const std::vector<ListedProcess> graphics{{300, 5}, {200, 25}, {100, value_not_available}};
  merge.add(compute, usage_kind::compute);
  merge.add(graphics, usage_kind::graphics);
  const auto rows = merge.finish();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].pid == 100);
  CHECK(rows[0].used == 10);
  CHECK(rows[0].kinds == (usage_kind::compute | usage_kind::graphics));
  CHECK(rows[1].pid == 200);
  CHECK(rows[1].used == 25);
  CHECK(rows[2].pid == 300);
  CHECK(rows[2].kinds == usage_kind::graphics);
}

TEST_CASE("compute instances within one list are summed, and a repeated row counts once") {
  ProcessMerger merge;
  const std::vector<ListedProcess> list{{1, 10, 2, 0}, {2, 7}, {1, 20, 2, 1}, {2, 7}};
  merge.add(list, usage_kind::compute);
  merge.add(list, usage_kind::compute);
  const auto rows = merge.finish();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].used == 30);
  CHECK(rows[1].used == 7);
}

TEST_CASE("a sum with an unknown part, or beyond 64 bits, is unknown") {
  ProcessMerger merge;
  const std::vector<ListedProcess> list{
      {1, 10, 2, 0}, {1, value_not_available, 2, 1}, {2, UINT64_MAX - 1, 2, 0}, {2, 2, 2, 1}};
  merge.add(list, usage_kind::compute);
  const auto rows = merge.finish();
  REQUIRE(rows.size() == 2);
  CHECK(!rows[0].used);
  CHECK(!rows[1].used);
}

TEST_CASE("the compute, graphics and MPS lists give one row per process") {
  Machine machine(make_lists(R"([{"pid": 100, "used": "1 GiB"}, {"pid": 200, "used": "2 GiB"}])",
                             R"([{"pid": 200, "used": "2 GiB"}, {"pid": 300, "used": "10 MiB"}])",
                             R"([{"pid": 400, "used": "3 GiB"}])"));
  const auto rows = machine.processes();
  REQUIRE(rows.size() == 4);
  CHECK(find_row(rows, 100).used == gib);
  CHECK(find_row(rows, 100).allocated == gib);
  CHECK(find_row(rows, 100).accounting == Accounting::allocated);
  CHECK(find_row(rows, 100).source == Source::nvml);
  CHECK(find_row(rows, 200).used == 2 * gib);
  CHECK(find_row(rows, 200).kinds == (usage_kind::compute | usage_kind::graphics));
  CHECK(find_row(rows, 300).kinds == usage_kind::graphics);
  CHECK(find_row(rows, 400).kinds == usage_kind::compute);
  CHECK(!find_row(rows, 100).instance);
  CHECK(find_list_diagnostics(machine.reading).empty());
}

// The rows of the predecessor's tests. A row that it dropped is kept here, without a value.
TEST_CASE("impossible and missing values are dropped, and their rows are kept") {
  constexpr std::uint64_t total = 17'179'869'184;
  const auto read_rows = [](const std::string& list) {
    Machine machine(
        make_scenario(R"({"memory": {"total": 17179869184, "free": 17179869184, "used": 0},
                             "processes": {"compute": )" +
                      list + "}}"));
    machine.devices();
    return machine.processes();
  };
  SUBCASE("normal rows") {
    const auto rows = read_rows(R"([{"pid": 100, "used": 1024}, {"pid": 200, "used": 2048}])");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].used == 1024);
    CHECK(rows[1].used == 2048);
  }
  SUBCASE("value not reported by the driver") {
    const auto rows =
        read_rows(R"([{"pid": 100, "used": 1024}, {"pid": 200, "used": 18446744073709551615},
                    {"pid": 300, "used": 4096}])");
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].used == 1024);
    CHECK(!rows[1].used);
    CHECK(!rows[1].allocated);
    CHECK(rows[2].used == 4096);
  }
  SUBCASE("value above the device's total") {
    const auto rows =
        read_rows(R"([{"pid": 100, "used": 1024}, {"pid": 200, "used": 17179869185}])");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].used == 1024);
    CHECK(!rows[1].used);
  }
  SUBCASE("value equal to the device's total") {
    const auto rows = read_rows(R"([{"pid": 100, "used": 17179869184}])");
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].used == total);
  }
  SUBCASE("empty list") {
    CHECK(read_rows("[]").empty());
  }
  SUBCASE("only impossible values") {
    const auto rows =
        read_rows(R"([{"pid": 1, "used": 18446744073709551615}, {"pid": 2, "used": 17179869185}])");
    REQUIRE(rows.size() == 2);
    CHECK(!rows[0].used);
    CHECK(!rows[1].used);
  }
}

TEST_CASE("a dropped value has a diagnostic with its process") {
  Machine machine(
      make_lists(R"([{"pid": 200}, {"pid": 201, "used": "17 GiB"}, {"pid": 202, "used": 1}])"));
  machine.devices();
  CHECK(machine.processes().size() == 3);
  const auto unreported = find_pid_diagnostics(machine.reading, 200);
  REQUIRE(unreported.size() == 1);
  CHECK(unreported[0].failure.code == Status::unsupported);
  CHECK(unreported[0].field == (usage_field::used | usage_field::allocated));
  CHECK(unreported[0].device == 0);
  const auto too_large = find_pid_diagnostics(machine.reading, 201);
  REQUIRE(too_large.size() == 2);
  CHECK(too_large[0].failure.code == Status::backend);
  CHECK((too_large[0].field | too_large[1].field) == (usage_field::used | usage_field::allocated));
  CHECK(find_pid_diagnostics(machine.reading, 202).empty());
}

TEST_CASE("on a unified GPU of unknown total no value is dropped") {
  Machine machine(make_scenario(R"({"name": "NVIDIA GB10", "processes":
                           {"compute": [{"pid": 1, "used": "90 GiB"}]}})"));
  CHECK(machine.processes().at(0).used == 90 * gib);
}

TEST_CASE("every generation of the process lists is read, in each of its layouts") {
  const std::string list = R"([{"pid": 100, "used": "1 GiB"}, {"pid": 200, "used": "2 GiB"},
                               {"pid": 300, "used": 4096}])";
  for (const char* layout : {R"("process_layout": {"v3": 24})", R"("process_layout": {"v3": 32})",
                             R"("process_layout": {"v3": 16})"}) {
    CAPTURE(layout);
    Machine machine(one_gpu(R"("processes": {"compute": )" + list + "}", layout));
    const auto rows = machine.processes();
    REQUIRE(rows.size() == 3);
    CHECK(find_row(rows, 100).used == gib);
    CHECK(find_row(rows, 200).used == 2 * gib);
    CHECK(find_row(rows, 300).used == 4096);
  }
  for (const char* older : {"no_v3_processes", "only_v1"}) {
    CAPTURE(older);
    Machine machine(one_gpu(R"("processes": {"compute": )" + list + "}"), variant_path(older));
    const auto rows = machine.processes();
    REQUIRE(rows.size() == 3);
    CHECK(find_row(rows, 100).used == gib);
    CHECK(find_row(rows, 200).used == 2 * gib);
    CHECK(find_row(rows, 300).used == 4096);
  }
}

TEST_CASE("a single row is read in every layout") {
  for (const char* size : {"16", "24", "32"}) {
    Machine machine(
        one_gpu(R"("processes": {"compute": [{"pid": 4242, "used": "1 GiB", "gi": 3, "ci": 1}]})",
                R"("process_layout": {"v3": )" + std::string(size) + "}"));
    const auto rows = machine.processes();
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].pid == 4242);
    CHECK(rows[0].used == gib);
    CHECK(rows[0].instance.has_value() == (std::string(size) != "16"));
  }
}

TEST_CASE("a list of 200 processes is read completely, and one of 64 in a single call") {
  Machine machine(one_gpu(R"("processes": {"compute":
      {"generate": {"count": 200, "first_pid": 1000, "used": "1 MiB"}}})"));
  const auto rows = machine.processes();
  REQUIRE(rows.size() == 200);
  for (std::uint32_t i = 0; i < 200; ++i) CHECK(rows[i].pid == 1000 + i);
  CHECK(machine.driver.calls("nvmlDeviceGetComputeRunningProcesses_v3") == 2);
  CHECK(machine.processes().size() == 200);
  CHECK(machine.driver.calls("nvmlDeviceGetComputeRunningProcesses_v3") == 3);

  Machine few(one_gpu(R"("processes": {"compute":
      {"generate": {"count": 64, "first_pid": 1000, "used": "1 MiB"}}})"));
  CHECK(few.processes().size() == 64);
  CHECK(few.driver.calls("nvmlDeviceGetComputeRunningProcesses_v3") == 1);
}

TEST_CASE("a list of 70,000 processes is cut to 65,536, with a diagnostic") {
  for (const char* layout :
       {R"("process_layout": {"v3": 24})", R"("process_layout": {"v3": 32})"}) {
    Machine machine(one_gpu(R"("processes": {"compute":
        {"generate": {"count": 70000, "first_pid": 1000, "used": 1024}}})",
                            layout));
    const auto rows = machine.processes();
    REQUIRE(rows.size() == 65536);
    CHECK(rows.back().pid == 1000 + 65535);
    CHECK(rows.back().used == 1024);
    const auto diagnostics = find_list_diagnostics(machine.reading);
    REQUIRE(diagnostics.size() == 1);
    CHECK(diagnostics[0].failure.code == Status::limit);
    CHECK(diagnostics[0].failure.message.view().find("4464") != std::string::npos);
    CHECK((diagnostics[0].notes & note::partial) != 0);
  }
}

TEST_CASE("a list that grows while it is read is read completely") {
  Machine machine(one_gpu(R"("processes": {"compute":
      {"generate": {"count": 65, "first_pid": 1000, "used": 1},
       "grow": {"rows": 30, "times": 3, "first_pid": 5000, "used": 1}}})"));
  CHECK(machine.processes().size() >= 95);
  CHECK(find_list_diagnostics(machine.reading).empty());
}

TEST_CASE("a claim of billions of rows takes a bounded number of calls") {
  Machine machine(one_gpu(R"("processes": {"compute":
      {"rows": [{"pid": 7, "used": 1}], "claim": 4000000000}})"));
  std::vector<Usage> rows;
  require_ok(machine.prepare());
  const auto result = machine.source().processes(0, rows, machine.reading);
  CHECK(machine.driver.calls("nvmlDeviceGetComputeRunningProcesses_v3") <= 8);
  CHECK(rows.size() <= 1);
  CHECK((!result || !find_list_diagnostics(machine.reading).empty()));
}

TEST_CASE("a list that never fits is reported as a failure") {
  Machine machine(one_gpu(R"("processes": {"compute": {"rows": [{"pid": 7, "used": 1}],
                                                 "always_insufficient": true}})"));
  std::vector<Usage> rows;
  require_ok(machine.prepare());
  const auto result = machine.source().processes(0, rows, machine.reading);
  REQUIRE_FALSE(result);
  CHECK(rows.empty());
  CHECK(result.failure().native.code == insufficient_size);
  CHECK(result.failure().code == Status::backend);
  CHECK(machine.driver.calls("nvmlDeviceGetComputeRunningProcesses_v3") <= 8);
}

TEST_CASE("rows returned with INSUFFICIENT_SIZE are kept, with a diagnostic for the rest") {
  Machine machine(one_gpu(R"("processes": {"compute": {"rows": [{"pid": 7, "used": 1}],
                       "always_insufficient": true, "fill_when_insufficient": true}})"));
  const auto rows = machine.processes();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 7);
  const auto diagnostics = find_list_diagnostics(machine.reading);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].failure.code == Status::limit);
}

TEST_CASE("rows that the driver counts but never wrote are dropped and reported as missing") {
  Machine machine(
      one_gpu(R"("processes": {"compute": {"rows": [{"pid": 7, "used": 1}], "claim": 60}})"));
  const auto rows = machine.processes();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 7);
  CHECK((rows[0].notes & note::lower_bound) != 0);
  const auto diagnostics = find_list_diagnostics(machine.reading);
  REQUIRE(diagnostics.size() == 1);
  CHECK(resolve_reason(diagnostics[0].failure) == Reason::implausible);
  CHECK(diagnostics[0].failure.native.domain == NativeDomain::none);
  machine.driver.load(
      one_gpu(R"("processes": {"compute": [{"pid": 0, "used": 0}, {"pid": 8, "used": 2},
                                                     {"pid": 0, "used": 77}]})"));
  const auto after = machine.processes();
  REQUIRE(after.size() == 1);
  CHECK(after[0].pid == 8);
  CHECK((after[0].notes & note::lower_bound) != 0);
}

TEST_CASE("a list of impossible rows is a failure, not an empty list") {
  for (const char* list : {R"({"rows": [], "claim": 3})", R"([{"pid": 0, "used": 5}])",
                           R"([{"pid": 4294967295, "used": 5}])"}) {
    CAPTURE(list);
    Machine machine(one_gpu(R"("processes": {"compute": )" + std::string(list) + "}"));
    std::vector<Usage> rows;
    require_ok(machine.prepare());
    const auto result = machine.source().processes(0, rows, machine.reading);
    REQUIRE_FALSE(result);
    CHECK(rows.empty());
    CHECK(resolve_reason(result.failure()) == Reason::implausible);
    CHECK(result.failure().message.view().find("Compute") != std::string::npos);
  }
}

TEST_CASE("a refused list costs only its own rows, with a diagnostic") {
  Machine machine(one_gpu(R"("processes": {"compute": [{"pid": 7, "used": 1}]},
                       "results": {"nvmlDeviceGetGraphicsRunningProcesses*": "NO_PERMISSION",
                                   "nvmlDeviceGetMPSComputeRunningProcesses*": "NOT_SUPPORTED"})"));
  const auto rows = machine.processes();
  REQUIRE(rows.size() == 1);
  CHECK((rows[0].notes & note::lower_bound) != 0);
  const auto diagnostics = find_list_diagnostics(machine.reading);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].failure.code == Status::permission);
  CHECK(diagnostics[0].failure.message.view().find("Graphics") != std::string::npos);
}

TEST_CASE("if no list can be read, the most relevant failure is reported") {
  Machine machine(one_gpu(R"("results": {"nvmlDeviceGetGraphicsRunningProcesses*": "NOT_SUPPORTED",
                                   "nvmlDeviceGetComputeRunningProcesses*": "NOT_SUPPORTED",
                                   "nvmlDeviceGetMPSComputeRunningProcesses*": "NO_PERMISSION"})"));
  std::vector<Usage> rows;
  require_ok(machine.prepare());
  const auto result = machine.source().processes(0, rows, machine.reading);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::permission);
  CHECK(rows.empty());
}

TEST_CASE("after the deadline no further list is read") {
  Machine machine(one_gpu(R"("processes": {"compute": [{"pid": 7, "used": 1}]})"));
  machine.devices();
  machine.reading.has_expired = [&machine] {
    return machine.driver.calls("nvmlDeviceGetComputeRunningProcesses_v3") > 0;
  };
  CHECK(machine.processes().size() == 1);
  CHECK(machine.driver.calls("nvmlDeviceGetMPSComputeRunningProcesses_v3") == 0);
  CHECK(machine.driver.calls("nvmlDeviceGetGraphicsRunningProcesses_v3") == 0);
  const auto diagnostics = find_list_diagnostics(machine.reading);
  REQUIRE(diagnostics.size() == 2);
  CHECK(diagnostics[0].failure.code == Status::timeout);
}
