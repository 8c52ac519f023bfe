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
#include "cli/exporter/server/access.hpp"
#include "cli/exporter/server/connections.hpp"
#include "cli/exporter/server/tls.hpp"
#include "cli/exporter/server/web_config.hpp"

namespace hmn::cli {
namespace {

// A scrape that clients share.
struct FinishedScrape {
  std::chrono::steady_clock::time_point begun;
  Rendering text;
};

// Reads the machine on a thread of its own, once for all clients that ask meanwhile, and again no
// sooner than the longest age of a shared scrape. A second thread lets no client wait beyond its
// own deadline.
class SharedScrape {
 public:
  using Clock = std::chrono::steady_clock;
  using Result = std::shared_ptr<const FinishedScrape>;  // null: none in time
  using Callback = std::function<void(Result)>;

  explicit SharedScrape(const ServerSettings& how);
  SharedScrape(const SharedScrape&) = delete;
  SharedScrape& operator=(const SharedScrape&) = delete;
  ~SharedScrape();

  // Returns one that is young enough; null if there is none.
  Result young() const;
  // Calls back once, on another thread, at the deadline at the latest.
  void ask(Clock::time_point deadline, Callback then);
  // Calls back with null for all that ask from now on; when it returns, all others were called
  // back.
  void stop();

 private:
  struct Waiter {
    Clock::time_point deadline;
    Callback then;
  };
  void work();
  void watch();
  std::list<Waiter> take_late(Clock::time_point now);
  Result read(Clock::time_point deadline);

  const ServerSettings& how_;
  mutable std::mutex mutex_;
  std::condition_variable asked_;
  std::condition_variable waited_;
  std::list<Waiter> waiting_;
  Result last_;
  bool stopped_ = false;
  std::thread reader_;
  std::thread watch_;
};

template <class List>
auto earliest(const List& waiting) {
  return std::min_element(waiting.begin(), waiting.end(),
                          [](const auto& a, const auto& b) { return a.deadline < b.deadline; })
      ->deadline;
}

SharedScrape::SharedScrape(const ServerSettings& how)
    : how_(how), reader_([this] { work(); }), watch_([this] { watch(); }) {}

SharedScrape::~SharedScrape() {
  stop();
}

SharedScrape::Result SharedScrape::young() const {
  const std::lock_guard lock(mutex_);
  return last_ && Clock::now() - last_->begun < how_.max_age ? last_ : nullptr;
}

void SharedScrape::ask(Clock::time_point deadline, Callback then) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_) {
      waiting_.push_back({deadline, std::move(then)});
      asked_.notify_one();
      waited_.notify_one();
      return;
    }
  }
  then(nullptr);
}

void SharedScrape::stop() {
  std::list<Waiter> left;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    left.swap(waiting_);
    asked_.notify_one();
    waited_.notify_one();
  }
  for (const auto& each : left) each.then(nullptr);
  if (reader_.joinable()) reader_.join();
  if (watch_.joinable()) watch_.join();
}

SharedScrape::Result SharedScrape::read(Clock::time_point deadline) {
  using std::chrono::milliseconds;
  const auto begun = Clock::now();
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - begun);
  auto text = how_.scrape(std::max(left, milliseconds(1)));
  if (!text) return nullptr;
  return std::make_shared<const FinishedScrape>(FinishedScrape{begun, std::move(text)});
}

void SharedScrape::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    asked_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (stopped_) return;
    const auto deadline = earliest(waiting_);
    lock.unlock();
    auto made = read(deadline);
    lock.lock();
    // Includes those who asked while it was read.
    std::list<Waiter> served;
    served.swap(waiting_);
    last_ = made;
    lock.unlock();
    for (const auto& each : served) each.then(made);
  }
}

std::list<SharedScrape::Waiter> SharedScrape::take_late(Clock::time_point now) {
  std::list<Waiter> late;
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    const auto next = std::next(each);
    if (each->deadline <= now) late.splice(late.end(), waiting_, each);
    each = next;
  }
  return late;
}

void SharedScrape::watch() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (waiting_.empty())
      waited_.wait(lock);
    else
      waited_.wait_until(lock, earliest(waiting_));
    const auto late = take_late(Clock::now());
    if (late.empty()) continue;
    lock.unlock();
    for (const auto& each : late) each.then(nullptr);
    lock.lock();
  }
}

struct ReleaseResponse {
  void operator()(MHD_Response* of) const { MHD_destroy_response(of); }
};
using Response = std::unique_ptr<MHD_Response, ReleaseResponse>;

// Makes the answers, each with the headers of the web configuration.
class Answers {
 public:
  explicit Answers(std::vector<std::pair<std::string, std::string>> headers)
      : headers_(std::move(headers)) {}

  // A short text. `header` and `value` are one more header, where there is one.
  MHD_Result send(MHD_Connection* to, unsigned status, std::string_view text,
                  const char* header = nullptr, const char* value = nullptr) const;
  MHD_Result send_index(MHD_Connection* to) const;
  // The text of a scrape is made once for each format, and compressed once.
  MHD_Result send_scrape(MHD_Connection* to, const SharedScrape::Result& of, TextFormat format,
                         bool compressed);

 private:
  Response make(std::string text, const char* type) const;

  const std::vector<std::pair<std::string, std::string>> headers_;
  SharedScrape::Result made_of_;
  Response made_[2][2];  // by format, and whether it is compressed
};

constexpr const char* plain = "text/plain; charset=utf-8";

constexpr std::string_view index_page =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\"><head><title>hypomnesis</title></head>\n"
    "<body><h1>hypomnesis</h1><p><a href=\"metrics\">Metrics</a></p></body></html>\n";

// Returns the text in gzip's format; none without memory.
std::optional<std::string> gzip(const std::string& text) {
  constexpr int window_bits = 15, of_gzip = 16, memory_level = 8;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits + of_gzip, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK)
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

Response Answers::make(std::string text, const char* type) const {
  auto* held = new std::string(std::move(text));
  Response made(MHD_create_response_from_buffer_with_free_callback_cls(held->size(), held->data(),
                                                                       &free_text, held));
  if (!made) {
    delete held;
    return made;
  }
  MHD_add_response_header(made.get(), MHD_HTTP_HEADER_CONTENT_TYPE, type);
  for (const auto& [name, value] : headers_)
    MHD_add_response_header(made.get(), name.c_str(), value.c_str());
  return made;
}

MHD_Result Answers::send(MHD_Connection* to, unsigned status, std::string_view text,
                         const char* header, const char* value) const {
  const auto made = make(std::string(text), plain);
  if (!made) return MHD_NO;
  if (header != nullptr) MHD_add_response_header(made.get(), header, value);
  return MHD_queue_response(to, status, made.get());
}

MHD_Result Answers::send_index(MHD_Connection* to) const {
  const auto made = make(std::string(index_page), "text/html; charset=utf-8");
  return made ? MHD_queue_response(to, MHD_HTTP_OK, made.get()) : MHD_NO;
}

MHD_Result Answers::send_scrape(MHD_Connection* to, const SharedScrape::Result& of,
                                TextFormat format, bool compressed) {
  if (made_of_ != of) {
    for (auto& of_format : made_)
      for (auto& each : of_format) each.reset();
    made_of_ = of;
  }
  auto& made = made_[format == TextFormat::openmetrics ? 1 : 0][compressed ? 1 : 0];
  if (!made) {
    auto text = of->text(format);
    const auto small = compressed ? gzip(text) : std::nullopt;
    made = make(small ? *small : std::move(text), media_type(format).data());
    if (made && small)
      MHD_add_response_header(made.get(), MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
  }
  return made ? MHD_queue_response(to, MHD_HTTP_OK, made.get()) : MHD_NO;
}

constexpr unsigned most_connections = 256;
constexpr unsigned most_connections_of_address = 64;
constexpr std::size_t request_bytes = 16384;  // line and headers; more is refused

using Clock = std::chrono::steady_clock;

// A request between its calls: MHD comes back when it is resumed.
struct Request {
  enum class Stage { begun, checked, refused, busy, scraped };
  Stage at = Stage::begun;
  SharedScrape::Result scrape;
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

class HttpServer {
 public:
  HttpServer(const ServerSettings& how, WebConfig config)
      : with_(std::move(config)), answers_(with_.headers), passwords_(with_.users), scrapes_(how) {}
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  std::optional<Failure> start(int socket);

 private:
  static MHD_Result handle(void* own, MHD_Connection* connection, const char* url,
                           const char* method, const char* version, const char* data,
                           std::size_t* size, void** state);
  static void completed(void* own, MHD_Connection* connection, void** state,
                        MHD_RequestTerminationCode why);
  static void connected(void* own, MHD_Connection* connection, void** context,
                        MHD_ConnectionNotificationCode what);
  static Connections::Handle* entry_of(MHD_Connection* connection);

  MHD_Result begin(MHD_Connection* connection, std::string_view method, void** state);
  MHD_Result proceed(MHD_Connection* connection, std::string_view url, Request& of);
  // Returns none where the user is known to be right.
  std::optional<MHD_Result> authenticate(MHD_Connection* connection, Request& of);
  MHD_Result refuse_user(MHD_Connection* connection) const;
  MHD_Result route(MHD_Connection* connection, std::string_view url, Request& of);
  MHD_Result metrics(MHD_Connection* connection, Request& of);
  std::vector<MHD_OptionItem> tls_options();

  WebConfig with_;
  TlsMaterial tls_;
  Answers answers_;
  Connections connections_;
  Passwords passwords_;
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

std::optional<Failure> HttpServer::start(int socket) {
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

Connections::Handle* HttpServer::entry_of(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info == nullptr ? nullptr : static_cast<Connections::Handle*>(info->socket_context);
}

void HttpServer::connected(void* own, MHD_Connection* connection, void** context,
                           MHD_ConnectionNotificationCode what) {
  auto& server = *static_cast<HttpServer*>(own);
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info != nullptr)
      *context = new Connections::Handle(server.connections_.opened(info->connect_fd));
    return;
  }
  const std::unique_ptr<Connections::Handle> entry(static_cast<Connections::Handle*>(*context));
  if (entry) server.connections_.closed(*entry);
  *context = nullptr;
}

void HttpServer::completed(void* own, MHD_Connection* connection, void** state,
                           MHD_RequestTerminationCode) {
  delete static_cast<Request*>(*state);
  *state = nullptr;
  if (auto* entry = entry_of(connection))
    static_cast<HttpServer*>(own)->connections_.answered(*entry);
}

MHD_Result HttpServer::handle(void* own, MHD_Connection* connection, const char* url,
                              const char* method, const char*, const char*, std::size_t* size,
                              void** state) {
  auto& server = *static_cast<HttpServer*>(own);
  if (*state == nullptr) return server.begin(connection, method, state);
  *size = 0;  // a body is ignored
  return server.proceed(connection, url, *static_cast<Request*>(*state));
}

// Refuses before a body is read.
MHD_Result HttpServer::begin(MHD_Connection* connection, std::string_view method, void** state) {
  *state = new Request;
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

MHD_Result HttpServer::proceed(MHD_Connection* connection, std::string_view url, Request& of) {
  if (of.at == Request::Stage::begun) {
    if (with_.tls && !is_client_allowed(connection, with_.tls->clients))
      return answers_.send(connection, MHD_HTTP_FORBIDDEN, "no valid client certificate\n");
    if (!passwords_.empty())
      if (const auto result = authenticate(connection, of)) return *result;
    of.at = Request::Stage::checked;
  }
  if (of.at == Request::Stage::refused) return refuse_user(connection);
  if (of.at == Request::Stage::busy)
    return answers_.send(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "too many passwords to check\n",
                         MHD_HTTP_HEADER_RETRY_AFTER, "5");
  return route(connection, url, of);
}

MHD_Result HttpServer::refuse_user(MHD_Connection* connection) const {
  return answers_.send(connection, MHD_HTTP_UNAUTHORIZED, "unauthorized\n",
                       MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic");
}

std::optional<MHD_Result> HttpServer::authenticate(MHD_Connection* connection, Request& of) {
  char* secret = nullptr;
  char* name = MHD_basic_auth_get_username_password(connection, &secret);
  const std::string user = name == nullptr ? "" : name;
  const std::string password = secret == nullptr ? "" : secret;
  MHD_free(name);
  MHD_free(secret);
  if (user.empty()) return refuse_user(connection);
  if (passwords_.known(user, password) == Passwords::Answer::right) return std::nullopt;
  MHD_suspend_connection(connection);
  const bool is_asked = passwords_.check(user, password, [&of, connection](bool is_right) {
    of.at = is_right ? Request::Stage::checked : Request::Stage::refused;
    MHD_resume_connection(connection);
  });
  if (is_asked) return MHD_YES;
  of.at = Request::Stage::busy;
  MHD_resume_connection(connection);
  return MHD_YES;
}

MHD_Result HttpServer::route(MHD_Connection* connection, std::string_view url, Request& of) {
  if (url == "/metrics") return metrics(connection, of);
  if (url == "/healthz") return answers_.send(connection, MHD_HTTP_OK, "ok\n");
  if (url == "/") return answers_.send_index(connection);
  return answers_.send(connection, MHD_HTTP_NOT_FOUND, "not found\n");
}

MHD_Result HttpServer::metrics(MHD_Connection* connection, Request& of) {
  if (of.at != Request::Stage::scraped) of.scrape = scrapes_.young();
  if (of.scrape)
    return answers_.send_scrape(connection, of.scrape,
                                accepted_format(header(connection, MHD_HTTP_HEADER_ACCEPT)),
                                accepts_gzip(header(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING)));
  if (of.at == Request::Stage::scraped)
    return answers_.send(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                         "the readings did not end in time\n", MHD_HTTP_HEADER_RETRY_AFTER, "5");
  MHD_suspend_connection(connection);
  scrapes_.ask(Clock::now() + patience_of(connection),
               [&of, connection](SharedScrape::Result made) {
                 of.scrape = std::move(made);
                 of.at = Request::Stage::scraped;
                 MHD_resume_connection(connection);
               });
  return MHD_YES;
}

Expected<WebConfig> config_of(const ServerSettings& how) {
  return how.web_config ? read_web_config(*how.web_config) : WebConfig{};
}

}  // namespace

std::optional<Failure> serve(const ServerSettings& how) {
  auto config = config_of(how);
  if (!config) return config.why();
  const char* const scheme = config->tls ? "https://" : "http://";
  const auto at = listen_at(how.address, how.port);
  if (!at) return at.why();
  HttpServer server(how, *std::move(config));
  if (auto wrong = server.start(at->socket)) return wrong;
  how.listening(scheme + at->address);
  how.wait_for_stop();
  return std::nullopt;
}

}  // namespace hmn::cli
