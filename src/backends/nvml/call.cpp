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

constexpr unsigned max_traced_rows = 2;

struct Meaning {
  Code code;
  Status status;
  std::string_view sentence;
};

constexpr std::array meanings{
    Meaning{late, Status::timeout, "skipped: the deadline has passed"},
    Meaning{set_aside, Status::timeout,
            "a driver call for this device has not returned: it hangs or, without persistence "
            "mode, is still starting; see 'dmesg' for Xid lines"},
    Meaning{no_symbol, Status::unsupported,
            "this driver's NVML does not have this function; a newer driver may"},
    Meaning{not_offered, Status::unsupported, "not reported of a device like this"},
    Meaning{whole_gpu_only, Status::unsupported,
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
    Meaning{not_supported, Status::unsupported, "not supported by this device or driver"},
    Meaning{no_permission, Status::permission,
            "the driver refuses this user; run as root, or let the administrator allow it"},
    Meaning{already_initialized, Status::backend, "NVML is open already"},
    Meaning{not_found, Status::unsupported, "not found"},
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

constexpr Meaning unlisted_code{unknown, Status::backend, "a code that this version does not know"};

const Meaning& find_meaning(Code code) noexcept {
  for (const Meaning& meaning : meanings) {
    if (meaning.code == code) return meaning;
  }
  return unlisted_code;
}

Diagnostic make_diagnostic(const CallContext& context, const Failure& failure) {
  Diagnostic diagnostic;
  diagnostic.failure = failure;
  diagnostic.subject = context.subject;
  diagnostic.device = context.device;
  diagnostic.pid = context.pid;
  return diagnostic;
}

}  // namespace

void CallText::add(std::initializer_list<Piece> pieces) noexcept {
  length_ += compose_into(std::span(bytes_).subspan(length_), pieces).size();
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
  std::uint32_t words[max_traced_rows][6];
  const unsigned traced_rows = std::min(count->value, max_traced_rows);
  std::memcpy(words, rows, traced_rows * sizeof words[0]);
  add({", ", count->value});
  for (const auto& row : std::span(words).first(traced_rows)) {
    const char* separator = ", words=0x";
    for (const std::uint32_t word : row) add({std::exchange(separator, ", 0x"), hex(word)});
  }
}

void CallText::add_outputs(Handle, ProcessSample* samples, RowCount* count,
                           unsigned long long) noexcept {
  const unsigned traced_samples = samples != nullptr ? std::min(count->value, max_traced_rows) : 0;
  for (unsigned i = 0; i < traced_samples; ++i) add_output(samples + i);
  add({", ", count->value});
}

void CallText::add_outputs(Handle, int count, FieldValue* fields) noexcept {
  for (int i = 0; i < count; ++i) add_output(fields + i);
}

void NamedSymbol::find(const platform::Library& library, DeviceScope scope,
                       std::initializer_list<const char*> names) noexcept {
  *this = {nullptr, *names.begin(), 0, scope};
  std::uint8_t index = 0;
  for (const char* name : names) {
    if (void* const symbol = library.symbol(name)) {
      *this = {symbol, name, index, scope};
      return;
    }
    ++index;
  }
}

void Symbols::find(const platform::Library& library) noexcept {
#define HMN_NVML_FIND(member, scope, parameters, ...) \
  member.find(library, DeviceScope::scope, {__VA_ARGS__});
  HMN_NVML_FUNCTIONS(HMN_NVML_FIND)
#undef HMN_NVML_FIND
}

Result<platform::Library> open_library(const Settings& settings) {
  const bool is_path_set = !settings.nvml_path.empty();
  const auto candidates = library_candidates();
  auto library =
      platform::Library::open(is_path_set ? settings.nvml_path.c_str() : candidates.front());
  for (const char* path : candidates.subspan(1)) {
    if (library || is_path_set) break;
    if (platform::exists(path)) library = platform::Library::open(path);
  }
  if (library) return std::move(library.value);
  const std::string help = library.is_missing && !is_path_set ? format_advice(settings) : "";
  return fail(library.is_missing ? Status::no_source : Status::backend,
              {library.error_text, help.empty() ? "" : ": ", help});
}

Status get_status(Code code) noexcept {
  return find_meaning(code).status;
}

bool ends_reading(Code c) noexcept {
  return c == gpu_is_lost || c == uninitialized || c == reset_required || c == late;
}

Failure make_failure(Code code, const char* function_name) {
  const Meaning& meaning = find_meaning(code);
  if (!is_driver_code(code)) {
    const bool is_implausible = code == unusable || code == contradictory;
    Failure failure = with_reason(is_implausible ? Reason::implausible : Reason::unknown,
                                  fail(meaning.status, {function_name, ": ", meaning.sentence}));
    failure.is_permanent = code == not_offered || code == whole_gpu_only;
    return failure;
  }
  const auto native_number = static_cast<std::int32_t>(code);
  return {meaning.status,
          Source::nvml,
          {NativeDomain::nvml, native_number},
          {function_name, ": ", meaning.sentence, " (NVML code ", native_number, ")"},
          Reason::unknown,
          code == not_supported};
}

void CallContext::diagnose(const Failure& failure, FieldSet field, std::uint32_t notes) const {
  Diagnostic diagnostic = make_diagnostic(*this, failure);
  diagnostic.field = field;
  diagnostic.notes = notes;
  reading.diagnose(diagnostic);
}

void CallContext::report(Status status, std::initializer_list<Piece> message, FieldSet field,
                         Reason reason, std::uint32_t notes) const {
  if (wants_diagnostics()) diagnose(with_reason(reason, fail(status, message)), field, notes);
}

void CallContext::report_missing(Code code, const char* function_name, FieldSet field) const {
  if (wants_diagnostics()) diagnose(make_failure(code, function_name), field);
}

void CallContext::report_skipped(const NamedSymbol& function, FieldSet field) const {
  if (is_whole_gpu_only(function)) return report_missing(whole_gpu_only, function.name(), field);
  report(Status::unsupported,
         {function.name(), ": takes milliseconds, so it is not read at every interval"}, field,
         Reason::not_yet);
}

CallContext CallContext::for_device(Slot slot) const noexcept {
  return {reading, subject, slot, {}};
}

CallContext CallContext::for_process(std::uint32_t number) const noexcept {
  return {reading, subject, device, number};
}

Code CallContext::check_callable(const NamedSymbol& function) const noexcept {
  if (refusal != success) return refusal;
  if (is_whole_gpu_only(function)) return whole_gpu_only;
  if (!function) return no_symbol;
  return is_late() ? late : success;
}

void CallContext::trace(const Failure& outcome, std::uint64_t duration_ns) const {
  Diagnostic diagnostic = make_diagnostic(*this, outcome);
  diagnostic.notes = note::trace;
  diagnostic.duration_ns = duration_ns;
  reading.diagnose(diagnostic);
}

}  // namespace hmn::nvml
