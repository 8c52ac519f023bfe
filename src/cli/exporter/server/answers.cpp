// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server/answers.hpp"

namespace hmn::cli {
namespace {

constexpr const char* plain = "text/plain; charset=utf-8";

constexpr std::string_view index_page =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\"><head><title>hypomnesis</title></head>\n"
    "<body><h1>hypomnesis</h1><p><a href=\"metrics\">Metrics</a></p></body></html>\n";

void free_text(void* text) {
  delete static_cast<std::string*>(text);
}

}  // namespace

response answers::make(std::string text, const char* type) const {
  auto* held = new std::string(std::move(text));
  response made(MHD_create_response_from_buffer_with_free_callback_cls(held->size(), held->data(),
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

MHD_Result answers::send(MHD_Connection* to, unsigned status, std::string_view text,
                         const char* header, const char* value) const {
  const auto made = make(std::string(text), plain);
  if (!made) return MHD_NO;
  if (header != nullptr) MHD_add_response_header(made.get(), header, value);
  return MHD_queue_response(to, status, made.get());
}

MHD_Result answers::send_index(MHD_Connection* to) const {
  const auto made = make(std::string(index_page), "text/html; charset=utf-8");
  return made ? MHD_queue_response(to, MHD_HTTP_OK, made.get()) : MHD_NO;
}

MHD_Result answers::send_scrape(MHD_Connection* to, const shared_scrape::result& of,
                                text_format format) {
  if (made_of_ != of) {
    for (auto& each : made_) each.reset();
    made_of_ = of;
  }
  auto& made = made_[format == text_format::openmetrics ? 1 : 0];
  if (!made) made = make(of->text(format), media_type(format).data());
  return made ? MHD_queue_response(to, MHD_HTTP_OK, made.get()) : MHD_NO;
}

}  // namespace hmn::cli
