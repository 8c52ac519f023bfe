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

std::string bytes(std::uint64_t n) {
  std::string out;
  hmn::append_bytes(out, n);
  return out;
}

std::string rounded(double value, int decimals = 0, hmn::Sign s = hmn::Sign::always) {
  std::string out;
  hmn::append_rounded(out, value, decimals, s);
  return out;
}

Snapshot with_device(std::uint32_t index, std::string_view name, std::uint64_t total_mib,
                     std::uint64_t free_mib) {
  Snapshot s;
  s.devices.push_back(sample::device(index, name));
  s.pools.push_back(
      sample::main_pool(index, total_mib * mib, (total_mib - free_mib) * mib, free_mib * mib));
  return s;
}

// The predecessor's lines, of the device at a position.
std::string line(const Snapshot& s, DeviceFormat what, std::size_t i = 0,
                 std::string_view unit = "MB") {
  std::string out;
  const std::uint32_t index = s.devices.at(i).identity->index;
  const hmn::Result<void> ok = hmn::append_device(out, s, index, what, unit);
  REQUIRE(ok);
  return out;
}

hmn::Status format_refusal(const Snapshot& s, DeviceFormat what, std::uint32_t index = 0) {
  std::string out;
  const hmn::Result<void> ok = hmn::append_device(out, s, index, what, "MiB");
  REQUIRE(!ok);
  CHECK(out.empty());
  CHECK(!ok.why().message.view().empty());
  return ok.why().code;
}

}  // namespace

TEST_CASE("sizes below a GiB are whole MiB, rounded down") {
  CHECK(bytes(0) == "0 MiB");
  CHECK(bytes(mib - 1) == "0 MiB");
  CHECK(bytes(1'048'576) == "1 MiB");
  CHECK(bytes(512 * mib) == "512 MiB");
  CHECK(bytes(1'073'741'823) == "1023 MiB");
}

TEST_CASE("sizes from a GiB on have one decimal") {
  CHECK(bytes(gib) == "1.0 GiB");
  CHECK(bytes(3 * gib / 2) == "1.5 GiB");
  CHECK(bytes(8 * gib + 200 * mib) == "8.2 GiB");
  CHECK(bytes(1'127'428'915) == "1.0 GiB");
  CHECK(bytes(1'127'428'916) == "1.1 GiB");
  CHECK(bytes(UINT64_MAX) == "17179869184.0 GiB");
}

TEST_CASE("rounding is half to even on the exact value") {
  CHECK(rounded(0.5) == "+0");
  CHECK(rounded(1.5) == "+2");
  CHECK(rounded(2.5) == "+2");
  CHECK(rounded(-0.5) == "-0");
  CHECK(rounded(-1.5) == "-2");
  CHECK(rounded(0.0) == "+0");
  CHECK(rounded(-0.0) == "-0");
  CHECK(rounded(-0.4) == "-0");
  CHECK(rounded(0.50000001) == "+1");
  CHECK(rounded(100, 0, hmn::Sign::minus_only) == "100");
  CHECK(rounded(0.25, 1) == "+0.2");
  CHECK(rounded(0.05, 1) == "+0.1");  // the double is a little above
  CHECK(rounded(1e300).size() == 302);
}

TEST_CASE("a device's free memory is one line") {
  CHECK(line(with_device(0, "NVIDIA Test GPU", 16384, 13284), DeviceFormat::free) ==
        "  GPU 0: free 13284 MB / 16384 MB [NVIDIA Test GPU]\n");
  CHECK(line(with_device(1, "", 8192, 4096), DeviceFormat::free) ==
        "  GPU 1: free 4096 MB / 8192 MB\n");
  CHECK(line(with_device(2, "Saturated GPU", 4096, 0), DeviceFormat::free) ==
        "  GPU 2: free 0 MB / 4096 MB [Saturated GPU]\n");
}

TEST_CASE("a device's total memory is one line") {
  CHECK(line(with_device(0, "NVIDIA Test GPU", 16384, 1), DeviceFormat::total) ==
        "  GPU 0: total 16384 MB [NVIDIA Test GPU]\n");
  CHECK(line(with_device(1, "", 8192, 1), DeviceFormat::total) == "  GPU 1: total 8192 MB\n");
  CHECK(line(with_device(2, "Saturated GPU", 4096, 0), DeviceFormat::total) ==
        "  GPU 2: total 4096 MB [Saturated GPU]\n");
}

TEST_CASE("a device's used memory is one line") {
  CHECK(line(with_device(0, "NVIDIA Test GPU", 16384, 16384 - 3100), DeviceFormat::used) ==
        "  GPU 0: used 3100 MB [NVIDIA Test GPU]\n");
  CHECK(line(with_device(1, "", 8192, 4096), DeviceFormat::used) == "  GPU 1: used 4096 MB\n");
  CHECK(line(with_device(2, "Idle GPU", 4096, 4096), DeviceFormat::used) ==
        "  GPU 2: used 0 MB [Idle GPU]\n");
}

TEST_CASE("MiB are rounded, not cut") {
  Snapshot s = with_device(0, "", 1, 0);
  s.pools[0].total = mib + mib / 2;
  CHECK(line(s, DeviceFormat::total) == "  GPU 0: total 2 MB\n");
  s.pools[0].total = 2 * mib + mib / 2;
  CHECK(line(s, DeviceFormat::total) == "  GPU 0: total 2 MB\n");
  s.pools[0].total = UINT64_MAX;
  CHECK(line(s, DeviceFormat::total) == "  GPU 0: total 17592186044416 MB\n");
}

TEST_CASE("the line is of the device at the position, by its own index") {
  Snapshot s = with_device(4, "four", 10, 5);
  s.devices.push_back(sample::device(9, "nine"));
  s.pools.push_back(sample::main_pool(9, 30 * mib, 10 * mib, 20 * mib));
  CHECK(line(s, DeviceFormat::free, 1) == "  GPU 9: free 20 MB / 30 MB [nine]\n");
}

TEST_CASE("a figure that is not known makes no line") {
  Snapshot s;
  CHECK(format_refusal(s, DeviceFormat::free) == hmn::Status::no_device);
  s.devices.push_back(sample::device(0, "GPU"));
  CHECK(format_refusal(s, DeviceFormat::free) == hmn::Status::empty);
  s.pools.push_back(sample::main_pool(0, {}, 1, 2));
  CHECK(format_refusal(s, DeviceFormat::free) == hmn::Status::empty);
  CHECK(format_refusal(s, DeviceFormat::total) == hmn::Status::empty);
  CHECK(line(s, DeviceFormat::used) == "  GPU 0: used 0 MB [GPU]\n");
  s.pools[0] = sample::main_pool(0, 1, {}, {});
  CHECK(format_refusal(s, DeviceFormat::used) == hmn::Status::empty);
  s.pools[0].is_main = false;
  CHECK(format_refusal(s, DeviceFormat::total) == hmn::Status::empty);
  CHECK(format_refusal(s, static_cast<DeviceFormat>(0)) == hmn::Status::range);
  CHECK(format_refusal(s, static_cast<DeviceFormat>(4)) == hmn::Status::range);
  CHECK(format_refusal(s, DeviceFormat::free, 1) == hmn::Status::no_device);
}
