// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server/web_config.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <sstream>
#include <string_view>
#include <vector>

namespace hmn::cli {
namespace {

using Node = YAML::Node;

// A mistake in the file: the message without its path.
struct Mistake {
  std::string message;
};

[[noreturn]] void refuse(const std::string& message) {
  throw Mistake{message};
}

std::string read_scalar(const std::string& key, const Node& value) {
  if (!value.IsScalar()) refuse(key + ": expected a text");
  return value.Scalar();
}

bool read_bool(const std::string& key, const Node& value) {
  const auto text = read_scalar(key, value);
  if (text == "true") return true;
  if (text == "false") return false;
  refuse(key + " \"" + text + "\": expected true or false");
}

using Reader = std::function<void(const std::string& key, const Node& value)>;
struct Setting {
  std::string_view name;
  Reader read;
};

struct Entry {
  std::string key;
  std::string path;  // with the keys above
  Node value;
};

// Returns the entries of a map. A key that is there twice is refused: YAML does not define which
// counts.
std::vector<Entry> list_entries(const std::string& section, const Node& map) {
  std::vector<Entry> all;
  if (map.IsNull()) return all;
  if (!map.IsMap()) refuse((section.empty() ? "the file" : section) + ": expected keys and values");
  for (const auto& item : map) {
    const auto key = read_scalar(section.empty() ? "a key" : section, item.first);
    const auto path = section.empty() ? key : section + "." + key;
    if (std::any_of(all.begin(), all.end(), [&](const Entry& entry) { return entry.key == key; }))
      refuse(path + ": is there twice");
    all.push_back({key, path, item.second});
  }
  return all;
}

// Reads a map, each key of which must be one of the settings.
void read_map(const std::string& section, const Node& map,
              std::initializer_list<Setting> settings) {
  for (const auto& entry : list_entries(section, map)) {
    const auto it = std::find_if(settings.begin(), settings.end(),
                                 [&](const Setting& setting) { return setting.name == entry.key; });
    if (it == settings.end()) refuse(entry.path + ": this setting is not supported");
    it->read(entry.path, entry.value);
  }
}

int read_version(const std::string& key, const Node& value) {
  const auto text = read_scalar(key, value);
  for (const int version : {10, 11, 12, 13})
    if (text == "TLS" + std::to_string(version)) return version;
  refuse(key + " \"" + text + "\": expected TLS10, TLS11, TLS12 or TLS13");
}

ClientCertificate read_client_policy(const std::string& key, const Node& value) {
  const auto text = read_scalar(key, value);
  if (text == "NoClientCert") return ClientCertificate::none;
  if (text == "VerifyClientCertIfGiven") return ClientCertificate::verified_if_given;
  if (text == "RequireAndVerifyClientCert") return ClientCertificate::required;
  refuse(key + " \"" + text +
         "\": expected NoClientCert, VerifyClientCertIfGiven or RequireAndVerifyClientCert");
}

Reader make_text_reader(std::string& target) {
  return [&target](const std::string& key, const Node& value) { target = read_scalar(key, value); };
}

void check_tls(const std::string& section, const TlsSettings& tls) {
  if (tls.certificate_file.empty()) refuse(section + ".cert_file: is required");
  if (tls.key_file.empty()) refuse(section + ".key_file: is required");
  if (tls.min_version > tls.max_version)
    refuse(section + ".min_version: is above " + section + ".max_version");
  const bool has_authority = !tls.client_authority_file.empty();
  const bool checks_clients = tls.clients != ClientCertificate::none;
  if (checks_clients && !has_authority)
    refuse(section + ".client_auth_type: needs " + section + ".client_ca_file");
  if (has_authority && !checks_clients)
    refuse(section + ".client_ca_file: needs " + section + ".client_auth_type");
}

std::string resolve_path(const std::string& folder, const std::string& path) {
  return path.empty() || path.front() == '/' ? path : folder + "/" + path;
}

TlsSettings read_tls(const std::string& section, const Node& node, const std::string& folder) {
  TlsSettings tls;
  const auto make_version_reader = [](int& target) {
    return
        [&target](const std::string& key, const Node& value) { target = read_version(key, value); };
  };
  read_map(section, node,
           {{"cert_file", make_text_reader(tls.certificate_file)},
            {"key_file", make_text_reader(tls.key_file)},
            {"client_ca_file", make_text_reader(tls.client_authority_file)},
            {"client_auth_type",
             [&](const std::string& key, const Node& value) {
               tls.clients = read_client_policy(key, value);
             }},
            {"min_version", make_version_reader(tls.min_version)},
            {"max_version", make_version_reader(tls.max_version)}});
  check_tls(section, tls);
  for (auto* path : {&tls.certificate_file, &tls.key_file, &tls.client_authority_file})
    *path = resolve_path(folder, *path);
  return tls;
}

bool is_header_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

void read_headers(const std::string& section, const Node& node, WebConfig& config) {
  constexpr std::string_view supported[] = {"Content-Security-Policy", "X-Frame-Options",
                                            "X-Content-Type-Options", "X-XSS-Protection",
                                            "Strict-Transport-Security"};
  for (const auto& entry : list_entries(section, node)) {
    if (std::find(std::begin(supported), std::end(supported), entry.key) == std::end(supported))
      refuse(entry.path + ": this header is not supported");
    const auto value = read_scalar(entry.path, entry.value);
    if (!is_header_text(value)) refuse(entry.path + ": a header cannot have control characters");
    if (!value.empty()) config.headers.emplace_back(entry.key, value);
  }
}

void read_http(const std::string& section, const Node& node, WebConfig& config) {
  read_map(section, node,
           {{"http2",
             [](const std::string& key, const Node& value) {
               if (read_bool(key, value)) refuse(key + ": HTTP/2 is not supported");
             }},
            {"headers", [&](const std::string& key, const Node& value) {
               read_headers(key, value, config);
             }}});
}

// "$2y$10$" and 53 characters.
bool is_bcrypt(std::string_view hash) {
  constexpr std::string_view letters =
      "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return hash.size() == 60 && hash.starts_with("$2") &&
         std::string_view("aby").find(hash[2]) != std::string_view::npos && hash[3] == '$' &&
         is_digit(hash[4]) && is_digit(hash[5]) && hash[6] == '$' &&
         hash.substr(7).find_first_not_of(letters) == std::string_view::npos;
}

void read_users(const std::string& section, const Node& node, WebConfig& config) {
  for (const auto& entry : list_entries(section, node)) {
    if (entry.key.empty() || entry.key.find(':') != std::string::npos)
      refuse(entry.path + ": expected a name without a colon");
    const auto hash = read_scalar(entry.path, entry.value);
    if (!is_bcrypt(hash))
      refuse(entry.path + ": expected a bcrypt hash, as htpasswd -nB prints it");
    config.users[entry.key] = hash;
  }
}

WebConfig read_all(const std::string& text, const std::string& folder) {
  WebConfig config;
  const auto documents = YAML::LoadAll(text);
  if (documents.size() > 1) refuse("it has a second document, after ---");
  read_map("", documents.empty() ? Node() : documents.front(),
           {{"tls_server_config",
             [&](const std::string& key, const Node& value) {
               if (!value.IsNull()) config.tls = read_tls(key, value, folder);
             }},
            {"http_server_config",
             [&](const std::string& key, const Node& value) { read_http(key, value, config); }},
            {"basic_auth_users",
             [&](const std::string& key, const Node& value) { read_users(key, value, config); }}});
  return config;
}

}  // namespace

Expected<WebConfig> parse_web_config(const std::string& text, const std::string& folder) {
  try {
    return read_all(text, folder);
  } catch (const Mistake& mistake) {
    return make_usage_error(mistake.message);
  } catch (const YAML::Exception& exception) {
    return make_usage_error("line " + std::to_string(exception.mark.line + 1) + ": " +
                            exception.msg);
  }
}

Expected<std::string> read_config_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // An empty file fails, too, without an error.
  if (!file || (!(text << file.rdbuf()) && errno != 0))
    return make_file_failure(path, std::strerror(errno != 0 ? errno : EIO));
  return text.str();
}

Expected<WebConfig> read_web_config(const std::string& path) {
  const auto text = read_config_file(path);
  if (!text) return text.error();
  const auto slash = path.rfind('/');
  auto parsed = parse_web_config(
      *text, slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1)));
  if (!parsed) return make_usage_error("\"" + path + "\": " + parsed.error().message);
  return parsed;
}

}  // namespace hmn::cli
