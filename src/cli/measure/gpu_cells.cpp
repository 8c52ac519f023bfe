// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/gpu_cells.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/measure/freshness.hpp"
#include "cli/text/escape.hpp"
#include "cli/text/memory_line.hpp"
#include "cli/text/numbers.hpp"
#include "cli/text/width.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::run_state;
using cell = table::cell;

constexpr double warm_celsius = 80;
constexpr double hot_celsius = 90;
constexpr std::size_t whole_name = 4096;

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Removes a vendor's word at the begin: "Intel(R) Arc" without "Intel" is "Arc".
std::string_view without_vendor(std::string_view name, std::string_view vendor) {
  if (vendor.empty() || !name.starts_with(vendor)) return name;
  auto rest = name.substr(vendor.size());
  for (const std::string_view suffix : {"(R)", " Corporation"})
    if (rest.starts_with(suffix)) rest.remove_prefix(suffix.size());
  return rest.size() > 1 && rest.front() == ' ' ? rest.substr(1) : name;
}

std::string_view sign_of(const gpu_status& of, gpu_value which) {
  return sign_of_missing(of.why_missing(which).is_unsupported);
}

cell missing_cell(const gpu_status& of, gpu_value which) {
  if (state_of(of.of)) return {};
  return {std::string(sign_of(of, which)), tone::faint};
}

tone tone_of_age(hypomnesis::note notes, tone fresh = tone::plain) {
  return is_fresh(notes) ? fresh : tone::faint;
}

tone tone_of_state(run_state of) {
  return of == run_state::asleep ? tone::faint : tone::bad;
}

// Returns a unit with its space; in compact form it is in the title.
std::string unit(std::string_view name, spacing with) {
  return with == spacing::roomy ? fmt::format(" {}", name) : std::string();
}

std::string slash(spacing with) {
  return with == spacing::roomy ? " / " : "/";
}

std::string sum_text(const usage_tally& of) {
  const auto bytes = of.bytes();
  return bytes ? (of.is_at_least() ? ">=" : "") + gib_text(*bytes) : "?";
}

std::string user_text(const usage_group& of, std::size_t longest, const style& as) {
  std::string name = of.name.value_or("?");
  if (!name.empty() && all_digits(name)) name = "uid " + name;
  return fmt::format("{} {}",
                     cut_middle(escape_for_text(name, as.ascii_only), longest, ellipsis_of(as)),
                     sum_text(of.total));
}

// Names the first users, and adds up the others.
std::string users_text(const std::vector<usage_group>& users, std::size_t named,
                       std::size_t longest, const style& as) {
  std::string text;
  for (std::size_t i = 0; i < named; ++i)
    text += (i == 0 ? "" : ", ") + user_text(users[i], longest, as);
  if (named == users.size()) return text;
  std::uint64_t bytes = 0;
  bool is_at_least = false;
  for (std::size_t i = named; i < users.size(); ++i) {
    bytes += users[i].total.bytes().value_or(0);
    is_at_least = is_at_least || users[i].total.is_at_least();
  }
  const auto others = users.size() - named;
  const auto sum = (is_at_least ? ">=" : "") + gib_text(bytes);
  return named == 0 ? fmt::format("{} users {}", others, sum)
                    : fmt::format("{}, +{} {}", text, others, sum);
}

}  // namespace

std::string short_name(const gpu& of, const gpu* parent) {
  const auto& name = of.device.name;
  if (!name) return shown_name(of).value_or("?");
  if (parent != nullptr && parent->device.name && name->starts_with(*parent->device.name + " "))
    return name->substr(parent->device.name->size() + 1);
  return std::string(without_vendor(*name, vendor_name(of.device.vendor).value_or("")));
}

std::string amount_text(std::string_view mark, std::optional<std::uint64_t> used,
                        std::optional<std::uint64_t> total, spacing with,
                        std::string_view sign_of_used) {
  return fmt::format("{}{}{}{}{}", used ? mark : "",
                     used ? gib_text(*used) : std::string(sign_of_used), slash(with),
                     total ? gib_text(*total) : "?", unit("GiB", with));
}

cell load_cell(const gpu_status& of, spacing with) {
  if (const auto state = state_of(of.of))
    return {std::string(*state), tone_of_state(of.of.device.state)};
  if (!of.telemetry || !of.telemetry->gpu_busy_percent) return missing_cell(of, gpu_value::load);
  return {fmt::format("{:.0f}{}", *of.telemetry->gpu_busy_percent, unit("%", with)),
          tone_of_age(of.telemetry->notes)};
}

cell memory_cell(const gpu_status& of, spacing with) {
  const auto used = used_bytes_of(of.of);
  const auto total = of.of.memory ? of.of.memory->total_bytes : std::nullopt;
  if (!used && !total) return missing_cell(of, gpu_value::used);
  const auto notes = of.of.memory->notes;
  return {amount_text(mark_of(notes), used, total, with, sign_of(of, gpu_value::used)),
          tone_of_age(notes)};
}

cell temperature_cell(const gpu_status& of, spacing with, const style& as) {
  if (!of.telemetry || !of.telemetry->temperature_celsius)
    return missing_cell(of, gpu_value::temperature);
  const auto celsius = *of.telemetry->temperature_celsius;
  const auto how = celsius >= hot_celsius    ? tone::bad
                   : celsius >= warm_celsius ? tone::warning
                                             : tone::plain;
  return {fmt::format("{:.0f}{}", celsius, unit(as.ascii_only ? "C" : "\u00b0C", with)),
          tone_of_age(of.telemetry->notes, how)};
}

cell power_cell(const gpu_status& of, spacing with) {
  if (!of.telemetry || (!of.telemetry->power_watts && !of.telemetry->power_limit_watts))
    return missing_cell(of, gpu_value::power);
  const auto& values = *of.telemetry;
  auto text = values.power_watts ? fmt::format("{:.0f}", *values.power_watts)
                                 : std::string(sign_of(of, gpu_value::power));
  if (values.power_limit_watts)
    text += slash(with) + fmt::format("{:.0f}", *values.power_limit_watts);
  return {text + unit("W", with), tone_of_age(values.notes)};
}

cell users_cell(const gpu_status& of, shown_users which, const style& as) {
  if (of.users.empty())
    return of.why_missing(gpu_value::users).is_missing ? missing_cell(of, gpu_value::users)
                                                       : cell{};
  cell out{users_text(of.users, of.users.size(), whole_name, as), tone::plain, {}};
  if (which == shown_users::all) return out;
  for (auto named = of.users.size(); named > 0; --named)
    for (const std::size_t longest : {whole_name, std::size_t{16}, std::size_t{10}})
      out.shorter.push_back(users_text(of.users, named, longest, as));
  if (which == shown_users::sum && of.users.size() > 1)
    out.shorter.push_back(users_text(of.users, 0, whole_name, as));
  return out;
}

}  // namespace hmn::cli
