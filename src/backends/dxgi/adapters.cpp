// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/dxgi/adapters.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "model/compose.hpp"
#include "platform/utf16.hpp"

namespace hmn::dxgi {
namespace {

constexpr std::uint32_t most_adapters = 64;
constexpr std::uint32_t vendor_microsoft = 0x1414;
constexpr std::uint32_t basic_render = 0x8c;

bool is_software(const description& d) noexcept {
  return (d.flags & flag_software) != 0 ||
         (d.vendor == vendor_microsoft && d.device == basic_render);
}

// A success that describes nothing.
bool is_untouched(const description& d) noexcept {
  return d.vendor == 0 && d.luid_high == 0 && d.luid_low == 0;
}

// Formats four numbers of 16 bits.
std::string version_text(std::int64_t version) {
  const auto v = static_cast<std::uint64_t>(version);
  return compose({v >> 48U, ".", v >> 32U & 0xFFFFU, ".", v >> 16U & 0xFFFFU, ".", v & 0xFFFFU});
}

void diagnose(reading& r, const failure& why) {
  if (!r.wants_diagnostics()) return;
  diagnostic d;
  d.why = why;
  d.about = subject::devices;
  r.diagnose(d);
}

adapter to_adapter(const description& d, const adapter1& of) {
  adapter out;
  out.id = wddm::make_luid(d.luid_high, d.luid_low);
  out.vendor = d.vendor;
  out.device = d.device;
  out.subsystem = d.subsystem;
  out.dedicated = d.dedicated_video;
  out.shared = d.shared_system;
  const std::u16string_view name(d.name, std::size(d.name));
  out.name = platform::to_utf8(name.substr(0, name.find(u'\0')));
  std::int64_t version = 0;
  if (!is_failure(of->supports(of.get(), &device_id, &version)) && version != 0) {
    out.driver_version = version_text(version);
  }
  out.memory = of.as<adapter3_functions>(adapter3_id, out.no_memory);
  return out;
}

}  // namespace

bool adapters::are_old() const noexcept {
  return !factory_ || factory_->is_current(factory_.get()) == 0;
}

void adapters::clear() noexcept {
  all_.clear();
  factory_ = factory();
}

result<void> adapters::open() {
  if (create_ == nullptr) {
    auto opened = platform::library::open("dxgi.dll");
    if (!opened) return failure{status::no_source, source::dxgi, {}, opened.error_text};
    create_ = reinterpret_cast<create_factory>(opened.value.symbol("CreateDXGIFactory1"));
    if (create_ == nullptr) {
      return failure{status::no_source, source::dxgi, {}, "dxgi.dll has no CreateDXGIFactory1"};
    }
    library_ = std::move(opened.value);
  }
  void* made = nullptr;
  const code c = create_(&factory1_id, &made);
  if (!is_failure(c) && made != nullptr) {
    factory_ = factory(made);
    return {};
  }
  if (c == unsupported)
    return fail(status::no_source, "this Windows has no graphics to list", native_number(c));
  return fail(status::backend, "CreateDXGIFactory1 failed", native_number(c));
}

result<void> adapters::list(reading& r) {
  clear();
  if (result<void> ok = open(); !ok) return ok;
  std::optional<failure> last;
  for (std::uint32_t i = 0; i < most_adapters; ++i) {
    if (last) diagnose(r, *std::exchange(last, {}));
    void* found = nullptr;
    const code c = factory_->adapter(factory_.get(), i, &found);
    if (c == not_found) return {};
    if (is_failure(c) || found == nullptr) {
      // Equal for each, so that all of them are one diagnostic.
      last = fail(status::backend, "DXGI does not give an adapter", native_number(c));
      continue;
    }
    const adapter1 of(found);
    description d{};
    const code reported = of->describe(of.get(), &d);
    if (is_failure(reported) || is_untouched(d)) {
      diagnose(r, fail(status::backend, {"DXGI does not describe adapter ", i},
                       native_number(reported)));
      continue;
    }
    if (is_software(d)) continue;
    const auto id = wddm::make_luid(d.luid_high, d.luid_low);
    const bool is_known =
        std::any_of(all_.begin(), all_.end(), [id](const adapter& a) { return a.id == id; });
    if (!is_known) all_.push_back(to_adapter(d, of));
  }
  if (!last) return {};
  if (all_.empty()) return *last;
  diagnose(r, *last);
  return {};
}

}  // namespace hmn::dxgi
