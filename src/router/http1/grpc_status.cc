// Two tables, and what is around them.
#include "router/http1/grpc_status.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "router/http1/fields.h"
#include "router/http1/own_answers.h"

namespace sluice::router {

bool is_grpc(std::string_view content_type) {
  constexpr std::string_view kGrpc = "application/grpc";
  if (!equal_ignoring_case(content_type.substr(0, kGrpc.size()), kGrpc)) return false;
  // Not application/grpc-web.
  return content_type.size() == kGrpc.size() || content_type[kGrpc.size()] == '+' || content_type[kGrpc.size()] == ';';
}

int8_t read_grpc_status(std::string_view value) {
  int8_t status = -1;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), status);
  return error == std::errc() && end == value.data() + value.size() && status >= 0 ? status : int8_t{-1};
}

int8_t grpc_status_in(std::string_view trailers, int8_t otherwise) {
  while (!trailers.empty()) {
    const std::string_view line = trailers.substr(0, trailers.find("\r\n"));
    trailers.remove_prefix(std::min(line.size() + 2, trailers.size()));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !equal_ignoring_case(line.substr(0, colon), "grpc-status")) continue;
    return read_grpc_status(without_blanks(line.substr(colon + 1)));
  }
  return otherwise;
}

int8_t grpc_status_of(uint16_t http) {
  switch (http) {
    case 400:
      return 13;  // INTERNAL
    case 401:
      return 16;  // UNAUTHENTICATED
    case 403:
      return 7;  // PERMISSION_DENIED
    case 404:
      return 12;  // UNIMPLEMENTED
    case 429:
    case 502:
    case 503:
    case 504:
      return 14;  // UNAVAILABLE
    default:
      return 2;  // UNKNOWN
  }
}

uint16_t http_status_of(int8_t grpc) {
  switch (grpc) {
    case 0:
      return 200;
    case 1:  // CANCELLED
      return 499;
    case 3:   // INVALID_ARGUMENT
    case 9:   // FAILED_PRECONDITION
    case 11:  // OUT_OF_RANGE
      return 400;
    case 5:  // NOT_FOUND
      return 404;
    case 6:   // ALREADY_EXISTS
    case 10:  // ABORTED
      return 409;
    case 7:  // PERMISSION_DENIED
      return 403;
    case 8:  // RESOURCE_EXHAUSTED
      return 429;
    case 12:  // UNIMPLEMENTED
      return 501;
    case 14:  // UNAVAILABLE
      return 503;
    case 4:  // DEADLINE_EXCEEDED
      return 504;
    case 16:  // UNAUTHENTICATED
      return 401;
    default:
      return 500;
  }
}

void write_grpc_answer(uint16_t http, std::string_view trace, std::string& out) {
  out += "HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\ngrpc-status: ";
  out += std::to_string(grpc_status_of(http)) + "\r\ngrpc-message: " + std::to_string(http) + " ";
  out += std::string(status_text(http)) + ", request " + std::string(trace) + "\r\n\r\n";
}

}  // namespace sluice::router
