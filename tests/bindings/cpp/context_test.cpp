// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine.hpp"

static_assert(!std::is_copy_constructible_v<hypomnesis::context>);
static_assert(std::is_nothrow_move_constructible_v<hypomnesis::context>);
static_assert(std::is_nothrow_move_assignable_v<hypomnesis::context>);
static_assert(std::is_nothrow_destructible_v<hypomnesis::context>);

TEST_CASE("a moved context is open in its new place alone") {
  hypomnesis::context a = machine("small.json");
  hypomnesis::context b(std::move(a));
  CHECK_FALSE(a.is_open());
  CHECK(b.scan().count == 1);
  CHECK_THROWS_AS(a.scan().count, hypomnesis::closed);
  a = std::move(b);
  CHECK(a.scan().count == 1);
  CHECK_FALSE(b.is_open());
  hypomnesis::context& same = a;
  a = std::move(same);
  CHECK(a.scan().count == 1);
}

TEST_CASE("a context may be closed twice, and refuses every call from then on") {
  hypomnesis::context c = machine("small.json");
  c.close();
  c.close();
  CHECK_FALSE(c.is_open());
  CHECK_THROWS_AS(c.scan().count, hypomnesis::closed);
  CHECK_THROWS_AS(c.take(), hypomnesis::closed);
  CHECK_THROWS_AS(c.set_default_path(hypomnesis::path_kind::proc), hypomnesis::closed);
}

TEST_CASE("the handle that native gives outlives close") {
  hypomnesis::context c = machine("small.json");
  const std::shared_ptr<hmn_context> held = c.native();
  c.close();
  std::uint32_t count = 0;
  CHECK(hmn_device_scan(held.get(), &count, nullptr, nullptr) == HMN_OK);
  CHECK(count == 1);
}

TEST_CASE("what is absent is nothing, what is zero is zero") {
  const hypomnesis::context c = machine("nothing.json");
  CHECK(c.device(0).name == std::nullopt);
  CHECK(c.pool(4).used_bytes == 0U);
  CHECK(c.pool(4).total_bytes == std::nullopt);
  CHECK(c.telemetry(4, hypomnesis::telemetry_field::gpu_busy).gpu_busy_percent == 0.0);
}

TEST_CASE("numbers are exact up to 64 bits, names beyond ASCII are whole") {
  CHECK(machine("wide53.json").telemetry(0).pcie_rx_bytes == 9007199254740993U);
  CHECK(machine("wide64.json").telemetry(0).pcie_rx_bytes == UINT64_MAX);
  CHECK(machine("names.json").device(0).name == "Größe 显卡 ☃ 😀");
}

TEST_CASE("options arrive") {
  hypomnesis::context_options options;
  options.flags = hypomnesis::context_flag::wake_devices;
  options.backends_off = std::uint64_t{1} << HMN_BACKEND_NVML;
  options.stale = options.idle_close = std::chrono::seconds(1);
  options.open_deadline = std::chrono::seconds(2);
  const hypomnesis::context c = machine("states.json", options);
  CHECK(c.device(0).state == hypomnesis::run_state::ready);
  CHECK(c.backend(hypomnesis::backend_id::nvml).state == hypomnesis::run_state::off);
}

TEST_CASE("devices of another class than GPUs are listed where they are asked for") {
  CHECK(machine("classes.json").scan().count == 1);
  hypomnesis::context_options options;
  options.device_classes = 1U << number(hypomnesis::device_class::npu);
  const hypomnesis::context c = machine("classes.json", options);
  CHECK(c.scan().count == 1);
  CHECK(c.device(0).device_class == hypomnesis::device_class::npu);
  CHECK(c.device(0).form == hypomnesis::device_form::integrated);
}

TEST_CASE("bits combine") {
  using hypomnesis::note;
  constexpr note both = note::stale | note::mixed;
  static_assert(has(both, note::stale) && has(both, note::mixed) && !has(both, note::trace));
  static_assert(!has(note::stale, both));
  static_assert((both & ~note::mixed) == note::stale && (both ^ note::mixed) == note::stale);
  note changing = note::stale;
  changing |= note::partial;
  CHECK(number(changing) == (HMN_NOTE_STALE | HMN_NOTE_PARTIAL));
  changing &= note::partial;
  CHECK(changing == note::partial);
}

TEST_CASE("the library names itself") {
  CHECK(hypomnesis::version_number() == HMN_VERSION_NUMBER);
  CHECK(hypomnesis::version_string() == "0.1.0");
  CHECK(hypomnesis::has_feature(hypomnesis::feature_id::simulation));
  CHECK(hypomnesis::has_backend(hypomnesis::backend_id::simulated));
  CHECK_FALSE(hypomnesis::has_backend(hypomnesis::backend_id::none));
  CHECK(hypomnesis::name(hypomnesis::status_code::asleep) == "HMN_E_ASLEEP");
  CHECK(hypomnesis::name(hypomnesis::backend_id::nvidia_smi) == "nvidia-smi");
}

TEST_CASE("after fork the parent's context says so, its snapshots are readable, a new one works") {
  const hypomnesis::context c = machine("small.json");
  const hypomnesis::snapshot s = c.take();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int status = 1;
    try {
      c.pool(0);
    } catch (const hypomnesis::error& e) {
      const bool says_so = e.status() == hypomnesis::status_code::forked;
      const bool works = machine("small.json").scan().count == 1;
      status = says_so && works && s.info().device_count == 1 ? 0 : 2;
    }
    _exit(status);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
