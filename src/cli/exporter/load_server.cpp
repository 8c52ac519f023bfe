// SPDX-License-Identifier: MIT OR Apache-2.0
#include <string>

#include "cli/exporter/module.hpp"
#include "cli/exporter/server.hpp"
#include "cli/system/module.hpp"

#define HMN_TEXT_OF(word) #word
#define HMN_NAME_OF(symbol) HMN_TEXT_OF(symbol)

namespace hmn::cli {

std::optional<failure> serve(const server_settings& how) {
  const std::string module = HMN_EXPORTER_MODULE;
  if (module.empty())
    return failed("built without the server of `hmn exporter`; --once and --textfile need none");
  const auto entry = load_module(HMN_EXPORTER_INSTALLED, module, HMN_NAME_OF(HMN_SERVER_ENTRY));
  if (!entry)
    return failed("no server: " + entry.why().message + "; --once and --textfile need none");
  std::optional<failure> result;
  reinterpret_cast<decltype(&HMN_SERVER_ENTRY)> (*entry)(&how, &result);
  return result;
}

}  // namespace hmn::cli
