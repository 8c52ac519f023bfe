// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/format.hpp"

#include <doctest/doctest.h>

#include <string>

#include "sample.hpp"

using hmn::DeviceFormat;
using hmn::Snapshot;
using sample::gib;
using sample::mib;

namespace {

std::string format_bytes(std::uint64_t size) {
  std::string out;
  hmn::append_bytes(out, size);
  return out;
}

std::string format_rounded(double value, int decimals = 0, hmn::Sign sign = hmn::Sign::always) {
  std::string out;
  hmn::append_rounded(out, value, decimals, sign);
  return out;
}

Snapshot make_snapshot(std::uint32_t index, std::string_view name, std::uint64_t total_mib,
                       std::uint64_t free_mib) {
  Snapshot snapshot;
  snapshot.devices.push_back(sample::make_device(index, name));
  snapshot.pools.push_back(
      sample::make_main_pool(index, total_mib * mib, (total_mib - free_mib) * mib, free_mib * mib));
  return snapshot;
}

// Returns the predecessor's line for the device at a position.
std::string format_line(const Snapshot& snapshot, DeviceFormat format, std::size_t position = 0,
                        std::string_view unit = "MB") {
  std::string out;
  const std::uint32_t index = snapshot.devices.at(position).identity->index;
  const hmn::Result<void> ok = hmn::append_device(out, snapshot, index, format, unit);
  REQUIRE(ok);
  return out;
}

hmn::Status format_error(const Snapshot& snapshot, DeviceFormat format, std::uint32_t index = 0) {
  std::string out;
  const hmn::Result<void> ok = hmn::append_device(out, snapshot, index, format, "MiB");
  REQUIRE(!ok);
  CHECK(out.empty());
  CHECK(!ok.failure().message.view().empty());
  return ok.failure().code;
}

}  // namespace

TEST_CASE("sizes below a GiB are whole MiB, rounded down") {
  CHECK(format_bytes(0) == "0 MiB");
  CHECK(format_bytes(mib - 1) == "0 MiB");
  CHECK(format_bytes(1'048'576) == "1 MiB");
  CHECK(format_bytes(512 * mib) == "512 MiB");
  CHECK(format_bytes(1'073'741'823) == "1023 MiB");
}

TEST_CASE("sizes of a GiB and more have one decimal") {
  CHECK(format_bytes(gib) == "1.0 GiB");
  CHECK(format_bytes(3 * gib / 2) == "1.5 GiB");
  CHECK(format_bytes(8 * gib + 200 * mib) == "8.2 GiB");
  CHECK(format_bytes(1'127'428'915) == "1.0 GiB");
  CHECK(format_bytes(1'127'428'916) == "1.1 GiB");
  CHECK(format_bytes(UINT64_MAX) == "17179869184.0 GiB");
}

TEST_CASE("rounding is half to even on the exact value") {
  CHECK(format_rounded(0.5) == "+0");
  CHECK(format_rounded(1.5) == "+2");
  CHECK(format_rounded(2.5) == "+2");
  CHECK(format_rounded(-0.5) == "-0");
  CHECK(format_rounded(-1.5) == "-2");
  CHECK(format_rounded(0.0) == "+0");
  CHECK(format_rounded(-0.0) == "-0");
  CHECK(format_rounded(-0.4) == "-0");
  CHECK(format_rounded(0.50000001) == "+1");
  CHECK(format_rounded(100, 0, hmn::Sign::minus_only) == "100");
  CHECK(format_rounded(0.25, 1) == "+0.2");
  CHECK(format_rounded(0.05, 1) == "+0.1");  // the double is a little above
  CHECK(format_rounded(1e300).size() == 302);
}

TEST_CASE("the free memory of a device is formatted as one line") {
  CHECK(format_line(make_snapshot(0, "NVIDIA Test GPU", 16384, 13284), DeviceFormat::free) ==
        "  GPU 0: free 13284 MB / 16384 MB [NVIDIA Test GPU]\n");
  CHECK(format_line(make_snapshot(1, "", 8192, 4096), DeviceFormat::free) ==
        "  GPU 1: free 4096 MB / 8192 MB\n");
  CHECK(format_line(make_snapshot(2, "Saturated GPU", 4096, 0), DeviceFormat::free) ==
        "  GPU 2: free 0 MB / 4096 MB [Saturated GPU]\n");
}

TEST_CASE("the total memory of a device is formatted as one line") {
  CHECK(format_line(make_snapshot(0, "NVIDIA Test GPU", 16384, 1), DeviceFormat::total) ==
        "  GPU 0: total 16384 MB [NVIDIA Test GPU]\n");
  CHECK(format_line(make_snapshot(1, "", 8192, 1), DeviceFormat::total) ==
        "  GPU 1: total 8192 MB\n");
  CHECK(format_line(make_snapshot(2, "Saturated GPU", 4096, 0), DeviceFormat::total) ==
        "  GPU 2: total 4096 MB [Saturated GPU]\n");
}

TEST_CASE("the used memory of a device is formatted as one line") {
  CHECK(format_line(make_snapshot(0, "NVIDIA Test GPU", 16384, 16384 - 3100), DeviceFormat::used) ==
        "  GPU 0: used 3100 MB [NVIDIA Test GPU]\n");
  CHECK(format_line(make_snapshot(1, "", 8192, 4096), DeviceFormat::used) ==
        "  GPU 1: used 4096 MB\n");
  CHECK(format_line(make_snapshot(2, "Idle GPU", 4096, 4096), DeviceFormat::used) ==
        "  GPU 2: used 0 MB [Idle GPU]\n");
}

TEST_CASE("MiB values are rounded, not truncated") {
  Snapshot snapshot = make_snapshot(0, "", 1, 0);
  snapshot.pools[0].total = mib + mib / 2;
  CHECK(format_line(snapshot, DeviceFormat::total) == "  GPU 0: total 2 MB\n");
  snapshot.pools[0].total = 2 * mib + mib / 2;
  CHECK(format_line(snapshot, DeviceFormat::total) == "  GPU 0: total 2 MB\n");
  snapshot.pools[0].total = UINT64_MAX;
  CHECK(format_line(snapshot, DeviceFormat::total) == "  GPU 0: total 17592186044416 MB\n");
}

TEST_CASE("the line shows the index of the device, not its position") {
  Snapshot snapshot = make_snapshot(4, "four", 10, 5);
  snapshot.devices.push_back(sample::make_device(9, "nine"));
  snapshot.pools.push_back(sample::make_main_pool(9, 30 * mib, 10 * mib, 20 * mib));
  CHECK(format_line(snapshot, DeviceFormat::free, 1) == "  GPU 9: free 20 MB / 30 MB [nine]\n");
}

TEST_CASE("an unknown value or device gives an error and no line") {
  Snapshot snapshot;
  CHECK(format_error(snapshot, DeviceFormat::free) == hmn::Status::no_device);
  snapshot.devices.push_back(sample::make_device(0, "GPU"));
  CHECK(format_error(snapshot, DeviceFormat::free) == hmn::Status::empty);
  snapshot.pools.push_back(sample::make_main_pool(0, {}, 1, 2));
  CHECK(format_error(snapshot, DeviceFormat::free) == hmn::Status::empty);
  CHECK(format_error(snapshot, DeviceFormat::total) == hmn::Status::empty);
  CHECK(format_line(snapshot, DeviceFormat::used) == "  GPU 0: used 0 MB [GPU]\n");
  snapshot.pools[0] = sample::make_main_pool(0, 1, {}, {});
  CHECK(format_error(snapshot, DeviceFormat::used) == hmn::Status::empty);
  snapshot.pools[0].is_main = false;
  CHECK(format_error(snapshot, DeviceFormat::total) == hmn::Status::empty);
  CHECK(format_error(snapshot, static_cast<DeviceFormat>(0)) == hmn::Status::range);
  CHECK(format_error(snapshot, static_cast<DeviceFormat>(4)) == hmn::Status::range);
  CHECK(format_error(snapshot, DeviceFormat::free, 1) == hmn::Status::no_device);
}
