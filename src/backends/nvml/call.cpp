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

struct Meaning {
  Code number;
  Status means;
  std::string_view sentence;
};

constexpr std::array meanings{
    Meaning{late, Status::timeout, "not asked any more, the deadline has passed"},
    Meaning{set_aside, Status::timeout,
            "a driver call for this device has not returned: it hangs or, without persistence "
            "mode, is still starting; see 'dmesg' for Xid lines"},
    Meaning{no_symbol, Status::unsupported,
            "this driver's NVML does not have this function; a newer driver may"},
    Meaning{not_offered, Status::unsupported, "not reported of a device like this"},
    Meaning{of_whole_gpu, Status::unsupported,
            "of the whole GPU, not of this instance: see the GPU's own row"},
    Meaning{unusable, Status::backend,
            "the driver reports success without a value that can be used"},
    Meaning{contradictory, Status::backend,
            "its values do not add up to the total; they are left out"},
    Meaning{success, Status::ok, "done"},
    Meaning{
        uninitialized, Status::backend,
        "the driver was reloaded or NVML was shut down; it is opened again at the next reading"},
    Meaning{invalid_argument, Status::backend,
            "the driver refuses the device or the request; the device may have been replaced"},
    Meaning{not_supported, Status::unsupported, "this device or driver has no such value"},
    Meaning{no_permission, Status::permission,
            "the driver refuses this user; run as root, or let the administrator allow it"},
    Meaning{already_initialized, Status::backend, "NVML is open already"},
    Meaning{not_found, Status::unsupported, "the driver knows no such thing"},
    Meaning{insufficient_size, Status::backend,
            "the answer does not fit any size that was offered"},
    Meaning{insufficient_power, Status::backend,
            "the GPU's external power cables are not attached properly"},
    Meaning{
        driver_not_loaded, Status::no_source,
        "the NVIDIA driver is not loaded; load it with 'modprobe nvidia', in a container start it "
        "with GPU access, or install the driver"},
    Meaning{timed_out, Status::timeout, "the driver did not answer in time"},
    Meaning{irq_issue, Status::backend,
            "the kernel has an interrupt problem with the GPU; see 'dmesg' for NVRM lines"},
    Meaning{library_not_found, Status::no_source,
            "a part of the driver's user-space libraries is missing; reinstall the NVIDIA driver"},
    Meaning{function_not_found, Status::unsupported,
            "the driver does not have this function; a newer one may"},
    Meaning{corrupted_inforom, Status::backend, "the card's infoROM is corrupted"},
    Meaning{
        gpu_is_lost, Status::device_lost,
        "the GPU has fallen off the bus or was unplugged; see 'dmesg' for Xid lines, then reset "
        "the GPU or reboot"},
    Meaning{reset_required, Status::backend,
            "the GPU must be reset before it answers again: 'nvidia-smi --gpu-reset', or reboot"},
    Meaning{operating_system, Status::permission,
            "the system or a cgroup blocks the GPU's device nodes; give the container or service "
            "access to /dev/nvidia*"},
    Meaning{
        version_mismatch, Status::backend,
        "driver library and kernel module differ, as after an update; reload the nvidia modules "
        "or reboot"},
    Meaning{in_use, Status::backend, "the GPU is in exclusive use; try again later"},
    Meaning{out_of_memory, Status::no_memory, "the driver ran out of memory"},
    Meaning{no_data, Status::empty, "the driver has no data yet"},
    Meaning{vgpu_ecc_not_supported, Status::unsupported, "not available while ECC is on"},
    Meaning{insufficient_resources, Status::backend,
            "the driver ran out of a resource; try again later"},
    Meaning{freq_not_supported, Status::unsupported, "the card does not support this frequency"},
    Meaning{argument_version_mismatch, Status::unsupported,
            "this driver does not know the version of this request; a newer driver may"},
    Meaning{deprecated, Status::unsupported, "this driver has dropped this function"},
    Meaning{not_ready, Status::backend, "the driver is not ready yet; try again in a moment"},
    Meaning{gpu_not_found, Status::no_source,
            "the driver finds no GPU that it can use; see 'dmesg' for NVRM lines"},
    Meaning{invalid_state, Status::backend, "the GPU is not in a state that allows this"},
    Meaning{reset_type_not_supported, Status::unsupported, "the device has no such reset"},
    Meaning{unknown, Status::backend,
            "an internal error of the driver; see 'dmesg' for NVRM lines, a reboot may help"},
};

constexpr Meaning unlisted{unknown, Status::backend, "a code that this version does not know"};

const Meaning& meaning_of(Code c) noexcept {
  for (const Meaning& m : meanings) {
    if (m.number == c) return m;
  }
  return unlisted;
}

Diagnostic diagnostic_of(const Topic& t, const Failure& why) {
  Diagnostic d;
  d.why = why;
  d.about = t.about;
  d.device = t.device;
  d.pid = t.pid;
  return d;
}

}  // namespace

void CallText::add(std::initializer_list<Piece> pieces) noexcept {
  length_ += compose_in(std::span(bytes_).subspan(length_), pieces).size();
}

void CallText::add_quoted(std::string_view text) noexcept {
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

void CallText::add_value(const void* address) noexcept {
  add({"0x", hex(reinterpret_cast<std::uintptr_t>(address))});
}

// As words, since drivers differ in the layout of a row.
void CallText::add_outputs(Handle, RowCount* count, void* rows) noexcept {
  std::uint32_t words[most_rows_shown][6];
  const unsigned shown = std::min(count->value, most_rows_shown);
  std::memcpy(words, rows, shown * sizeof words[0]);
  add({", ", count->value});
  for (const auto& row : std::span(words).first(shown)) {
    const char* before = ", words=0x";
    for (const std::uint32_t word : row) add({std::exchange(before, ", 0x"), hex(word)});
  }
}

void CallText::add_outputs(Handle, ProcessSample* samples, RowCount* count,
                           unsigned long long) noexcept {
  const unsigned shown = samples != nullptr ? std::min(count->value, most_rows_shown) : 0;
  for (unsigned i = 0; i < shown; ++i) add_output(samples + i);
  add({", ", count->value});
}

void CallText::add_outputs(Handle, int count, FieldValue* fields) noexcept {
  for (int i = 0; i < count; ++i) add_output(fields + i);
}

void NamedSymbol::find(const platform::Library& in, Reach answers,
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

void Symbols::find(const platform::Library& in) noexcept {
#define HMN_NVML_FIND(member, answers, parameters, ...) \
  member.find(in, Reach::answers, {__VA_ARGS__});
  HMN_NVML_FUNCTIONS(HMN_NVML_FIND)
#undef HMN_NVML_FIND
}

Result<platform::Library> open_library(const Settings& s) {
  const bool is_chosen = !s.nvml_path.empty();
  const auto places = library_places();
  auto found = platform::Library::open(is_chosen ? s.nvml_path.c_str() : places.front());
  for (const char* path : places.subspan(1)) {
    if (found || is_chosen) break;
    if (platform::exists(path)) found = platform::Library::open(path);
  }
  if (found) return std::move(found.value);
  const std::string help = found.is_missing && !is_chosen ? advice(s) : "";
  return fail(found.is_missing ? Status::no_source : Status::backend,
              {found.error_text, help.empty() ? "" : ": ", help});
}

Status status_of(Code c) noexcept {
  return meaning_of(c).means;
}

bool ends_it(Code c) noexcept {
  return c == gpu_is_lost || c == uninitialized || c == reset_required || c == late;
}

Failure failure_for(Code c, const char* what) {
  const Meaning& m = meaning_of(c);
  if (!is_of_driver(c)) {
    const bool cannot_be = c == unusable || c == contradictory;
    Failure own = with_reason(cannot_be ? Reason::implausible : Reason::unknown,
                              fail(m.means, {what, ": ", m.sentence}));
    own.lasts = c == not_offered || c == of_whole_gpu;
    return own;
  }
  const auto returned = static_cast<std::int32_t>(c);
  return {m.means,
          Source::nvml,
          {NativeDomain::nvml, returned},
          {what, ": ", m.sentence, " (NVML code ", returned, ")"},
          Reason::unknown,
          c == not_supported};
}

void Topic::diagnose(const Failure& why, FieldSet field, std::uint32_t notes) const {
  Diagnostic d = diagnostic_of(*this, why);
  d.field = field;
  d.notes = notes;
  r.diagnose(d);
}

void Topic::report(Status found, std::initializer_list<Piece> message, FieldSet field,
                   Reason stated, std::uint32_t notes) const {
  if (wants()) diagnose(with_reason(stated, fail(found, message)), field, notes);
}

void Topic::missing(Code c, const char* what, FieldSet field) const {
  if (wants()) diagnose(failure_for(c, what), field);
}

void Topic::left_out(const NamedSymbol& what, FieldSet field) const {
  if (is_of_whole(what)) return missing(of_whole_gpu, what.name(), field);
  report(Status::unsupported,
         {what.name(), ": takes milliseconds, so that it is not asked at every interval"}, field,
         Reason::not_yet);
}

Topic Topic::of_device(Slot number) const noexcept {
  return {r, about, number, {}};
}

Topic Topic::of_process(std::uint32_t number) const noexcept {
  return {r, about, device, number};
}

Code Topic::why_not(const NamedSymbol& f) const noexcept {
  if (refused != success) return refused;
  if (is_of_whole(f)) return of_whole_gpu;
  if (!f) return no_symbol;
  return is_late() ? late : success;
}

void Topic::trace(const Failure& outcome, std::uint64_t duration_ns) const {
  Diagnostic d = diagnostic_of(*this, outcome);
  d.notes = note::trace;
  d.duration_ns = duration_ns;
  r.diagnose(d);
}

}  // namespace hmn::nvml
