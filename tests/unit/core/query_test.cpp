// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/query.hpp"

#include <doctest/doctest.h>

#include "source/interface.hpp"

using namespace hmn;

namespace {

// Its device has no name, so that core has something to say about the list.
class unnamed_source final : public device_source {
 public:
  unnamed_source() : device_source(source::nvml, calls::may_block) {}

  result<void> devices(std::vector<device>& out, reading& r) override {
    static_cast<void>(r.may_ask(0, 2));
    out.emplace_back().name.assign("Device 10de:2204");
    return {};
  }
};

struct watched_reading final : reading {
  [[nodiscard]] std::uint64_t deadline_ns() const noexcept override { return 0; }
  [[nodiscard]] bool wants_trace() const noexcept override { return false; }
  bool may_ask(std::uint32_t, std::size_t) noexcept override { return is_asking = true; }
  void answered() noexcept override { is_asking = false; }
  void diagnose(const diagnostic&) override {
    ++diagnosed;
    CHECK_FALSE(is_asking);
  }
  void opening() noexcept override {}
  void opened() noexcept override {}

  bool is_asking = false;
  int diagnosed = 0;
};

}  // namespace

TEST_CASE("what core does with a list of devices is not charged to the last one") {
  unnamed_source from;
  watched_reading r;
  source_cache out;
  plan p;
  p.list = true;
  static_cast<void>(query(from, p, out, r, [](device_cache*) {}));
  CHECK(r.diagnosed == 1);
}
