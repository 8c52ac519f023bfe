// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include "cards.hpp"
#include "machine.hpp"

using namespace hmn;
using namespace amdgpu_test;
using namespace drm_test;

TEST_CASE("on a card used memory of a client is its VRAM, and GTT is its host memory") {
  Machine machine;
  machine.add_pci(navi(), {card0, render128});
  machine.add_process(42, {{3, "/dev/null", client_text("0000:03:00.0", 7, 2048, 512)}});
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].source == Source::amdgpu);
  CHECK(rows[0].accounting == Accounting::resident);
  CHECK(rows[0].used == 2048 * kib);
  CHECK(rows[0].committed == 2048 * kib);
  CHECK(rows[0].host_pool == 512 * kib);
  CHECK(rows[0].evicted == 64 * kib);
  CHECK(rows[0].kinds == usage_kind::graphics);
}

TEST_CASE("on an APU a client uses both pools") {
  Machine machine;
  machine.add_pci(phoenix(), {card0, render128});
  machine.add_process(42, {{3, "/dev/null", client_text("0000:64:00.0", 7, 2048, 512)}});
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].used == 2560 * kib);
  CHECK(rows[0].host_pool == 512 * kib);
}

TEST_CASE("kernels without drm-total- report requested memory by amd-requested-vram") {
  Machine machine;
  machine.add_pci(navi(), {card0, render128});
  machine.add_process(42,
                      {{3, "/dev/null",
                        "pasid:\t32770\ndrm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\n"
                        "drm-client-id:\t5\ndrm-memory-vram:\t100 KiB\ndrm-memory-gtt: \t20 KiB\n"
                        "drm-memory-cpu: \t3 KiB\namd-evicted-vram:\t10 KiB\n"
                        "amd-requested-vram:\t110 KiB\n"}});
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].used == 100 * kib);
  CHECK(rows[0].committed == 110 * kib);
  CHECK(rows[0].evicted == 10 * kib);
  CHECK(rows[0].host_pool == 23 * kib);
}

TEST_CASE("regions that are not memory are not counted") {
  Machine machine;
  machine.add_pci(navi(), {card0, render128});
  std::string text = client_text("0000:03:00.0", 7, 100, 0);
  text += "drm-total-gds:\t4 KiB\ndrm-resident-gds:\t4 KiB\ndrm-total-doorbell:\t8 KiB\n";
  machine.add_process(42, {{3, "/dev/null", text}});
  PlainReading reading;
  machine.devices(reading);
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].used == 100 * kib);
  CHECK(rows[0].host_pool == 0u);
}
