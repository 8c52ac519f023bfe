// SPDX-License-Identifier: MIT OR Apache-2.0
#include <microhttpd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/exporter/server.hpp"
#include "cli/exporter/server/connections.hpp"
#include "cli/exporter/server/passwords.hpp"
#include "cli/exporter/server/tls.hpp"
#include "cli/exporter/server/web_config.hpp"

namespace hmn::cli {
namespace {

// A scrape that clients share.
struct FinishedScrape {
  std::chrono::steady_clock::time_point start;
  Renderer render;
};

// Reads the machine on a thread of its own, once for all clients that are waiting, and again no
// sooner than the longest age of a shared scrape. A second thread lets no client wait beyond its
// own deadline.
class SharedScrape {
 public:
  using Clock = std::chrono::steady_clock;
  using Result = std::shared_ptr<const FinishedScrape>;  // null: none in time
  using Callback = std::function<void(Result)>;

  explicit SharedScrape(const ServerSettings& settings);
  SharedScrape(const SharedScrape&) = delete;
  SharedScrape& operator=(const SharedScrape&) = delete;
  ~SharedScrape();

  // Returns one that is young enough; null if there is none.
  Result find_recent() const;
  // Calls back once, on another thread, at the deadline at the latest.
  void request_scrape(Clock::time_point deadline, Callback callback);
  // Calls back with null for all that ask from now on; when it returns, all others were called
  // back.
  void stop();

 private:
  struct Waiter {
    Clock::time_point deadline;
    Callback callback;
  };
  void work();
  void watch();
  std::list<Waiter> take_expired(Clock::time_point now);
  Result read(Clock::time_point deadline);

  const ServerSettings& settings_;
  mutable std::mutex mutex_;
  std::condition_variable worker_wakeup_;
  std::condition_variable watcher_wakeup_;
  std::list<Waiter> waiters_;
  Result last_;
  bool is_stopped_ = false;
  std::thread worker_;
  std::thread watcher_;
};

template <class List>
auto earliest_deadline(const List& waiters) {
  return std::min_element(waiters.begin(), waiters.end(),
                          [](const auto& a, const auto& b) { return a.deadline < b.deadline; })
      ->deadline;
}

SharedScrape::SharedScrape(const ServerSettings& settings)
    : settings_(settings), worker_([this] { work(); }), watcher_([this] { watch(); }) {}

SharedScrape::~SharedScrape() {
  stop();
}

SharedScrape::Result SharedScrape::find_recent() const {
  const std::lock_guard lock(mutex_);
  return last_ && Clock::now() - last_->start < settings_.max_age ? last_ : nullptr;
}

void SharedScrape::request_scrape(Clock::time_point deadline, Callback callback) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_stopped_) {
      waiters_.push_back({deadline, std::move(callback)});
      worker_wakeup_.notify_one();
      watcher_wakeup_.notify_one();
      return;
    }
  }
  callback(nullptr);
}

void SharedScrape::stop() {
  std::list<Waiter> left;
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    left.swap(waiters_);
    worker_wakeup_.notify_one();
    watcher_wakeup_.notify_one();
  }
  for (const auto& waiter : left) waiter.callback(nullptr);
  if (worker_.joinable()) worker_.join();
  if (watcher_.joinable()) watcher_.join();
}

SharedScrape::Result SharedScrape::read(Clock::time_point deadline) {
  using std::chrono::milliseconds;
  const auto start = Clock::now();
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - start);
  auto render = settings_.scrape(std::max(left, milliseconds(1)));
  if (!render) return nullptr;
  return std::make_shared<const FinishedScrape>(FinishedScrape{start, std::move(render)});
}

void SharedScrape::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    worker_wakeup_.wait(lock, [this] { return is_stopped_ || !waiters_.empty(); });
    if (is_stopped_) return;
    const auto deadline = earliest_deadline(waiters_);
    lock.unlock();
    auto scrape = read(deadline);
    lock.lock();
    // Includes those who asked while it was read.
    std::list<Waiter> served;
    served.swap(waiters_);
    last_ = scrape;
    lock.unlock();
    for (const auto& waiter : served) waiter.callback(scrape);
  }
}

std::list<SharedScrape::Waiter> SharedScrape::take_expired(Clock::time_point now) {
  std::list<Waiter> late;
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    const auto next = std::next(it);
    if (it->deadline <= now) late.splice(late.end(), waiters_, it);
    it = next;
  }
  return late;
}

void SharedScrape::watch() {
  std::unique_lock lock(mutex_);
  while (!is_stopped_) {
    if (waiters_.empty())
      watcher_wakeup_.wait(lock);
    else
      watcher_wakeup_.wait_until(lock, earliest_deadline(waiters_));
    const auto late = take_expired(Clock::now());
    if (late.empty()) continue;
    lock.unlock();
    for (const auto& waiter : late) waiter.callback(nullptr);
    lock.lock();
  }
}

struct ReleaseResponse {
  void operator()(MHD_Response* response) const { MHD_destroy_response(response); }
};
using Response = std::unique_ptr<MHD_Response, ReleaseResponse>;

// Makes the answers, each with the headers of the web configuration.
class Responder {
 public:
  explicit Responder(std::vector<std::pair<std::string, std::string>> headers)
      : headers_(std::move(headers)) {}

  // A short text. `header` and `value` are one more header, where there is one.
  MHD_Result send(MHD_Connection* connection, unsigned status, std::string_view text,
                  const char* header = nullptr, const char* value = nullptr) const;
  MHD_Result send_index(MHD_Connection* connection) const;
  // The text of a scrape is made once for each format, and compressed once.
  MHD_Result send_scrape(MHD_Connection* connection, const SharedScrape::Result& scrape,
                         TextFormat format, bool is_compressed);

 private:
  Response make_response(std::string text, const char* type) const;

  const std::vector<std::pair<std::string, std::string>> headers_;
  SharedScrape::Result cached_scrape_;
  Response cached_responses_[2][2];  // by format, and whether it is compressed
};

constexpr const char* plain_text_type = "text/plain; charset=utf-8";

constexpr std::string_view index_page =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\"><head><title>hypomnesis</title></head>\n"
    "<body><h1>hypomnesis</h1><p><a href=\"metrics\">Metrics</a></p></body></html>\n";

// Returns the text in gzip's format; none without memory.
std::optional<std::string> gzip(const std::string& text) {
  constexpr int window_bits = 15, gzip_flag = 16, memory_level = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits + gzip_flag,
                   memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
    return std::nullopt;
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return status == Z_STREAM_END ? std::optional(std::move(out)) : std::nullopt;
}

void free_text(void* text) {
  delete static_cast<std::string*>(text);
}

Response Responder::make_response(std::string text, const char* type) const {
  auto* buffer = new std::string(std::move(text));
  Response response(MHD_create_response_from_buffer_with_free_callback_cls(
      buffer->size(), buffer->data(), &free_text, buffer));
  if (!response) {
    delete buffer;
    return response;
  }
  MHD_add_response_header(response.get(), MHD_HTTP_HEADER_CONTENT_TYPE, type);
  for (const auto& [name, value] : headers_)
    MHD_add_response_header(response.get(), name.c_str(), value.c_str());
  return response;
}

MHD_Result Responder::send(MHD_Connection* connection, unsigned status, std::string_view text,
                           const char* header, const char* value) const {
  const auto response = make_response(std::string(text), plain_text_type);
  if (!response) return MHD_NO;
  if (header != nullptr) MHD_add_response_header(response.get(), header, value);
  return MHD_queue_response(connection, status, response.get());
}

MHD_Result Responder::send_index(MHD_Connection* connection) const {
  const auto response = make_response(std::string(index_page), "text/html; charset=utf-8");
  return response ? MHD_queue_response(connection, MHD_HTTP_OK, response.get()) : MHD_NO;
}

MHD_Result Responder::send_scrape(MHD_Connection* connection, const SharedScrape::Result& scrape,
                                  TextFormat format, bool is_compressed) {
  if (cached_scrape_ != scrape) {
    for (auto& format_responses : cached_responses_)
      for (auto& response : format_responses) response.reset();
    cached_scrape_ = scrape;
  }
  auto& response =
      cached_responses_[format == TextFormat::openmetrics ? 1 : 0][is_compressed ? 1 : 0];
  if (!response) {
    auto text = scrape->render(format);
    const auto compressed = is_compressed ? gzip(text) : std::nullopt;
    response = make_response(compressed ? *compressed : std::move(text), media_type(format).data());
    if (response && compressed)
      MHD_add_response_header(response.get(), MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
  }
  return response ? MHD_queue_response(connection, MHD_HTTP_OK, response.get()) : MHD_NO;
}

constexpr unsigned max_connections = 256;
constexpr unsigned max_connections_per_address = 64;
constexpr std::size_t max_request_bytes = 16384;  // line and headers; more is refused

using Clock = std::chrono::steady_clock;

// A request between its calls: MHD comes back when it is resumed.
struct Request {
  enum class Stage { begun, checked, refused, busy, scraped };
  Stage stage = Stage::begun;
  SharedScrape::Result scrape;
};

std::string_view find_header(MHD_Connection* connection, const char* name) {
  const char* const value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? std::string_view() : value;
}

// Prometheus' own limit on a scrape, less the time that the answer needs.
std::chrono::milliseconds read_scrape_timeout(MHD_Connection* connection) {
  constexpr double default_seconds = 10;
  constexpr double max_seconds = 30;
  const auto text = find_header(connection, "X-Prometheus-Scrape-Timeout-Seconds");
  double seconds = default_seconds;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds > 0))
    seconds = default_seconds;
  seconds = std::min(seconds, max_seconds);
  seconds -= std::min(0.5, seconds / 5);
  return std::chrono::milliseconds(static_cast<long long>(seconds * 1000));
}

class HttpServer {
 public:
  HttpServer(const ServerSettings& settings, WebConfig config)
      : config_(std::move(config)),
        responder_(config_.headers),
        passwords_(config_.users),
        scrapes_(settings) {}
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  std::optional<Failure> start(int socket);

 private:
  static MHD_Result handle_request(void* self, MHD_Connection* connection, const char* url,
                                   const char* method, const char* version, const char* data,
                                   std::size_t* size, void** state);
  static void finish_request(void* self, MHD_Connection* connection, void** state,
                             MHD_RequestTerminationCode code);
  static void track_connection(void* self, MHD_Connection* connection, void** context,
                               MHD_ConnectionNotificationCode event);
  static Connections::Handle* find_handle(MHD_Connection* connection);

  MHD_Result begin(MHD_Connection* connection, std::string_view method, void** state);
  MHD_Result proceed(MHD_Connection* connection, std::string_view url, Request& request);
  // Returns none where the user is known to be right.
  std::optional<MHD_Result> authenticate(MHD_Connection* connection, Request& request);
  MHD_Result refuse_user(MHD_Connection* connection) const;
  MHD_Result route(MHD_Connection* connection, std::string_view url, Request& request);
  MHD_Result send_metrics(MHD_Connection* connection, Request& request);
  std::vector<MHD_OptionItem> tls_options();

  WebConfig config_;
  TlsMaterial tls_;
  Responder responder_;
  Connections connections_;
  PasswordChecker passwords_;
  SharedScrape scrapes_;
  MHD_Daemon* daemon_ = nullptr;
};

HttpServer::~HttpServer() {
  // A request that waits must be resumed before the daemon may stop.
  passwords_.stop();
  scrapes_.stop();
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
}

std::vector<MHD_OptionItem> HttpServer::tls_options() {
  std::vector<MHD_OptionItem> options;
  if (config_.tls) {
    options.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, tls_.certificate.data()});
    options.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, tls_.key.data()});
    options.push_back({MHD_OPTION_HTTPS_PRIORITIES, 0, tls_.priorities.data()});
    if (!tls_.client_authority.empty())
      options.push_back({MHD_OPTION_HTTPS_MEM_TRUST, 0, tls_.client_authority.data()});
  }
  options.push_back({MHD_OPTION_END, 0, nullptr});
  return options;
}

std::optional<Failure> HttpServer::start(int socket) {
  if (config_.tls) {
    auto material = load_tls(*config_.tls);
    if (!material) return material.error();
    tls_ = *std::move(material);
  }
  const auto options = tls_options();
  const unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                         (config_.tls ? unsigned(MHD_USE_TLS) : 0U);
  daemon_ = MHD_start_daemon(
      flags, 0, nullptr, nullptr, &handle_request, this, MHD_OPTION_LISTEN_SOCKET, socket,
      MHD_OPTION_CONNECTION_LIMIT, max_connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
      max_connections_per_address, MHD_OPTION_CONNECTION_MEMORY_LIMIT, max_request_bytes,
      MHD_OPTION_NOTIFY_COMPLETED, &finish_request, this, MHD_OPTION_NOTIFY_CONNECTION,
      &track_connection, this, MHD_OPTION_ARRAY, options.data(), MHD_OPTION_END);
  if (daemon_ == nullptr) return make_failure("the HTTP server could not be started");
  return std::nullopt;
}

Connections::Handle* HttpServer::find_handle(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == nullptr ? nullptr : static_cast<Connections::Handle*>(info->socket_context);
}

void HttpServer::track_connection(void* self, MHD_Connection* connection, void** context,
                                  MHD_ConnectionNotificationCode event) {
  auto& server = *static_cast<HttpServer*>(self);
  if (event == MHD_CONNECTION_NOTIFY_STARTED) {
    const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info != nullptr)
      *context = new Connections::Handle(server.connections_.add(info->connect_fd));
    return;
  }
  const std::unique_ptr<Connections::Handle> entry(static_cast<Connections::Handle*>(*context));
  if (entry) server.connections_.remove(*entry);
  *context = nullptr;
}

void HttpServer::finish_request(void* self, MHD_Connection* connection, void** state,
                                MHD_RequestTerminationCode) {
  delete static_cast<Request*>(*state);
  *state = nullptr;
  if (auto* entry = find_handle(connection))
    static_cast<HttpServer*>(self)->connections_.end_answer(*entry);
}

MHD_Result HttpServer::handle_request(void* self, MHD_Connection* connection, const char* url,
                                      const char* method, const char*, const char*,
                                      std::size_t* size, void** state) {
  auto& server = *static_cast<HttpServer*>(self);
  if (*state == nullptr) return server.begin(connection, method, state);
  *size = 0;  // a body is ignored
  return server.proceed(connection, url, *static_cast<Request*>(*state));
}

// Refuses before a body is read.
MHD_Result HttpServer::begin(MHD_Connection* connection, std::string_view method, void** state) {
  *state = new Request;
  if (auto* entry = find_handle(connection)) connections_.begin_answer(*entry);
  if (method != MHD_HTTP_METHOD_GET && method != MHD_HTTP_METHOD_HEAD)
    return responder_.send(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n",
                           MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  const auto length = find_header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
  if ((!length.empty() && length != "0") ||
      !find_header(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING).empty())
    return responder_.send(connection, MHD_HTTP_CONTENT_TOO_LARGE, "a request has no body\n",
                           MHD_HTTP_HEADER_CONNECTION, "close");
  return MHD_YES;
}

MHD_Result HttpServer::proceed(MHD_Connection* connection, std::string_view url, Request& request) {
  if (request.stage == Request::Stage::begun) {
    if (config_.tls && !is_client_allowed(connection, config_.tls->clients))
      return responder_.send(connection, MHD_HTTP_FORBIDDEN, "no valid client certificate\n");
    if (!passwords_.empty())
      if (const auto result = authenticate(connection, request)) return *result;
    request.stage = Request::Stage::checked;
  }
  if (request.stage == Request::Stage::refused) return refuse_user(connection);
  if (request.stage == Request::Stage::busy)
    return responder_.send(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                           "too many passwords to check\n", MHD_HTTP_HEADER_RETRY_AFTER, "5");
  return route(connection, url, request);
}

MHD_Result HttpServer::refuse_user(MHD_Connection* connection) const {
  return responder_.send(connection, MHD_HTTP_UNAUTHORIZED, "unauthorized\n",
                         MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic");
}

std::optional<MHD_Result> HttpServer::authenticate(MHD_Connection* connection, Request& request) {
  char* secret = nullptr;
  char* name = MHD_basic_auth_get_username_password(connection, &secret);
  const std::string user = name == nullptr ? "" : name;
  const std::string password = secret == nullptr ? "" : secret;
  MHD_free(name);
  MHD_free(secret);
  if (user.empty()) return refuse_user(connection);
  if (passwords_.check_cached(user, password) == PasswordChecker::Answer::right)
    return std::nullopt;
  MHD_suspend_connection(connection);
  const bool is_queued = passwords_.check(user, password, [&request, connection](bool is_right) {
    request.stage = is_right ? Request::Stage::checked : Request::Stage::refused;
    MHD_resume_connection(connection);
  });
  if (is_queued) return MHD_YES;
  request.stage = Request::Stage::busy;
  MHD_resume_connection(connection);
  return MHD_YES;
}

MHD_Result HttpServer::route(MHD_Connection* connection, std::string_view url, Request& request) {
  if (url == "/metrics") return send_metrics(connection, request);
  if (url == "/healthz") return responder_.send(connection, MHD_HTTP_OK, "ok\n");
  if (url == "/") return responder_.send_index(connection);
  return responder_.send(connection, MHD_HTTP_NOT_FOUND, "not found\n");
}

MHD_Result HttpServer::send_metrics(MHD_Connection* connection, Request& request) {
  if (request.stage != Request::Stage::scraped) request.scrape = scrapes_.find_recent();
  if (request.scrape)
    return responder_.send_scrape(
        connection, request.scrape,
        negotiate_format(find_header(connection, MHD_HTTP_HEADER_ACCEPT)),
        accepts_gzip(find_header(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING)));
  if (request.stage == Request::Stage::scraped)
    return responder_.send(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                           "the readings did not end in time\n", MHD_HTTP_HEADER_RETRY_AFTER, "5");
  MHD_suspend_connection(connection);
  scrapes_.request_scrape(Clock::now() + read_scrape_timeout(connection),
                          [&request, connection](SharedScrape::Result scrape) {
                            request.scrape = std::move(scrape);
                            request.stage = Request::Stage::scraped;
                            MHD_resume_connection(connection);
                          });
  return MHD_YES;
}

Expected<WebConfig> load_config(const ServerSettings& settings) {
  return settings.web_config ? read_web_config(*settings.web_config) : WebConfig{};
}

}  // namespace

std::optional<Failure> serve(const ServerSettings& settings) {
  auto config = load_config(settings);
  if (!config) return config.error();
  const char* const scheme = config->tls ? "https://" : "http://";
  const auto listener = open_listener(settings.address, settings.port);
  if (!listener) return listener.error();
  HttpServer server(settings, *std::move(config));
  if (auto failure = server.start(listener->socket)) return failure;
  settings.report_url(scheme + listener->address);
  settings.wait_for_stop();
  return std::nullopt;
}

}  // namespace hmn::cli
