// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/call.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "backends/nvml/system.hpp"
#include "model/message_text.hpp"
#include "platform/file.hpp"

namespace hmn::nvml {
namespace {

constexpr unsigned most_rows_shown = 2;

struct meaning {
  code number;
  status means;
  std::string_view sentence;
};

constexpr std::array meanings{
    meaning{late, status::timeout, "not asked any more, the deadline has passed"},
    meaning{set_aside, status::timeout,
            "a driver call for this device has not returned: it hangs or, without persistence "
            "mode, is still starting; see 'dmesg' for Xid lines"},
    meaning{no_symbol, status::unsupported,
            "this driver's NVML does not have this function; a newer driver may"},
    meaning{not_offered, status::unsupported, "not reported of a device like this"},
    meaning{of_whole_gpu, status::unsupported,
            "of the whole GPU, not of this instance: see the GPU's own row"},
    meaning{unusable, status::backend,
            "the driver reports success without a value that can be used"},
    meaning{contradictory, status::backend,
            "its values do not add up to the total; they are left out"},
    meaning{success, status::ok, "done"},
    meaning{
        uninitialized, status::backend,
        "the driver was reloaded or NVML was shut down; it is opened again at the next reading"},
    meaning{invalid_argument, status::backend,
            "the driver refuses the device or the request; the device may have been replaced"},
    meaning{not_supported, status::unsupported, "this device or driver has no such value"},
    meaning{no_permission, status::permission,
            "the driver refuses this user; run as root, or let the administrator allow it"},
    meaning{already_initialized, status::backend, "NVML is open already"},
    meaning{not_found, status::unsupported, "the driver knows no such thing"},
    meaning{insufficient_size, status::backend,
            "the answer does not fit any size that was offered"},
    meaning{insufficient_power, status::backend,
            "the GPU's external power cables are not attached properly"},
    meaning{
        driver_not_loaded, status::no_source,
        "the NVIDIA driver is not loaded; load it with 'modprobe nvidia', in a container start it "
        "with GPU access, or install the driver"},
    meaning{timed_out, status::timeout, "the driver did not answer in time"},
    meaning{irq_issue, status::backend,
            "the kernel has an interrupt problem with the GPU; see 'dmesg' for NVRM lines"},
    meaning{library_not_found, status::no_source,
            "a part of the driver's user-space libraries is missing; reinstall the NVIDIA driver"},
    meaning{function_not_found, status::unsupported,
            "the driver does not have this function; a newer one may"},
    meaning{corrupted_inforom, status::backend, "the card's infoROM is corrupted"},
    meaning{
        gpu_is_lost, status::device_lost,
        "the GPU has fallen off the bus or was unplugged; see 'dmesg' for Xid lines, then reset "
        "the GPU or reboot"},
    meaning{reset_required, status::backend,
            "the GPU must be reset before it answers again: 'nvidia-smi --gpu-reset', or reboot"},
    meaning{operating_system, status::permission,
            "the system or a cgroup blocks the GPU's device nodes; give the container or service "
            "access to /dev/nvidia*"},
    meaning{
        version_mismatch, status::backend,
        "driver library and kernel module differ, as after an update; reload the nvidia modules "
        "or reboot"},
    meaning{in_use, status::backend, "the GPU is in exclusive use; try again later"},
    meaning{out_of_memory, status::no_memory, "the driver ran out of memory"},
    meaning{no_data, status::empty, "the driver has no data yet"},
    meaning{vgpu_ecc_not_supported, status::unsupported, "not available while ECC is on"},
    meaning{insufficient_resources, status::backend,
            "the driver ran out of a resource; try again later"},
    meaning{freq_not_supported, status::unsupported, "the card does not support this frequency"},
    meaning{argument_version_mismatch, status::unsupported,
            "this driver does not know the version of this request; a newer driver may"},
    meaning{deprecated, status::unsupported, "this driver has dropped this function"},
    meaning{not_ready, status::backend, "the driver is not ready yet; try again in a moment"},
    meaning{gpu_not_found, status::no_source,
            "the driver finds no GPU that it can use; see 'dmesg' for NVRM lines"},
    meaning{invalid_state, status::backend, "the GPU is not in a state that allows this"},
    meaning{reset_type_not_supported, status::unsupported, "the device has no such reset"},
    meaning{unknown, status::backend,
            "an internal error of the driver; see 'dmesg' for NVRM lines, a reboot may help"},
};

constexpr meaning unlisted{unknown, status::backend, "a code that this version does not know"};

const meaning& meaning_of(code c) noexcept {
  for (const meaning& m : meanings) {
    if (m.number == c) return m;
  }
  return unlisted;
}

diagnostic diagnostic_of(const topic& t, const failure& why) {
  diagnostic d;
  d.why = why;
  d.about = t.about;
  d.device = t.device;
  d.pid = t.pid;
  return d;
}

}  // namespace

void call_text::add(std::initializer_list<piece> pieces) noexcept {
  length_ += compose_in(std::span(bytes_).subspan(length_), pieces).size();
}

void call_text::add_quoted(std::string_view text) noexcept {
  add({"\""});
  for (const char& c : text) {
    if (c >= ' ' && c <= '~') {
      add({std::string_view(&c, 1)});
    } else {
      add({"\\x", hex(static_cast<unsigned char>(c), 2)});
    }
  }
  add({"\""});
}

void call_text::add_value(const void* address) noexcept {
  add({"0x", hex(reinterpret_cast<std::uintptr_t>(address))});
}

// As words, since drivers differ in the layout of a row.
void call_text::add_outputs(handle, row_count* count, void* rows) noexcept {
  std::uint32_t words[most_rows_shown][6];
  const unsigned shown = std::min(count->value, most_rows_shown);
  std::memcpy(words, rows, shown * sizeof words[0]);
  add({", ", count->value});
  for (const auto& row : std::span(words).first(shown)) {
    const char* before = ", words=0x";
    for (const std::uint32_t word : row) add({std::exchange(before, ", 0x"), hex(word)});
  }
}

void call_text::add_outputs(handle, process_sample* samples, row_count* count,
                            unsigned long long) noexcept {
  const unsigned shown = samples != nullptr ? std::min(count->value, most_rows_shown) : 0;
  for (unsigned i = 0; i < shown; ++i) add_output(samples + i);
  add({", ", count->value});
}

void call_text::add_outputs(handle, int count, field_value* fields) noexcept {
  for (int i = 0; i < count; ++i) add_output(fields + i);
}

void named_symbol::find(const platform::library& in, reach answers,
                        std::initializer_list<const char*> names) noexcept {
  *this = {nullptr, *names.begin(), 0, answers};
  std::uint8_t nth = 0;
  for (const char* name : names) {
    if (void* const found = in.symbol(name)) {
      *this = {found, name, nth, answers};
      return;
    }
    ++nth;
  }
}

void symbols::find(const platform::library& in) noexcept {
#define HMN_NVML_FIND(member, answers, parameters, ...) \
  member.find(in, reach::answers, {__VA_ARGS__});
  HMN_NVML_FUNCTIONS(HMN_NVML_FIND)
#undef HMN_NVML_FIND
}

result<platform::library> open_library(const settings& s) {
  const bool is_chosen = !s.nvml_path.empty();
  const auto places = library_places();
  auto found = platform::library::open(is_chosen ? s.nvml_path.c_str() : places.front());
  for (const char* path : places.subspan(1)) {
    if (found || is_chosen) break;
    if (platform::exists(path)) found = platform::library::open(path);
  }
  if (found) return std::move(found.value);
  const std::string help = found.is_missing && !is_chosen ? advice(s) : "";
  return fail(found.is_missing ? status::no_source : status::backend,
              {found.error_text, help.empty() ? "" : ": ", help});
}

status status_of(code c) noexcept {
  return meaning_of(c).means;
}

bool ends_it(code c) noexcept {
  return c == gpu_is_lost || c == uninitialized || c == reset_required || c == late;
}

failure failure_for(code c, const char* what) {
  const meaning& m = meaning_of(c);
  if (!is_of_driver(c)) {
    const bool cannot_be = c == unusable || c == contradictory;
    failure own = with_reason(cannot_be ? reason::implausible : reason::unknown,
                              fail(m.means, {what, ": ", m.sentence}));
    own.lasts = c == not_offered || c == of_whole_gpu;
    return own;
  }
  const auto returned = static_cast<std::int32_t>(c);
  return {m.means,
          source::nvml,
          {native_domain::nvml, returned},
          {what, ": ", m.sentence, " (NVML code ", returned, ")"},
          reason::unknown,
          c == not_supported};
}

void topic::diagnose(const failure& why, FieldSet field, std::uint32_t notes) const {
  diagnostic d = diagnostic_of(*this, why);
  d.field = field;
  d.notes = notes;
  r.diagnose(d);
}

void topic::report(status found, std::initializer_list<piece> message, FieldSet field,
                   reason stated, std::uint32_t notes) const {
  if (wants()) diagnose(with_reason(stated, fail(found, message)), field, notes);
}

void topic::missing(code c, const char* what, FieldSet field) const {
  if (wants()) diagnose(failure_for(c, what), field);
}

void topic::left_out(const named_symbol& what, FieldSet field) const {
  if (is_of_whole(what)) return missing(of_whole_gpu, what.name(), field);
  report(status::unsupported,
         {what.name(), ": takes milliseconds, so that it is not asked at every interval"}, field,
         reason::not_yet);
}

topic topic::of_device(slot number) const noexcept {
  return {r, about, number, {}};
}

topic topic::of_process(std::uint32_t number) const noexcept {
  return {r, about, device, number};
}

code topic::why_not(const named_symbol& f) const noexcept {
  if (refused != success) return refused;
  if (is_of_whole(f)) return of_whole_gpu;
  if (!f) return no_symbol;
  return is_late() ? late : success;
}

void topic::trace(const failure& outcome, std::uint64_t duration_ns) const {
  diagnostic d = diagnostic_of(*this, outcome);
  d.notes = note::trace;
  d.duration_ns = duration_ns;
  r.diagnose(d);
}

}  // namespace hmn::nvml
