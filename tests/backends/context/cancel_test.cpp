// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rule: while a context is cancelled, no call waits. An answer that the driver returns meanwhile is
// kept; cancelled calls leave nothing else.
#include <doctest/doctest.h>
#include <poll.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "machine.hpp"

namespace {

constexpr const char* memory_call = "nvmlDeviceGetMemoryInfo_v2";
constexpr const char* hang_in_memory =
    R"(, "rules": [{"call": "nvmlDeviceGetMemoryInfo*", "device": 0, "hang": true}])";

std::string two_gpus(const std::string& rules = {}) {
  const auto gpu = [](const std::string& digit) {
    return R"({"name": "GPU )" + digit + R"(", "uuid": "GPU-)" + digit +
           R"(", "pci": {"address": "00000000:0)" + digit +
           R"(:00.0"}, "memory": {"total": 8000000000, "free": 5000000000, "used": 3000000000},)" +
           R"("memory_v2": {"total": 8000000000, "reserved": 0, "free": 5000000000,)" +
           R"("used": 3000000000},)" + R"("processes": {"compute": []}})";
  };
  return R"({"devices": [)" + gpu("1") + ", " + gpu("2") + "]" + rules + "}";
}

hmn_status read_pool(hmn_context* context, hmn_pool& pool) {
  pool = sized<hmn_pool>();
  return hmn_pool_read(context, 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr);
}

hmn_status read_pool(const Machine& machine) {
  hmn_pool pool;
  return read_pool(machine.context(), pool);
}

hmn_status take_snapshot(const Machine& machine, hmn_flags collect, std::uint64_t deadline_ns = 0) {
  auto options = sized<hmn_snapshot_options>();
  options.collect = collect;
  options.deadline_ns = deadline_ns;
  hmn_snapshot* snapshot = nullptr;
  const hmn_status status = hmn_snapshot_take(machine.context(), &options, &snapshot, nullptr);
  hmn_snapshot_destroy(snapshot);
  return status;
}

void cancel(const Machine& machine) {
  auto error = sized<hmn_error>();
  CHECK(hmn_context_cancel(machine.context(), &error) == HMN_OK);
}

void resume(const Machine& machine) {
  auto error = sized<hmn_error>();
  CHECK(hmn_context_resume(machine.context(), &error) == HMN_OK);
}

// Calls `call` from another thread, once for each start().
class Caller {
 public:
  template <class Call>
  explicit Caller(Call call)
      : thread_([this, call] {
          for (int count = 0;; done_ = ++count) {
            while (started_ == count) std::this_thread::yield();
            if (started_ < 0) return;
            status_ = call();
          }
        }) {}
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  ~Caller() {
    started_ = -1;
    thread_.join();
  }

  void start() { ++started_; }
  hmn_status wait() const {
    while (done_ != started_) std::this_thread::yield();
    return status_;
  }

 private:
  std::atomic<int> started_{0};
  std::atomic<int> done_{0};
  std::atomic<hmn_status> status_{HMN_OK};
  std::thread thread_;
};

// Waits for a time that differs from round to round, so that a cancel comes before, during and
// after the entry of the calls.
void spin(int round) {
  const std::uint64_t end_ns = now_ns() + static_cast<std::uint64_t>(round % 100) * 5000;
  while (now_ns() < end_ns) std::this_thread::yield();
}

// Checks that a cancel has left no device set aside, no second session and no diagnostic.
void check_clean(const Machine& machine, const FakeNvml& nvml, std::uint32_t devices) {
  const Snapshot snapshot(machine.context(), HMN_COLLECT_DEVICES | HMN_COLLECT_POOLS);
  REQUIRE(snapshot.info().device_count == devices);
  for (std::uint32_t i = 0; i < devices; ++i) {
    CHECK(snapshot.device(i).state == HMN_RUN_STATE_READY);
  }
  CHECK(snapshot.info().pool_count == devices);
  for (const hmn_pool& pool : snapshot.pools()) CHECK((pool.notes & HMN_NOTE_STALE) == 0);
  for (const hmn_diagnostic& diagnostic : snapshot.diagnostics()) {
    INFO(std::string(diagnostic.message));
    CHECK(diagnostic.status == HMN_E_UNSUPPORTED);
  }
  CHECK((snapshot.info().notes & HMN_NOTE_PARTIAL) == 0);
  CHECK(nvml.initialized() == 1);
}

}  // namespace

TEST_CASE("a thousand cancels race with the calls of two threads") {
  const FakeNvml nvml;
  nvml.load(two_gpus());
  const Machine machine;
  REQUIRE(read_pool(machine) == HMN_OK);
  nvml.load(two_gpus(hang_in_memory));
  {
    Caller pool([&] { return read_pool(machine); });
    Caller snapshot([&] { return take_snapshot(machine, HMN_COLLECT_POOLS); });
    for (int round = 0; round < 1000; ++round) {
      pool.start();
      snapshot.start();
      spin(round);
      if (round % 100 == 99) REQUIRE(becomes_true([&] { return nvml.hanging() == 1; }));
      cancel(machine);
      REQUIRE(pool.wait() == HMN_E_CANCELLED);
      REQUIRE(snapshot.wait() == HMN_E_CANCELLED);
      resume(machine);
    }
  }
  CHECK(nvml.hanging() == 1);
  CHECK(nvml.initialized() == 1);
  nvml.load(two_gpus());
  nvml.release();
  check_clean(machine, nvml, 2);
}

TEST_CASE("a call that would wait for a driver fails until the context is resumed") {
  const FakeNvml nvml;
  for (const hmn_flags flags : {hmn_flags{0}, hmn_flags{HMN_CONTEXT_NO_THREADS}}) {
    CAPTURE(flags);
    nvml.load(two_gpus());
    const Machine machine({.flags = flags});
    cancel(machine);  // before the first reading
    CHECK(read_pool(machine) == HMN_E_CANCELLED);
    CHECK(nvml.initialized() == 0);
    resume(machine);
    REQUIRE(read_pool(machine) == HMN_OK);

    cancel(machine);
    cancel(machine);
    const auto calls = nvml.calls(nullptr);
    auto error = sized<hmn_error>();
    auto pool = sized<hmn_pool>();
    CHECK(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error) ==
          HMN_E_CANCELLED);
    CHECK(error.status == HMN_E_CANCELLED);
    CHECK(std::string(error.message).find("cancelled") != std::string::npos);
    CHECK(pool.present == 0);
    std::uint32_t count = 99;
    CHECK(hmn_device_scan(machine.context(), &count, nullptr, nullptr) == HMN_E_CANCELLED);
    CHECK(count == 0);
    CHECK(hmn_device_find(machine.context(), "uuid:GPU-1", &count, nullptr) ==
          HMN_OK);  // of the scan
    CHECK(take_snapshot(machine, 0) == HMN_E_CANCELLED);
    auto backend = sized<hmn_backend_info>();
    CHECK(hmn_context_backend(machine.context(), HMN_BACKEND_NVML, &backend, nullptr) ==
          HMN_E_CANCELLED);
    hmn_tracker* tracker = nullptr;
    REQUIRE(hmn_tracker_create(machine.context(), 0, nullptr, &tracker, nullptr) == HMN_OK);
    CHECK(hmn_tracker_would_fit(tracker, 1, nullptr) == HMN_E_CANCELLED);
    CHECK(hmn_tracker_allocate(tracker, 1, nullptr) == HMN_OK);
    hmn_tracker_destroy(tracker);
    hmn_spill* spill = nullptr;
    REQUIRE(hmn_spill_create(machine.context(), 0, nullptr, &spill, nullptr) == HMN_OK);
    CHECK(hmn_spill_observe(spill, "", nullptr) == HMN_E_CANCELLED);
    hmn_spill_destroy(spill);
    CHECK(nvml.calls(nullptr) == calls);

    resume(machine);
    resume(machine);
    CHECK(read_pool(machine) == HMN_OK);
    check_clean(machine, nvml, 2);
  }
}

TEST_CASE("a call that does not have to wait works while the context is cancelled") {
  const FakeNvml nvml;
  nvml.load(two_gpus());
  const Machine machine({.max_age_ns = HMN_MILLISECONDS(patient_ms)});
  REQUIRE(read_pool(machine) == HMN_OK);
  cancel(machine);
  auto memory = sized<hmn_process_memory>();
  CHECK(hmn_process_memory_read_self(machine.context(), 0, &memory, nullptr) == HMN_OK);
  auto system = sized<hmn_system_memory>();
  CHECK(hmn_system_memory_read(machine.context(), 0, &system, nullptr) == HMN_OK);
  CHECK(take_snapshot(machine, HMN_COLLECT_MEMORY | HMN_COLLECT_SYSTEM) == HMN_OK);
  CHECK(read_pool(machine) == HMN_OK);                            // was read before
  CHECK(take_snapshot(machine, HMN_COLLECT_POOLS, 1) == HMN_OK);  // has no time to wait
  CHECK(take_snapshot(machine, HMN_COLLECT_METRICS) == HMN_E_CANCELLED);

  const Machine no_nvml({.backends_off = std::uint64_t{1} << HMN_BACKEND_NVML});
  cancel(no_nvml);
  std::uint32_t count = 99;
  CHECK(hmn_device_scan(no_nvml.context(), &count, nullptr, nullptr) ==
        HMN_OK);  // files of the kernel
  CHECK(count == 0);
}

TEST_CASE("the answer that a cancelled call did not wait for is used by the next reading") {
  const FakeNvml nvml;
  for (const bool comes_first : {false, true}) {
    CAPTURE(comes_first);
    nvml.load(two_gpus());
    const Machine machine({.max_age_ns = HMN_MILLISECONDS(patient_ms)});
    std::uint32_t count = 0;
    REQUIRE(hmn_device_scan(machine.context(), &count, nullptr, nullptr) == HMN_OK);
    const auto calls = nvml.calls(memory_call);
    nvml.load(two_gpus(hang_in_memory));
    Caller pool([&] { return read_pool(machine); });
    pool.start();
    REQUIRE(becomes_true([&] { return nvml.hanging() == 1; }));
    cancel(machine);
    CHECK(pool.wait() == HMN_E_CANCELLED);
    CHECK(nvml.hanging() == 1);
    if (comes_first) {
      nvml.release();
      REQUIRE(becomes_true([&] { return read_pool(machine) == HMN_OK; }));  // does not have to wait
    }
    resume(machine);
    pool.start();
    if (!comes_first) nvml.release();
    CHECK(pool.wait() == HMN_OK);
    CHECK(nvml.calls(memory_call) == calls + 1);
    nvml.load(two_gpus());
    check_clean(machine, nvml, 2);
  }
}

TEST_CASE("a reading waits for the driver call of a cancelled reading as for its own") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine;
  REQUIRE(read_pool(machine) == HMN_OK);
  nvml.load(one_gpu(hang_in_memory));
  Caller pool([&] { return read_pool(machine); });
  pool.start();
  REQUIRE(becomes_true([&] { return nvml.hanging() == 1; }));
  cancel(machine);
  CHECK(pool.wait() == HMN_E_CANCELLED);
  resume(machine);
  nvml.load(one_gpu());
  pool.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  CHECK(nvml.hanging() == 1);
  nvml.release();
  CHECK(pool.wait() == HMN_OK);
  check_clean(machine, nvml, 1);
}

TEST_CASE("a driver that hangs past the deadline is not waited for again after a cancel") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine({.deadline_ns = HMN_MILLISECONDS(400), .stale_ns = HMN_MILLISECONDS(1)});
  REQUIRE(take_snapshot(machine, HMN_COLLECT_POOLS, HMN_MILLISECONDS(patient_ms)) == HMN_OK);
  nvml.load(one_gpu(hang_in_memory));
  Caller pool([&] { return read_pool(machine); });
  REQUIRE(becomes_true([&] {
    pool.start();
    CHECK(pool.wait() == HMN_E_TIMEOUT);
    return nvml.hanging() == 1;
  }));
  cancel(machine);
  resume(machine);
  CHECK(measure_fastest_ms(10, [&] { CHECK(read_pool(machine) == HMN_E_TIMEOUT); }) < 200);
}

TEST_CASE("without threads a cancel takes effect between driver calls") {
  const FakeNvml nvml;
  nvml.load(two_gpus(hang_in_memory));
  const Machine machine(
      {.flags = HMN_CONTEXT_NO_THREADS, .max_age_ns = HMN_MILLISECONDS(patient_ms)});
  Caller snapshot([&] { return take_snapshot(machine, HMN_COLLECT_POOLS); });
  Caller pool([&] { return read_pool(machine); });
  snapshot.start();
  REQUIRE(becomes_true([&] { return nvml.hanging() == 1; }));
  pool.start();
  cancel(machine);
  CHECK(pool.wait() == HMN_E_CANCELLED);  // waited for the snapshot
  CHECK(nvml.hanging() == 1);
  nvml.release();
  CHECK(snapshot.wait() == HMN_E_CANCELLED);
  CHECK(nvml.calls(memory_call) == 1);  // of two devices
  resume(machine);
  nvml.load(two_gpus());
  check_clean(machine, nvml, 2);
}

TEST_CASE("a cancel ends a program that a call waits for, and the next reading restarts it") {
  const Machine machine({}, false);
  const std::filesystem::path folder = machine.tree().path("tool");
  std::filesystem::create_directories(folder);
  const auto install = [&](const std::string& script) {
    const std::filesystem::path next = folder / "next";
    std::ofstream(next) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(next, std::filesystem::perms::owner_all);
    std::filesystem::rename(next, folder / "nvidia-smi");
  };
  const auto path = (folder / "nvidia-smi").string();
  install("echo >> " + folder.string() + "/runs; exec sleep 1000");
  REQUIRE(hmn_context_set_path(machine.context(), HMN_PATH_NVIDIA_SMI, path.c_str(), nullptr) ==
          HMN_OK);
  Caller pool([&] { return read_pool(machine); });
  Caller count([&] {
    std::uint32_t devices = 0;
    return hmn_device_scan(machine.context(), &devices, nullptr, nullptr);
  });
  pool.start();
  REQUIRE(becomes_true([&] {
    std::error_code none;
    return std::filesystem::file_size(folder / "runs", none) == 1;
  }));
  count.start();
  cancel(machine);
  CHECK(pool.wait() == HMN_E_CANCELLED);
  CHECK(count.wait() == HMN_E_CANCELLED);
  CHECK(std::filesystem::file_size(folder / "runs") == 1);
  std::filesystem::copy_file(HMN_FAKE_NVIDIA_SMI, folder / "fake");
  std::filesystem::rename(folder / "fake", folder / "nvidia-smi");
  std::ofstream(folder / "nvidia-smi.json") << R"({"gpus": [{"fields": {"name": "NVIDIA L40S",
    "uuid": "GPU-1", "pci.bus_id": "00000000:01:00.0", "driver_version": "595.80",
    "memory.total": 46068, "memory.used": 9123, "memory.free": 36346}}]})";
  resume(machine);
  CHECK(read_pool(machine) == HMN_OK);
}

TEST_CASE("a cancel wakes threads that wait for a sampler, and the sampler keeps running") {
  const FakeNvml nvml;
  nvml.load(two_gpus(hang_in_memory));
  const Machine machine;
  auto options = sized<hmn_sampler_options>();
  options.interval_ns = HMN_MILLISECONDS(10);
  hmn_sampler* sampler = nullptr;
  REQUIRE(hmn_sampler_create(machine.context(), &options, nullptr, &sampler, nullptr) == HMN_OK);
  REQUIRE(hmn_sampler_start(sampler, nullptr) == HMN_OK);
  std::int64_t handle = -1;
  REQUIRE(hmn_sampler_handle(sampler, &handle, nullptr) == HMN_OK);
  pollfd event{static_cast<int>(handle), POLLIN, 0};
  const auto next = [&](std::uint64_t timeout_ns) {
    hmn_snapshot* snapshot = nullptr;
    const hmn_status status = hmn_sampler_next(sampler, timeout_ns, &snapshot, nullptr);
    hmn_snapshot_destroy(snapshot);
    return status;
  };
  const auto info = [&] {
    auto sampler_info = sized<hmn_sampler_info>();
    CHECK(hmn_sampler_read(sampler, &sampler_info, nullptr) == HMN_OK);
    return sampler_info;
  };
  {
    Caller waiter([&] { return next(HMN_NS_UNLIMITED); });
    for (int round = 0; round < 300; ++round) {
      CHECK(poll(&event, 1, 0) == 0);
      waiter.start();
      spin(round);
      cancel(machine);
      REQUIRE(waiter.wait() == HMN_E_CANCELLED);
      CHECK(poll(&event, 1, 0) == 1);
      CHECK(next(0) == HMN_E_EMPTY);
      resume(machine);
    }
  }
  cancel(machine);
  CHECK(becomes_true([&] { return info().last_status == HMN_E_CANCELLED; }));
  const std::uint64_t failed = info().failed_count;
  CHECK(becomes_true([&] { return info().failed_count > failed; }));
  CHECK(info().state == HMN_SAMPLER_STATE_RUNNING);
  CHECK(info().taken_count == 0);
  resume(machine);
  nvml.load(two_gpus());
  nvml.release();
  CHECK(next(HMN_MILLISECONDS(patient_ms)) == HMN_OK);
  CHECK(info().last_status == HMN_OK);
  cancel(machine);
  hmn_sampler_destroy(sampler);
  resume(machine);
  check_clean(machine, nvml, 2);
}

TEST_CASE("cancel, join and destroy end the threads of a context whose driver hangs") {
  const FakeNvml nvml;
  nvml.load(one_gpu(hang_in_memory));
  Machine machine;
  std::atomic<hmn_status> status{HMN_OK};
  std::thread thread([&] {
    while (status == HMN_OK) status = read_pool(machine);
  });
  REQUIRE(becomes_true([&] { return nvml.hanging() == 1; }));
  cancel(machine);
  thread.join();
  CHECK(status == HMN_E_CANCELLED);
  machine.destroy();
  CHECK(nvml.inside() == 1);
  nvml.release();
  CHECK(becomes_true([&] { return nvml.initialized() == 0; }));
}
