// Boost.Beast reads; what it is lenient about is refused here.
#include "http/parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <utility>

namespace sluice::http {
namespace {

namespace beast = boost::beast;

// A line that goes on in the next one, which readers disagree about.
bool has_folded_line(std::string_view input) {
  std::string_view head = input.substr(0, input.find("\r\n\r\n"));
  return head.find("\n ") != std::string_view::npos || head.find("\n\t") != std::string_view::npos;
}

constexpr size_t kLastChunk = 5;  // "0\r\n\r\n", with which every chunked body ends

// Beast asserts that it gets the last chunk whole if it has seen its beginning. Nothing that is shorter ends a body.
template <typename Parser>
bool is_too_little(const Parser& parser, const std::string& input) {
  return parser.is_header_done() && parser.chunked() && input.size() < kLastChunk;
}

template <typename Parser>
Result<bool> put(Parser& parser, std::string& input, beast::error_code& failure) {
  failure = {};
  while (!input.empty() && !parser.is_done() && !is_too_little(parser, input)) {
    size_t taken = parser.put(boost::asio::const_buffer(input.data(), input.size()), failure);
    input.erase(0, taken);
    if (failure == beast::http::error::need_more) {
      failure = {};
      break;
    }
    if (failure) {
      bool limit = failure == beast::http::error::header_limit || failure == beast::http::error::body_limit ||
                   failure == beast::http::error::buffer_overflow;
      return Error{.code = limit ? Code::limit : Code::invalid,
                   .message = "this is not HTTP/1.1 as it must be: " + failure.message()};
    }
    if (taken == 0) break;
  }
  return parser.is_done();
}

template <typename Fields>
std::vector<Header> headers_of(const Fields& fields) {
  std::vector<Header> headers;
  for (const auto& field : fields) {
    headers.push_back({std::string(field.name_string()), std::string(field.value())});
  }
  return headers;
}

}  // namespace

struct RequestParser::State {
  beast::http::request_parser<beast::http::string_body> parser;

  bool holds_more_than(size_t bytes) const {
    auto announced = parser.content_length();
    return parser.get().body().size() > bytes || (announced && *announced > bytes);
  }
};

RequestParser::RequestParser(const MessageLimits& limits) : state_(std::make_unique<State>()), limits_(limits) {
  state_->parser.eager(true);
  state_->parser.header_limit(static_cast<uint32_t>(limits.head_bytes));
  state_->parser.body_limit(boost::none);  // take() looks itself: a body that is streamed has none
}

RequestParser::~RequestParser() = default;

bool RequestParser::has_head() const { return state_->parser.is_header_done(); }

bool RequestParser::expects_continue() const {
  const auto& message = state_->parser.get();
  return has_head() && beast::iequals(message[beast::http::field::expect], "100-continue");
}

Result<bool> RequestParser::take(std::string& input) {
  if (!has_head()) {
    if (has_folded_line(input)) {
      return Error{.code = Code::invalid, .message = "a header goes on in the next line, which is not allowed"};
    }
    if (input.size() > limits_.head_bytes && input.find("\r\n\r\n") > limits_.head_bytes) {
      status_ = 431;
      return Error{.code = Code::limit,
                   .message = "the head has more than " + std::to_string(limits_.head_bytes) + " bytes"};
    }
  }
  beast::error_code failure;
  auto done = put(state_->parser, input, failure);
  if (failure == beast::http::error::header_limit || failure == beast::http::error::buffer_overflow) status_ = 431;
  if (done && has_head() && !is_streamed() && state_->holds_more_than(limits_.body_bytes)) {
    status_ = 413;
    return Error{.code = Code::limit,
                 .message = "the body has more than " + std::to_string(limits_.body_bytes) + " bytes"};
  }
  if (failure == beast::http::error::bad_version) status_ = 505;
  return done;
}

bool RequestParser::is_streamed() const {
  const beast::http::verb method = state_->parser.get().method();
  return has_head() && (method == beast::http::verb::put || method == beast::http::verb::patch);
}

std::string RequestParser::take_body() { return std::exchange(state_->parser.get().body(), {}); }

Result<Request> RequestParser::request() {
  auto request = head();
  if (request) request->body = take_body();
  return request;
}

Result<Request> RequestParser::head() {
  const auto& message = state_->parser.get();
  if (message.version() != 11) {
    status_ = 505;
    return Error{.code = Code::invalid, .message = "only HTTP/1.1 is spoken here"};
  }
  if (message.count(beast::http::field::host) != 1) {
    return Error{.code = Code::invalid, .message = "a request has exactly one Host"};
  }
  // Beast takes a list of equal lengths for one.
  if (message.count(beast::http::field::content_length) > 1 ||
      message[beast::http::field::content_length].find(',') != std::string_view::npos) {
    return Error{.code = Code::invalid, .message = "a request has at most one Content-Length"};
  }
  auto encoding = message.equal_range(beast::http::field::transfer_encoding);
  for (auto each = encoding.first; each != encoding.second; ++each) {
    if (!beast::iequals(each->value(), "chunked")) {
      return Error{.code = Code::invalid, .message = "the only Transfer-Encoding is chunked"};
    }
  }
  Request request{.method = std::string(message.method_string()),
                  .target = std::string(message.target()),
                  .headers = headers_of(message),
                  .body = {},
                  .keep_alive = message.keep_alive()};
  if (auto apart = take_target_apart(request); !apart) return apart.error();
  return request;
}

struct AnswerParser::State {
  beast::http::response_parser<beast::http::string_body> parser;
};

AnswerParser::AnswerParser(const MessageLimits& limits) : state_(std::make_unique<State>()) {
  state_->parser.eager(true);
  state_->parser.header_limit(static_cast<uint32_t>(limits.head_bytes));
  state_->parser.body_limit(limits.body_bytes);
}

AnswerParser::~AnswerParser() = default;

Result<bool> AnswerParser::take(std::string& input) {
  begun_ = begun_ || !input.empty();
  beast::error_code failure;
  return put(state_->parser, input, failure);
}

int AnswerParser::status() const {
  return state_->parser.is_header_done() ? static_cast<int>(state_->parser.get().result_int()) : 0;
}

std::vector<Header> AnswerParser::headers() const { return headers_of(state_->parser.get()); }

std::string AnswerParser::take_body() { return std::exchange(state_->parser.get().body(), {}); }

Answer AnswerParser::answer() {
  auto message = state_->parser.release();
  return {.status = static_cast<int>(message.result_int()),
          .headers = headers_of(message),
          .body = std::move(message.body()),
          .keep_alive = message.keep_alive()};
}

}  // namespace sluice::http
