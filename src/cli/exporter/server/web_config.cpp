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

std::string text_of(const std::string& key, const Node& value) {
  if (!value.IsScalar()) refuse(key + ": expected a text");
  return value.Scalar();
}

bool truth_of(const std::string& key, const Node& value) {
  const auto text = text_of(key, value);
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
  std::string whole;  // with the keys above
  Node value;
};

// Returns the entries of a map. A key that is there twice is refused: YAML does not define which
// counts.
std::vector<Entry> entries_of(const std::string& where, const Node& map) {
  std::vector<Entry> all;
  if (map.IsNull()) return all;
  if (!map.IsMap()) refuse((where.empty() ? "the file" : where) + ": expected keys and values");
  for (const auto& each : map) {
    const auto key = text_of(where.empty() ? "a key" : where, each.first);
    const auto whole = where.empty() ? key : where + "." + key;
    if (std::any_of(all.begin(), all.end(), [&](const Entry& one) { return one.key == key; }))
      refuse(whole + ": is there twice");
    all.push_back({key, whole, each.second});
  }
  return all;
}

// Reads a map, each key of which must be one of the settings.
void read_map(const std::string& where, const Node& map, std::initializer_list<Setting> all) {
  for (const auto& each : entries_of(where, map)) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Setting& one) { return one.name == each.key; });
    if (found == all.end()) refuse(each.whole + ": this setting is not supported");
    found->read(each.whole, each.value);
  }
}

int version_of(const std::string& key, const Node& value) {
  const auto text = text_of(key, value);
  for (const int each : {10, 11, 12, 13})
    if (text == "TLS" + std::to_string(each)) return each;
  refuse(key + " \"" + text + "\": expected TLS10, TLS11, TLS12 or TLS13");
}

ClientCertificate clients_of(const std::string& key, const Node& value) {
  const auto text = text_of(key, value);
  if (text == "NoClientCert") return ClientCertificate::none;
  if (text == "VerifyClientCertIfGiven") return ClientCertificate::verified_if_given;
  if (text == "RequireAndVerifyClientCert") return ClientCertificate::required;
  refuse(key + " \"" + text +
         "\": expected NoClientCert, VerifyClientCertIfGiven or RequireAndVerifyClientCert");
}

Reader into(std::string& to) {
  return [&to](const std::string& key, const Node& value) { to = text_of(key, value); };
}

void check(const std::string& where, const TlsSettings& tls) {
  if (tls.certificate_file.empty()) refuse(where + ".cert_file: is required");
  if (tls.key_file.empty()) refuse(where + ".key_file: is required");
  if (tls.min_version > tls.max_version)
    refuse(where + ".min_version: is above " + where + ".max_version");
  const bool has_authority = !tls.client_authority_file.empty();
  const bool is_wanted = tls.clients != ClientCertificate::none;
  if (is_wanted && !has_authority)
    refuse(where + ".client_auth_type: needs " + where + ".client_ca_file");
  if (has_authority && !is_wanted)
    refuse(where + ".client_ca_file: needs " + where + ".client_auth_type");
}

std::string below(const std::string& folder, const std::string& path) {
  return path.empty() || path.front() == '/' ? path : folder + "/" + path;
}

TlsSettings read_tls(const std::string& where, const Node& from, const std::string& folder) {
  TlsSettings tls;
  const auto version = [](int& to) {
    return [&to](const std::string& key, const Node& value) { to = version_of(key, value); };
  };
  read_map(where, from,
           {{"cert_file", into(tls.certificate_file)},
            {"key_file", into(tls.key_file)},
            {"client_ca_file", into(tls.client_authority_file)},
            {"client_auth_type", [&](const std::string& key,
                                     const Node& value) { tls.clients = clients_of(key, value); }},
            {"min_version", version(tls.min_version)},
            {"max_version", version(tls.max_version)}});
  check(where, tls);
  for (auto* each : {&tls.certificate_file, &tls.key_file, &tls.client_authority_file})
    *each = below(folder, *each);
  return tls;
}

bool is_header_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

void read_headers(const std::string& where, const Node& from, WebConfig& to) {
  constexpr std::string_view known[] = {"Content-Security-Policy", "X-Frame-Options",
                                        "X-Content-Type-Options", "X-XSS-Protection",
                                        "Strict-Transport-Security"};
  for (const auto& each : entries_of(where, from)) {
    if (std::find(std::begin(known), std::end(known), each.key) == std::end(known))
      refuse(each.whole + ": this header is not supported");
    const auto value = text_of(each.whole, each.value);
    if (!is_header_text(value)) refuse(each.whole + ": a header cannot have control characters");
    if (!value.empty()) to.headers.emplace_back(each.key, value);
  }
}

void read_http(const std::string& where, const Node& from, WebConfig& to) {
  read_map(where, from,
           {{"http2",
             [](const std::string& key, const Node& value) {
               if (truth_of(key, value)) refuse(key + ": HTTP/2 is not supported");
             }},
            {"headers",
             [&](const std::string& key, const Node& value) { read_headers(key, value, to); }}});
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

void read_users(const std::string& where, const Node& from, WebConfig& to) {
  for (const auto& each : entries_of(where, from)) {
    if (each.key.empty() || each.key.find(':') != std::string::npos)
      refuse(each.whole + ": expected a name without a colon");
    const auto hash = text_of(each.whole, each.value);
    if (!is_bcrypt(hash))
      refuse(each.whole + ": expected a bcrypt hash, as htpasswd -nB prints it");
    to.users[each.key] = hash;
  }
}

WebConfig read_all(const std::string& text, const std::string& folder) {
  WebConfig to;
  const auto documents = YAML::LoadAll(text);
  if (documents.size() > 1) refuse("it has a second document, after ---");
  read_map("", documents.empty() ? Node() : documents.front(),
           {{"tls_server_config",
             [&](const std::string& key, const Node& value) {
               if (!value.IsNull()) to.tls = read_tls(key, value, folder);
             }},
            {"http_server_config",
             [&](const std::string& key, const Node& value) { read_http(key, value, to); }},
            {"basic_auth_users",
             [&](const std::string& key, const Node& value) { read_users(key, value, to); }}});
  return to;
}

}  // namespace

Expected<WebConfig> parse_web_config(const std::string& text, const std::string& folder) {
  try {
    return read_all(text, folder);
  } catch (const Mistake& why) {
    return misused(why.message);
  } catch (const YAML::Exception& why) {
    return misused("line " + std::to_string(why.mark.line + 1) + ": " + why.msg);
  }
}

Expected<std::string> read_named(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // An empty file fails, too, without an error.
  if (!file || (!(text << file.rdbuf()) && errno != 0))
    return failed_at(path, std::strerror(errno != 0 ? errno : EIO));
  return text.str();
}

Expected<WebConfig> read_web_config(const std::string& path) {
  const auto text = read_named(path);
  if (!text) return text.why();
  const auto slash = path.rfind('/');
  auto parsed = parse_web_config(
      *text, slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1)));
  if (!parsed) return misused("\"" + path + "\": " + parsed.why().message);
  return parsed;
}

}  // namespace hmn::cli
