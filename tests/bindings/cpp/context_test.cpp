// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine.hpp"

static_assert(!std::is_copy_constructible_v<hypomnesis::context>);
static_assert(std::is_nothrow_move_constructible_v<hypomnesis::context>);
static_assert(std::is_nothrow_move_assignable_v<hypomnesis::context>);
static_assert(std::is_nothrow_destructible_v<hypomnesis::context>);

TEST_CASE("a moved-from context is closed and its target is open") {
  hypomnesis::context a = open_machine("small.json");
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

TEST_CASE("a context may be closed twice, and every later call throws closed") {
  hypomnesis::context context = open_machine("small.json");
  context.close();
  context.close();
  CHECK_FALSE(context.is_open());
  CHECK_THROWS_AS(context.scan().count, hypomnesis::closed);
  CHECK_THROWS_AS(context.take(), hypomnesis::closed);
  CHECK_THROWS_AS(context.set_default_path(hypomnesis::path_kind::proc), hypomnesis::closed);
}

TEST_CASE("the handle returned by native() outlives close()") {
  hypomnesis::context context = open_machine("small.json");
  const std::shared_ptr<hmn_context> handle = context.native();
  context.close();
  std::uint32_t count = 0;
  CHECK(hmn_device_scan(handle.get(), &count, nullptr, nullptr) == HMN_OK);
  CHECK(count == 1);
}

TEST_CASE("absent fields are nullopt and zero fields are zero") {
  const hypomnesis::context context = open_machine("nothing.json");
  CHECK(context.device(0).name == std::nullopt);
  CHECK(context.pool(4).used_bytes == 0U);
  CHECK(context.pool(4).total_bytes == std::nullopt);
  CHECK(context.telemetry(4, hypomnesis::telemetry_field::gpu_busy).gpu_busy_percent == 0.0);
}

TEST_CASE("numbers are exact up to 64 bits, and names beyond ASCII are unchanged") {
  CHECK(open_machine("wide53.json").telemetry(0).pcie_rx_bytes == 9007199254740993U);
  CHECK(open_machine("wide64.json").telemetry(0).pcie_rx_bytes == UINT64_MAX);
  CHECK(open_machine("names.json").device(0).name == "Größe 显卡 ☃ 😀");
}

TEST_CASE("context options are applied") {
  hypomnesis::context_options options;
  options.flags = hypomnesis::context_flag::wake_devices;
  options.backends_off = std::uint64_t{1} << HMN_BACKEND_NVML;
  options.stale = options.idle_close = std::chrono::seconds(1);
  options.open_deadline = std::chrono::seconds(2);
  const hypomnesis::context context = open_machine("states.json", options);
  CHECK(context.device(0).state == hypomnesis::run_state::ready);
  CHECK(context.backend(hypomnesis::backend_id::nvml).state == hypomnesis::run_state::off);
}

TEST_CASE("devices of other classes than GPUs are listed only if requested") {
  CHECK(open_machine("classes.json").scan().count == 1);
  hypomnesis::context_options options;
  options.device_classes = 1U << number(hypomnesis::device_class::npu);
  const hypomnesis::context context = open_machine("classes.json", options);
  CHECK(context.scan().count == 1);
  CHECK(context.device(0).device_class == hypomnesis::device_class::npu);
  CHECK(context.device(0).form == hypomnesis::device_form::integrated);
}

TEST_CASE("flags combine with bitwise operators") {
  using hypomnesis::note;
  constexpr note notes = note::stale | note::mixed;
  static_assert(has(notes, note::stale) && has(notes, note::mixed) && !has(notes, note::trace));
  static_assert(!has(note::stale, notes));
  static_assert((notes & ~note::mixed) == note::stale && (notes ^ note::mixed) == note::stale);
  note flags = note::stale;
  flags |= note::partial;
  CHECK(number(flags) == (HMN_NOTE_STALE | HMN_NOTE_PARTIAL));
  flags &= note::partial;
  CHECK(flags == note::partial);
}

TEST_CASE("version, features, backends and statuses have values and names") {
  CHECK(hypomnesis::version_number() == HMN_VERSION_NUMBER);
  CHECK(hypomnesis::version_string() == "0.1.0");
  CHECK(hypomnesis::has_feature(hypomnesis::feature_id::simulation));
  CHECK(hypomnesis::has_backend(hypomnesis::backend_id::simulated));
  CHECK_FALSE(hypomnesis::has_backend(hypomnesis::backend_id::none));
  CHECK(hypomnesis::name(hypomnesis::status_code::asleep) == "HMN_E_ASLEEP");
  CHECK(hypomnesis::name(hypomnesis::backend_id::nvidia_smi) == "nvidia-smi");
}

TEST_CASE("in a forked child the parent's context throws forked and a new context works") {
  const hypomnesis::context context = open_machine("small.json");
  const hypomnesis::snapshot snapshot = context.take();
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int status = 1;
    try {
      context.pool(0);
    } catch (const hypomnesis::error& e) {
      const bool is_refused = e.status() == hypomnesis::status_code::forked;
      const bool can_open = open_machine("small.json").scan().count == 1;
      status = is_refused && can_open && snapshot.info().device_count == 1 ? 0 : 2;
    }
    _exit(status);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
