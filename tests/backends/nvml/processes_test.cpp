// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/processes.hpp"

#include <doctest/doctest.h>

#include <map>

#include "machine.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace hmn::nvml;

namespace {

std::string lists(const std::string& compute, const std::string& graphics = "[]",
                  const std::string& mps = "[]") {
  return one_gpu(R"("processes": {"compute": )" + compute + R"(, "graphics": )" + graphics +
                 R"(, "mps": )" + mps + "}");
}

std::vector<Diagnostic> about_pid(const PlainReading& r, std::uint32_t pid) {
  std::vector<Diagnostic> found;
  for (const Diagnostic& d : r.about(subject::processes)) {
    if (d.pid == pid) found.push_back(d);
  }
  return found;
}

std::string variant(const char* name) {
  return std::string(HMN_FAKE_NVML_FOLDER) + "/nvml-" + name + "/libnvidia-ml.so.1";
}

// Diagnostics of anything but load, which has a test of its own.
std::vector<Diagnostic> about_lists(const PlainReading& r) {
  std::vector<Diagnostic> said = r.about();
  std::erase_if(said, [](const Diagnostic& d) { return d.field == usage_field::busy_percent; });
  return said;
}

}  // namespace

TEST_CASE("lists are merged, a process once, with the larger figure") {
  ProcessMerge merge;
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

TEST_CASE("within one list compute instances are summed, and the same row twice counts once") {
  ProcessMerge merge;
  const std::vector<ListedProcess> list{{1, 10, 2, 0}, {2, 7}, {1, 20, 2, 1}, {2, 7}};
  merge.add(list, usage_kind::compute);
  merge.add(list, usage_kind::compute);
  const auto rows = merge.finish();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].used == 30);
  CHECK(rows[1].used == 7);
}

TEST_CASE("a sum with an unknown part, or past 64 bits, is unknown") {
  ProcessMerge merge;
  const std::vector<ListedProcess> list{
      {1, 10, 2, 0}, {1, value_not_available, 2, 1}, {2, UINT64_MAX - 1, 2, 0}, {2, 2, 2, 1}};
  merge.add(list, usage_kind::compute);
  const auto rows = merge.finish();
  REQUIRE(rows.size() == 2);
  CHECK(!rows[0].used);
  CHECK(!rows[1].used);
}

TEST_CASE("compute, graphics and MPS make one row for each process") {
  Machine m(lists(R"([{"pid": 100, "used": "1 GiB"}, {"pid": 200, "used": "2 GiB"}])",
                  R"([{"pid": 200, "used": "2 GiB"}, {"pid": 300, "used": "10 MiB"}])",
                  R"([{"pid": 400, "used": "3 GiB"}])"));
  const auto rows = m.processes();
  REQUIRE(rows.size() == 4);
  CHECK(row_of(rows, 100).used == gib);
  CHECK(row_of(rows, 100).allocated == gib);
  CHECK(row_of(rows, 100).accounting == Accounting::allocated);
  CHECK(row_of(rows, 100).from == Source::nvml);
  CHECK(row_of(rows, 200).used == 2 * gib);
  CHECK(row_of(rows, 200).kinds == (usage_kind::compute | usage_kind::graphics));
  CHECK(row_of(rows, 300).kinds == usage_kind::graphics);
  CHECK(row_of(rows, 400).kinds == usage_kind::compute);
  CHECK(!row_of(rows, 100).instance);
  CHECK(about_lists(m.reading).empty());
}

// The rows of the predecessor's tests. A row that it dropped is kept here, without a value.
TEST_CASE("rows and the figures that are kept") {
  constexpr std::uint64_t total = 17'179'869'184;
  const auto rows_of = [](const std::string& list) {
    Machine m(machine_of(R"({"memory": {"total": 17179869184, "free": 17179869184, "used": 0},
                             "processes": {"compute": )" +
                         list + "}}"));
    m.devices();
    return m.processes();
  };
  SUBCASE("normal rows") {
    const auto rows = rows_of(R"([{"pid": 100, "used": 1024}, {"pid": 200, "used": 2048}])");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].used == 1024);
    CHECK(rows[1].used == 2048);
  }
  SUBCASE("a value that the driver does not tell") {
    const auto rows =
        rows_of(R"([{"pid": 100, "used": 1024}, {"pid": 200, "used": 18446744073709551615},
                    {"pid": 300, "used": 4096}])");
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].used == 1024);
    CHECK(!rows[1].used);
    CHECK(!rows[1].allocated);
    CHECK(rows[2].used == 4096);
  }
  SUBCASE("more than the device has") {
    const auto rows = rows_of(R"([{"pid": 100, "used": 1024}, {"pid": 200, "used": 17179869185}])");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].used == 1024);
    CHECK(!rows[1].used);
  }
  SUBCASE("exactly what the device has") {
    const auto rows = rows_of(R"([{"pid": 100, "used": 17179869184}])");
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].used == total);
  }
  SUBCASE("an empty list") {
    CHECK(rows_of("[]").empty());
  }
  SUBCASE("nothing but garbage") {
    const auto rows =
        rows_of(R"([{"pid": 1, "used": 18446744073709551615}, {"pid": 2, "used": 17179869185}])");
    REQUIRE(rows.size() == 2);
    CHECK(!rows[0].used);
    CHECK(!rows[1].used);
  }
}

TEST_CASE("a figure that is left out has a remark with its process") {
  Machine m(lists(R"([{"pid": 200}, {"pid": 201, "used": "17 GiB"}, {"pid": 202, "used": 1}])"));
  m.devices();
  CHECK(m.processes().size() == 3);
  const auto unreported = about_pid(m.reading, 200);
  REQUIRE(unreported.size() == 1);
  CHECK(unreported[0].why.code == Status::unsupported);
  CHECK(unreported[0].field == (usage_field::used | usage_field::allocated));
  CHECK(unreported[0].device == 0);
  const auto too_large = about_pid(m.reading, 201);
  REQUIRE(too_large.size() == 2);
  CHECK(too_large[0].why.code == Status::backend);
  CHECK((too_large[0].field | too_large[1].field) == (usage_field::used | usage_field::allocated));
  CHECK(about_pid(m.reading, 202).empty());
}

TEST_CASE("a unified GPU whose total is unknown bounds no figure") {
  Machine m(machine_of(R"({"name": "NVIDIA GB10", "processes":
                           {"compute": [{"pid": 1, "used": "90 GiB"}]}})"));
  CHECK(m.processes().at(0).used == 90 * gib);
}

TEST_CASE("each generation of the lists is read, in each layout that was seen under it") {
  const std::string rows = R"([{"pid": 100, "used": "1 GiB"}, {"pid": 200, "used": "2 GiB"},
                               {"pid": 300, "used": 4096}])";
  for (const char* layout : {R"("process_layout": {"v3": 24})", R"("process_layout": {"v3": 32})",
                             R"("process_layout": {"v3": 16})"}) {
    CAPTURE(layout);
    Machine m(one_gpu(R"("processes": {"compute": )" + rows + "}", layout));
    const auto found = m.processes();
    REQUIRE(found.size() == 3);
    CHECK(row_of(found, 100).used == gib);
    CHECK(row_of(found, 200).used == 2 * gib);
    CHECK(row_of(found, 300).used == 4096);
  }
  for (const char* older : {"no_v3_processes", "only_v1"}) {
    CAPTURE(older);
    Machine m(one_gpu(R"("processes": {"compute": )" + rows + "}"), variant(older));
    const auto found = m.processes();
    REQUIRE(found.size() == 3);
    CHECK(row_of(found, 100).used == gib);
    CHECK(row_of(found, 200).used == 2 * gib);
    CHECK(row_of(found, 300).used == 4096);
  }
}

TEST_CASE("a single row is read in each layout") {
  for (const char* size : {"16", "24", "32"}) {
    Machine m(
        one_gpu(R"("processes": {"compute": [{"pid": 4242, "used": "1 GiB", "gi": 3, "ci": 1}]})",
                R"("process_layout": {"v3": )" + std::string(size) + "}"));
    const auto found = m.processes();
    REQUIRE(found.size() == 1);
    CHECK(found[0].pid == 4242);
    CHECK(found[0].used == gib);
    CHECK(found[0].instance.has_value() == (std::string(size) != "16"));
  }
}

TEST_CASE("a list of 200 processes is read whole, and of 64 without a second call") {
  Machine m(one_gpu(R"("processes": {"compute":
      {"generate": {"count": 200, "first_pid": 1000, "used": "1 MiB"}}})"));
  const auto rows = m.processes();
  REQUIRE(rows.size() == 200);
  for (std::uint32_t i = 0; i < 200; ++i) CHECK(rows[i].pid == 1000 + i);
  CHECK(m.driver.calls("nvmlDeviceGetComputeRunningProcesses_v3") == 2);
  CHECK(m.processes().size() == 200);
  CHECK(m.driver.calls("nvmlDeviceGetComputeRunningProcesses_v3") == 3);

  Machine few(one_gpu(R"("processes": {"compute":
      {"generate": {"count": 64, "first_pid": 1000, "used": "1 MiB"}}})"));
  CHECK(few.processes().size() == 64);
  CHECK(few.driver.calls("nvmlDeviceGetComputeRunningProcesses_v3") == 1);
}

TEST_CASE("of 70,000 processes 65,536 are told, with a remark") {
  for (const char* layout :
       {R"("process_layout": {"v3": 24})", R"("process_layout": {"v3": 32})"}) {
    Machine m(one_gpu(R"("processes": {"compute":
        {"generate": {"count": 70000, "first_pid": 1000, "used": 1024}}})",
                      layout));
    const auto rows = m.processes();
    REQUIRE(rows.size() == 65536);
    CHECK(rows.back().pid == 1000 + 65535);
    CHECK(rows.back().used == 1024);
    const auto said = about_lists(m.reading);
    REQUIRE(said.size() == 1);
    CHECK(said[0].why.code == Status::limit);
    CHECK(said[0].why.message.view().find("4464") != std::string::npos);
    CHECK((said[0].notes & note::partial) != 0);
  }
}

TEST_CASE("a list that grows while it is read is caught up with") {
  Machine m(one_gpu(R"("processes": {"compute":
      {"generate": {"count": 65, "first_pid": 1000, "used": 1},
       "grow": {"rows": 30, "times": 3, "first_pid": 5000, "used": 1}}})"));
  CHECK(m.processes().size() >= 95);
  CHECK(about_lists(m.reading).empty());
}

TEST_CASE("a claim of billions of rows takes a bounded buffer") {
  Machine m(one_gpu(R"("processes": {"compute":
      {"rows": [{"pid": 7, "used": 1}], "claim": 4000000000}})"));
  std::vector<Usage> rows;
  require_ok(m.prepare());
  const auto done = m.source().processes(0, rows, m.reading);
  CHECK(m.driver.calls("nvmlDeviceGetComputeRunningProcesses_v3") <= 8);
  CHECK(rows.size() <= 1);
  CHECK((!done || !about_lists(m.reading).empty()));
}

TEST_CASE("a list that never fits is given up, and is no empty one") {
  Machine m(one_gpu(R"("processes": {"compute": {"rows": [{"pid": 7, "used": 1}],
                                                 "always_insufficient": true}})"));
  std::vector<Usage> rows;
  require_ok(m.prepare());
  const auto done = m.source().processes(0, rows, m.reading);
  REQUIRE_FALSE(done);
  CHECK(rows.empty());
  CHECK(done.why().native.code == insufficient_size);
  CHECK(done.why().code == Status::backend);
  CHECK(m.driver.calls("nvmlDeviceGetComputeRunningProcesses_v3") <= 8);
}

TEST_CASE("rows that came with 'insufficient' are kept, and the rest is told missing") {
  Machine m(one_gpu(R"("processes": {"compute": {"rows": [{"pid": 7, "used": 1}],
                       "always_insufficient": true, "fill_when_insufficient": true}})"));
  const auto rows = m.processes();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 7);
  const auto said = about_lists(m.reading);
  REQUIRE(said.size() == 1);
  CHECK(said[0].why.code == Status::limit);
}

TEST_CASE("rows that the driver counts and never wrote are no processes, and are missing") {
  Machine m(one_gpu(R"("processes": {"compute": {"rows": [{"pid": 7, "used": 1}], "claim": 60}})"));
  const auto rows = m.processes();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].pid == 7);
  CHECK((rows[0].notes & note::lower_bound) != 0);
  const auto said = about_lists(m.reading);
  REQUIRE(said.size() == 1);
  CHECK(reason_for(said[0].why) == Reason::implausible);
  CHECK(said[0].why.native.domain == NativeDomain::none);
  m.driver.load(one_gpu(R"("processes": {"compute": [{"pid": 0, "used": 0}, {"pid": 8, "used": 2},
                                                     {"pid": 0, "used": 77}]})"));
  const auto after = m.processes();
  REQUIRE(after.size() == 1);
  CHECK(after[0].pid == 8);
  CHECK((after[0].notes & note::lower_bound) != 0);
}

TEST_CASE("a list of which no row can be is no empty list") {
  for (const char* list : {R"({"rows": [], "claim": 3})", R"([{"pid": 0, "used": 5}])",
                           R"([{"pid": 4294967295, "used": 5}])"}) {
    CAPTURE(list);
    Machine m(one_gpu(R"("processes": {"compute": )" + std::string(list) + "}"));
    std::vector<Usage> rows;
    require_ok(m.prepare());
    const auto done = m.source().processes(0, rows, m.reading);
    REQUIRE_FALSE(done);
    CHECK(rows.empty());
    CHECK(reason_for(done.why()) == Reason::implausible);
    CHECK(done.why().message.view().find("Compute") != std::string::npos);
  }
}

TEST_CASE("a list that is refused leaves the others, with a remark") {
  Machine m(one_gpu(R"("processes": {"compute": [{"pid": 7, "used": 1}]},
                       "results": {"nvmlDeviceGetGraphicsRunningProcesses*": "NO_PERMISSION",
                                   "nvmlDeviceGetMPSComputeRunningProcesses*": "NOT_SUPPORTED"})"));
  const auto rows = m.processes();
  REQUIRE(rows.size() == 1);
  CHECK((rows[0].notes & note::lower_bound) != 0);
  const auto said = about_lists(m.reading);
  REQUIRE(said.size() == 1);
  CHECK(said[0].why.code == Status::permission);
  CHECK(said[0].why.message.view().find("Graphics") != std::string::npos);
}

TEST_CASE("when no list answers the reading fails with the code that matters") {
  Machine m(one_gpu(R"("results": {"nvmlDeviceGetGraphicsRunningProcesses*": "NOT_SUPPORTED",
                                   "nvmlDeviceGetComputeRunningProcesses*": "NOT_SUPPORTED",
                                   "nvmlDeviceGetMPSComputeRunningProcesses*": "NO_PERMISSION"})"));
  std::vector<Usage> rows;
  require_ok(m.prepare());
  const auto done = m.source().processes(0, rows, m.reading);
  REQUIRE_FALSE(done);
  CHECK(done.why().code == Status::permission);
  CHECK(rows.empty());
}

TEST_CASE("when the deadline passes, no further list is asked") {
  Machine m(one_gpu(R"("processes": {"compute": [{"pid": 7, "used": 1}]})"));
  m.devices();
  m.reading.is_over = [&m] {
    return m.driver.calls("nvmlDeviceGetComputeRunningProcesses_v3") > 0;
  };
  CHECK(m.processes().size() == 1);
  CHECK(m.driver.calls("nvmlDeviceGetMPSComputeRunningProcesses_v3") == 0);
  CHECK(m.driver.calls("nvmlDeviceGetGraphicsRunningProcesses_v3") == 0);
  const auto said = about_lists(m.reading);
  REQUIRE(said.size() == 2);
  CHECK(said[0].why.code == Status::timeout);
}
