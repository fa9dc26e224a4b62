// HTTP requests: what is read must be the same however the bytes are cut, what is taken must be unambiguous, and
// answers must not break their reader. covers: src/http/parser.cc src/http/message.cc
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "http/parser.h"

namespace {

using sluice::http::MessageLimits;
using sluice::http::Request;

constexpr MessageLimits kLimits{.head_bytes = 2'000, .body_bytes = 2'000};

void require(bool holds) {
  if (!holds) std::abort();
}

struct Read {
  std::optional<Request> request;
  bool refused = false;
};

// The first request in the bytes, of which so many come at a time.
Read read(const std::string& bytes, size_t at_a_time) {
  sluice::http::RequestParser parser(kLimits);
  std::string input;
  for (size_t at = 0; at < bytes.size(); at += at_a_time) {
    input += bytes.substr(at, at_a_time);
    auto complete = parser.take(input);
    if (!complete) {
      require(parser.status() >= 400 && parser.status() < 600);
      return {.refused = true};
    }
    if (!*complete) continue;
    auto request = parser.request();
    if (!request) return {.refused = true};
    return {.request = *request};
  }
  return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  std::string input(reinterpret_cast<const char*>(bytes), size);
  Read whole = read(input, std::max<size_t>(size, 1));
  for (size_t at_a_time : {1, 7}) {
    Read cut = read(input, at_a_time);
    if (whole.request && cut.request) {
      require(cut.request->method == whole.request->method && cut.request->target == whole.request->target);
      require(cut.request->headers == whole.request->headers && cut.request->body == whole.request->body);
    } else {
      require(!(whole.request && !cut.request));
    }
  }
  if (whole.request) {
    const Request& request = *whole.request;
    require(request.body.size() <= kLimits.body_bytes && request.target.starts_with('/'));
    for (const auto& header : request.headers) {
      require(header.value.find_first_of("\r\n") == std::string::npos);
    }
    Request again{.target = sluice::http::target_of(request.path, request.query)};
    if (!request.path.empty()) {
      require(sluice::http::take_target_apart(again).has_value());
      require(again.path == request.path && again.query == request.query);
    }
  }
  sluice::http::AnswerParser answers(kLimits);
  std::string rest = input;
  auto complete = answers.take(rest);
  if (complete && *complete) require(answers.answer().body.size() <= kLimits.body_bytes);
  return 0;
}
