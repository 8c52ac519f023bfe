// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amd_tool/source.hpp"

#include <algorithm>
#include <array>

#include "model/compose.hpp"
#include "model/pci_address.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::amd_tool {
namespace {

// Looks in the topology of the kernel's compute driver.
bool has_compute_node(const std::string& sys_root) {
  const std::string nodes = sys_root + "/class/kfd/kfd/topology/nodes";
  bool found = false;
  (void)platform::for_each_entry(nodes.c_str(), [&](std::string_view name) {
    std::array<char, 32> buffer;
    const auto got = platform::read_small(compose({nodes, "/", name, "/gpu_id"}).c_str(), buffer);
    std::string_view text(buffer.data(), got ? got.value : 0);
    found = scan::number(scan::take_line(text)).value_or(0) != 0;  // 0: a CPU
    return !found;
  });
  return found;
}

// Whether the tool's other queries would fail, too.
bool is_conclusive(const failure& why) {
  return why.code == status::no_source || why.code == status::permission;
}

// Some print the kernel's banner without blanks as the version: "Linuxversion6.14.0-24(…)…".
std::string_view version_of(std::string_view text) {
  constexpr std::string_view banner = "Linuxversion";
  if (text.starts_with(banner)) text.remove_prefix(banner.size());
  return text.substr(0, text.find('('));
}

}  // namespace

result<void> amd_source::probe() {
  if (result<void> here = tool_source::probe(); !here) return here;
  const bool is_on_bus = !pci::gpus_on_bus(proc_root_, sys_root_, vendor::amd, *on_bus_).empty();
  if (is_on_bus || has_compute_node(sys_root_)) return {};
  return fail(status::no_source, "no AMD GPU here");
}

result<void> amd_source::ask_values(reading& r) {
  if (program_.was_replaced()) {
    identity_ = {};
    is_plain_ = was_read_ = false;
  }
  // A query that did not answer in time last time comes second.
  const bool is_late = no_identity_ && no_identity_->code == status::timeout;
  no_identity_.reset();
  no_readings_.reset();
  now_ = {};
  const auto name = [&] {
    if (d_.identity.empty() || !identity_.cards.empty()) return;
    if (result<void> named = put(d_.identity, identity_, r); !named) no_identity_ = named.why();
  };
  if (!is_late) name();
  if (no_identity_ && is_conclusive(*no_identity_)) return *no_identity_;
  const result<void> reported = ask_readings(r);
  if (is_late) name();
  // Values of earlier readings are better than constant ones alone.
  if (!reported && (was_read_ || identity_.cards.empty())) {
    return no_identity_ ? *no_identity_ : reported;
  }
  was_read_ = was_read_ || reported;
  merge(now_, identity_);
  if (!reported) no_readings_ = reported.why();
  for (const auto& why : {no_identity_, no_readings_}) {
    if (why) diagnose(*why, subject::devices, 0, {}, r);
  }
  return {};
}

result<void> amd_source::ask_readings(reading& r) {
  if (!is_plain_) {
    result<void> reported = put(d_.readings, now_, r);
    if (reported || reported.why().code != status::unsupported) return reported;
    is_plain_ = true;
  }
  return put(d_.plain, now_, r);
}

result<void> amd_source::ask(reading& r) {
  result<void> reported = ask_values(r);
  for (std::size_t i = 0; reported && i < now_.cards.size(); ++i) adopt_card(i, r);
  return reported;
}

// Returns the address of the card. The tools write the number of a partition as that of a function,
// which the bus does not have.
text<32> amd_source::place_of(const card& c) const {
  const text<32> printed = normal_pci_address(scan::trim(c[field::bus].text.view()));
  const auto address = parse_pci_address(printed.view());
  if (!address || address->function == 0) return printed;
  const auto here = pci::gpus_on_bus(proc_root_, sys_root_, vendor::amd, *on_bus_);
  const auto has = [&](const pci_address& a) {
    return std::ranges::any_of(here, [&](const pci::gpu& g) { return g.address == a; });
  };
  pci_address whole = *address;
  whole.function = 0;
  return has(whole) && !has(*address) ? to_text(whole) : printed;
}

device amd_source::identity_of(const card& c) const {
  device who;
  who.from = d_.tool.fail.from;
  who.vendor = vendor::amd;
  who.state = state::ready;
  who.driver_index = c.index;
  who.name.assign(c[field::name].has_value() ? c[field::name].text.view() : std::string_view());
  who.pci_bus_id = place_of(c);
  const field_amount& id = c[field::unique_id];
  if (id.has_value() && id.whole != 0) who.uuid.assign(compose({"GPU-", hex(id.whole, 16)}));
  const field_amount& model = c[field::pci_device];
  if (model.has_value() && model.whole <= 0xFFFF) {
    who.pci_device = static_cast<std::uint32_t>(model.whole);
  }
  const field_amount& driver = c[field::driver];
  who.driver_version.assign(
      version_of(driver.has_value() ? driver.text.view() : now_.driver.view()));
  if (c[field::name].text.was_cut()) who.notes |= note::truncated;
  return who;
}

void amd_source::adopt_card(std::size_t at, reading& r) {
  const card& c = now_.cards[at];
  if (!c.is_reported()) return;
  const device who = identity_of(c);
  const known_gpu* const k = adopt(who, at);
  if (k == nullptr) {
    return diagnose(
        fail(status::unsupported, {d_.tool.name, " lists more than one GPU at ",
                                   who.pci_bus_id.view(), " (partitions); only the first is read"}),
        subject::devices, 0, find(who), r);
  }
  if (k->who.name.empty()) {
    report(c, field::name, device_field::name, subject::devices, k->who.number, r);
  }
  if (k->who.pci_bus_id.empty()) {
    report(c, field::bus, device_field::pci_bus_id, subject::devices, k->who.number, r);
  }
}

result<const card*> amd_source::card_of(slot number, reading& r) {
  result<std::size_t> at = row_of(number, r);
  if (!at) return at.why();
  return &now_.cards[*at];
}

}  // namespace hmn::amd_tool
