// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server.hpp"

#include <microhttpd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exporter/server/answers.hpp"
#include "cli/exporter/server/connections.hpp"
#include "cli/exporter/server/listener.hpp"
#include "cli/exporter/server/passwords.hpp"
#include "cli/exporter/server/shared_scrape.hpp"
#include "cli/exporter/server/tls.hpp"
#include "cli/exporter/server/web_config.hpp"

namespace hmn::cli {
namespace {

constexpr unsigned most_connections = 256;
constexpr unsigned most_connections_of_address = 64;
constexpr std::size_t request_bytes = 16384;  // line and headers; more is refused

using clock = std::chrono::steady_clock;

// A request between its calls: MHD comes back when it is resumed.
struct request {
  enum class stage { begun, checked, refused, busy, scraped };
  stage at = stage::begun;
  shared_scrape::result scrape;
};

std::string_view header(MHD_Connection* of, const char* name) {
  const char* const value = MHD_lookup_connection_value(of, MHD_HEADER_KIND, name);
  return value == nullptr ? std::string_view() : value;
}

// Prometheus' own limit on a scrape, less the time that the answer needs.
std::chrono::milliseconds patience_of(MHD_Connection* connection) {
  constexpr double usual = 10;
  constexpr double longest = 30;
  const auto text = header(connection, "X-Prometheus-Scrape-Timeout-Seconds");
  double seconds = usual;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds > 0)) seconds = usual;
  seconds = std::min(seconds, longest);
  seconds -= std::min(0.5, seconds / 5);
  return std::chrono::milliseconds(static_cast<long long>(seconds * 1000));
}

class http_server {
 public:
  http_server(const server_settings& how, web_config config)
      : with_(std::move(config)), answers_(with_.headers), passwords_(with_.users), scrapes_(how) {}
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;
  ~http_server();

  std::optional<failure> start(int socket);

 private:
  static MHD_Result handle(void* own, MHD_Connection* connection, const char* url,
                           const char* method, const char* version, const char* data,
                           std::size_t* size, void** state);
  static void completed(void* own, MHD_Connection* connection, void** state,
                        MHD_RequestTerminationCode why);
  static void connected(void* own, MHD_Connection* connection, void** context,
                        MHD_ConnectionNotificationCode what);
  static connections::handle* entry_of(MHD_Connection* connection);

  MHD_Result begin(MHD_Connection* connection, std::string_view method, void** state);
  MHD_Result proceed(MHD_Connection* connection, std::string_view url, request& of);
  // Returns none where the user is known to be right.
  std::optional<MHD_Result> authenticate(MHD_Connection* connection, request& of);
  MHD_Result refuse_user(MHD_Connection* connection) const;
  MHD_Result route(MHD_Connection* connection, std::string_view url, request& of);
  MHD_Result metrics(MHD_Connection* connection, request& of);
  std::vector<MHD_OptionItem> tls_options();

  web_config with_;
  tls_material tls_;
  answers answers_;
  connections connections_;
  passwords passwords_;
  shared_scrape scrapes_;
  MHD_Daemon* daemon_ = nullptr;
};

http_server::~http_server() {
  // A request that waits must be resumed before the daemon may stop.
  passwords_.stop();
  scrapes_.stop();
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
}

std::vector<MHD_OptionItem> http_server::tls_options() {
  std::vector<MHD_OptionItem> options;
  if (with_.tls) {
    options.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, tls_.certificate.data()});
    options.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, tls_.key.data()});
    options.push_back({MHD_OPTION_HTTPS_PRIORITIES, 0, tls_.priorities.data()});
    if (!tls_.client_authority.empty())
      options.push_back({MHD_OPTION_HTTPS_MEM_TRUST, 0, tls_.client_authority.data()});
  }
  options.push_back({MHD_OPTION_END, 0, nullptr});
  return options;
}

std::optional<failure> http_server::start(int socket) {
  if (with_.tls) {
    auto material = load_tls(*with_.tls);
    if (!material) return material.why();
    tls_ = *std::move(material);
  }
  const auto options = tls_options();
  const unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                         (with_.tls ? unsigned(MHD_USE_TLS) : 0U);
  daemon_ = MHD_start_daemon(
      flags, 0, nullptr, nullptr, &handle, this, MHD_OPTION_LISTEN_SOCKET, socket,
      MHD_OPTION_CONNECTION_LIMIT, most_connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
      most_connections_of_address, MHD_OPTION_CONNECTION_MEMORY_LIMIT, request_bytes,
      MHD_OPTION_NOTIFY_COMPLETED, &completed, this, MHD_OPTION_NOTIFY_CONNECTION, &connected, this,
      MHD_OPTION_ARRAY, options.data(), MHD_OPTION_END);
  if (daemon_ == nullptr) return failed("the HTTP server could not be started");
  return std::nullopt;
}

connections::handle* http_server::entry_of(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == nullptr ? nullptr : static_cast<connections::handle*>(info->socket_context);
}

void http_server::connected(void* own, MHD_Connection* connection, void** context,
                            MHD_ConnectionNotificationCode what) {
  auto& server = *static_cast<http_server*>(own);
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info != nullptr)
      *context = new connections::handle(server.connections_.opened(info->connect_fd));
    return;
  }
  const std::unique_ptr<connections::handle> entry(static_cast<connections::handle*>(*context));
  if (entry) server.connections_.closed(*entry);
  *context = nullptr;
}

void http_server::completed(void* own, MHD_Connection* connection, void** state,
                            MHD_RequestTerminationCode) {
  delete static_cast<request*>(*state);
  *state = nullptr;
  if (auto* entry = entry_of(connection))
    static_cast<http_server*>(own)->connections_.answered(*entry);
}

MHD_Result http_server::handle(void* own, MHD_Connection* connection, const char* url,
                               const char* method, const char*, const char*, std::size_t* size,
                               void** state) {
  auto& server = *static_cast<http_server*>(own);
  if (*state == nullptr) return server.begin(connection, method, state);
  *size = 0;  // a body is ignored
  return server.proceed(connection, url, *static_cast<request*>(*state));
}

// Refuses before a body is read.
MHD_Result http_server::begin(MHD_Connection* connection, std::string_view method, void** state) {
  *state = new request;
  if (auto* entry = entry_of(connection)) connections_.requested(*entry);
  if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD)
    return answers_.send(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n",
                         MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  const auto length = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
  if ((!length.empty() && length != "0") ||
      !header(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING).empty())
    return answers_.send(connection, MHD_HTTP_CONTENT_TOO_LARGE, "a request has no body\n",
                         MHD_HTTP_HEADER_CONNECTION, "close");
  return MHD_YES;
}

MHD_Result http_server::proceed(MHD_Connection* connection, std::string_view url, request& of) {
  if (of.at == request::stage::begun) {
    if (with_.tls && !is_client_allowed(connection, with_.tls->clients))
      return answers_.send(connection, MHD_HTTP_FORBIDDEN, "no valid client certificate\n");
    if (!passwords_.empty())
      if (const auto result = authenticate(connection, of)) return *result;
    of.at = request::stage::checked;
  }
  if (of.at == request::stage::refused) return refuse_user(connection);
  if (of.at == request::stage::busy)
    return answers_.send(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "too many passwords to check\n",
                         MHD_HTTP_HEADER_RETRY_AFTER, "5");
  return route(connection, url, of);
}

MHD_Result http_server::refuse_user(MHD_Connection* connection) const {
  return answers_.send(connection, MHD_HTTP_UNAUTHORIZED, "unauthorized\n",
                       MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic");
}

std::optional<MHD_Result> http_server::authenticate(MHD_Connection* connection, request& of) {
  char* secret = nullptr;
  char* name = MHD_basic_auth_get_username_password(connection, &secret);
  const std::string user = name == nullptr ? "" : name;
  const std::string password = secret == nullptr ? "" : secret;
  MHD_free(name);
  MHD_free(secret);
  if (user.empty()) return refuse_user(connection);
  if (passwords_.known(user, password) == passwords::answer::right) return std::nullopt;
  MHD_suspend_connection(connection);
  const bool is_asked = passwords_.check(user, password, [&of, connection](bool is_right) {
    of.at = is_right ? request::stage::checked : request::stage::refused;
    MHD_resume_connection(connection);
  });
  if (is_asked) return MHD_YES;
  of.at = request::stage::busy;
  MHD_resume_connection(connection);
  return MHD_YES;
}

MHD_Result http_server::route(MHD_Connection* connection, std::string_view url, request& of) {
  if (url == "/metrics") return metrics(connection, of);
  if (url == "/healthz") return answers_.send(connection, MHD_HTTP_OK, "ok\n");
  if (url == "/") return answers_.send_index(connection);
  return answers_.send(connection, MHD_HTTP_NOT_FOUND, "not found\n");
}

MHD_Result http_server::metrics(MHD_Connection* connection, request& of) {
  if (of.at != request::stage::scraped) of.scrape = scrapes_.young();
  if (of.scrape)
    return answers_.send_scrape(connection, of.scrape,
                                accepted_format(header(connection, MHD_HTTP_HEADER_ACCEPT)));
  if (of.at == request::stage::scraped)
    return answers_.send(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                         "the readings did not end in time\n", MHD_HTTP_HEADER_RETRY_AFTER, "5");
  MHD_suspend_connection(connection);
  scrapes_.ask(clock::now() + patience_of(connection),
               [&of, connection](shared_scrape::result made) {
                 of.scrape = std::move(made);
                 of.at = request::stage::scraped;
                 MHD_resume_connection(connection);
               });
  return MHD_YES;
}

expected<web_config> config_of(const server_settings& how) {
  return how.web_config ? read_web_config(*how.web_config) : web_config{};
}

}  // namespace

std::optional<failure> serve(const server_settings& how) {
  auto config = config_of(how);
  if (!config) return config.why();
  const char* const scheme = config->tls ? "https://" : "http://";
  const auto at = listen_at(how.address, how.port);
  if (!at) return at.why();
  http_server server(how, *std::move(config));
  if (auto wrong = server.start(at->socket)) return wrong;
  how.listening(scheme + at->address);
  how.wait_for_stop();
  return std::nullopt;
}

}  // namespace hmn::cli
