// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/tool.hpp"

#include "model/message_text.hpp"
#include "model/pci_address.hpp"
#include "model/scan.hpp"
#include "model/text.hpp"

namespace hmn::nvidia_smi {

result<void> tool::run(reading& r, std::string_view option, column_choice& choice,
                       function_ref<parsed(std::string_view text, bool cut)> parse,
                       std::vector<problem>& problems) {
  if (result<void> here = program_.find(); !here) return here;
  if (program_.was_replaced()) {
    // The columns depend on the driver's version.
    gpu_columns_.reset();
    app_columns_.reset();
  }
  // Each round but the last gives up one rejected spelling.
  for (;;) {
    const platform::outcome o =
        program_.run({compose({option, "=", choice.list()}), "--format=csv,nounits"}, false, r);
    const command_tool::verdict v(smi, o);
    if (auto why = v.why_not_run(program_.path())) return *why;
    const parsed a = parse(o.output, is_cut(o));
    if (a.is_table) {
      problems = problems_of(o, a.strays);
      const bool lacks_rows = a.is_truncated || o.what == platform::outcome::kind::output_too_long;
      if (lacks_rows) problems.push_back({too_many(a.count), {}});
      return {};
    }
    refusal refused = why_no_table(o, a.strays);
    if (!refused.why) return {};
    if (!choice.refuse(refused.field)) return *refused.why;
  }
}

template <class Row>
result<void> tool::ask(reading& r, std::string_view option, column_choice& choice,
                       answer<Row> (*parse)(std::string_view, bool), reply<Row>& out) {
  out = {};
  const auto take = [&](std::string_view text, bool cut) -> parsed {
    answer<Row> a = parse(text, cut);
    out.rows = std::move(a.rows);
    a.count = out.rows.size();
    return a;
  };
  return run(r, option, choice, take, out.problems);
}

result<void> tool::ask_gpus(reading& r, reply<gpu_row>& out) {
  return ask(r, "--query-gpu", gpu_columns_, parse_gpus, out);
}

result<void> tool::ask_apps(reading& r, reply<app_row>& out) {
  return ask(r, "--query-compute-apps", app_columns_, parse_apps, out);
}

namespace {

using about = sentence::about;

constexpr const char* load_driver =
    "load it with 'modprobe nvidia', in a container start it with GPU access, or install the "
    "driver";

constexpr command_tool::sentence known_sentences[] = {
    {"No devices were found", about::nothing, status::no_device,
     "the driver runs and finds no GPU that it can use; see 'dmesg' for NVRM lines"},
    {"No running", about::nothing, status::empty, "no process uses the GPU"},
    {"couldn't communicate with the NVIDIA driver", about::tool, status::no_source, load_driver},
    {"couldn't find libnvidia-ml", about::tool, status::no_source,
     "install the user-space part of the NVIDIA driver, or start the container with GPU access"},
    {"version mismatch", about::tool, status::backend,
     "driver library and kernel module differ, as after an update; reload the nvidia modules or "
     "reboot"},
    {"Driver Not Loaded", about::tool, status::no_source, load_driver},
    {"blocked by the operating system", about::tool, status::permission,
     "give the container or service access to /dev/nvidia*"},
    {"ermission", about::tool, status::permission, "run it as a user who may open /dev/nvidia*"},
    {"is lost", about::device, status::device_lost,
     "see 'dmesg' for Xid lines, then reset the GPU or reboot"},
    {"requires reset", about::device, status::backend,
     "reset it with 'nvidia-smi --gpu-reset', or reboot"},
    {"Unable to determine the device handle", about::device, status::backend,
     "see 'dmesg' for NVRM lines; resetting the GPU or a reboot may help"},
    {"Failed to initialize NVML", about::tool, status::backend,
     "see 'dmesg' for NVRM lines; a container that lost its devices must be started again"},
    {"infoROM is corrupted", about::warning, status::ok, "the values are still valid"},
    {"is not recognized", about::tool, status::unsupported, "this tool is too old"},
    {"is missing its value", about::tool, status::unsupported, "this tool is too old"},
    {"Invalid combination of input arguments", about::tool, status::unsupported,
     "this tool is too old"},
    {"NVIDIA-SMI has failed", about::tool, status::backend, "see 'dmesg' for NVRM lines"},
};

// Parses "Field "cuda_version" is not a valid field to query."
std::optional<std::string> refused_field(std::string_view line) {
  if (!line.starts_with("Field \"") || line.find("not a valid field") == std::string_view::npos) {
    return std::nullopt;
  }
  line.remove_prefix(7);
  const std::size_t end = line.find('"');
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(line.substr(0, end));
}

// Finds the first word that is a PCI address: "GPU0: 0000:81:00.0: Unknown Error".
text<32> bus_id_in(std::string_view line) {
  while (!scan::trim(line).empty()) {
    std::string_view word = scan::take_word(line);
    while (word.ends_with(':') || word.ends_with(',')) word.remove_suffix(1);
    if (const text<32> id = normal_pci_address(word); !id.empty()) return id;
  }
  return {};
}

using kind = platform::outcome::kind;
using about = sentence::about;
using command_tool::verdict;

constexpr int exit_corrupted_inforom = 14;  // warning: the values are valid

// nvidia-smi(1), RETURN VALUE
status status_of_exit(int code) {
  switch (code) {
    case 2:
    case 3:
    case 13:
      return status::unsupported;
    case 4:
      return status::permission;
    case 9:
    case 12:
      return status::no_source;
    case 15:
      return status::device_lost;
    default:
      return status::backend;
  }
}

failure of_exit(const platform::outcome& o, std::string_view what) {
  failure why = verdict(smi, o).of_exit(what);
  if (o.exit_known && o.signal == 0 && o.exit_code != 0) why.code = status_of_exit(o.exit_code);
  return why;
}

failure of_sentence(const platform::outcome& o, const sentence& s, const text<256>& line) {
  return verdict(smi, o).of_sentence(s, line.view());
}

bool has_failed(const platform::outcome& o) {
  if (!o.exit_known || o.what != kind::finished) return false;
  return o.signal != 0 || (o.exit_code != 0 && o.exit_code != exit_corrupted_inforom);
}

}  // namespace

std::optional<sentence> parse_sentence(std::string_view line) {
  if (auto field = refused_field(line)) {
    return sentence{{{}, about::field, status::unsupported, "this tool is too old for it"},
                    std::move(*field),
                    {}};
  }
  const command_tool::sentence* const s = command_tool::find_sentence(known_sentences, line);
  if (s == nullptr) return std::nullopt;
  return sentence{*s, {}, bus_id_in(line)};
}

bool is_cut(const platform::outcome& o) noexcept {
  return o.what == kind::output_too_long || (o.exit_known && o.signal != 0);
}

failure too_many(std::size_t rows) {
  return smi.fail(status::limit,
                  {"nvidia-smi printed more rows than the ", rows, " that are read"});
}

refusal why_no_table(const platform::outcome& o, const stray_lines& strays) {
  bool nothing_there = false;
  for (const text<256>& line : strays.first()) {
    const auto s = parse_sentence(line.view());
    if (!s || s->what == about::warning) continue;
    if (s->what == about::nothing) {
      nothing_there = true;
      continue;
    }
    return {of_sentence(o, *s, line), s->field};
  }
  if (nothing_there) return {};
  if (o.what == kind::output_too_long) {
    return {smi.fail(status::limit, {"nvidia-smi printed no table, and more than is read"}), {}};
  }
  return {of_exit(o, strays.count() == 0 ? "printed nothing" : "printed no table that is known"),
          {}};
}

std::vector<problem> problems_of(const platform::outcome& o, const stray_lines& strays) {
  std::vector<problem> all;
  const text<256>* first_unknown = nullptr;
  std::size_t known = 0;
  for (const text<256>& line : strays.first()) {
    const auto s = parse_sentence(line.view());
    known += s ? 1 : 0;
    if (!s && first_unknown == nullptr) first_unknown = &line;
    if (!s || s->what == about::nothing) continue;
    all.push_back({of_sentence(o, *s, line), s->bus_id});
  }
  if (first_unknown != nullptr) {
    all.push_back(
        {with_reason(
             reason::not_understood,
             smi.fail(status::backend, {strays.count() - known,
                                        " line(s) of nvidia-smi's table make no sense, the first: ",
                                        text<120>(first_unknown->view()).view()})),
         {}});
  }
  if (has_failed(o) && all.empty()) all.push_back({of_exit(o, "printed its table"), {}});
  return all;
}

}  // namespace hmn::nvidia_smi
