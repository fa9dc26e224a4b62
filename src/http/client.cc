// One request, one answer.
#include "http/client.h"

namespace sluice::http {
namespace {

// What a server of this program answers at most; a page of a store's rows is far smaller.
constexpr MessageLimits kAnswerLimits{.head_bytes = size_t{16} << 10U, .body_bytes = size_t{256} << 20U};

}  // namespace

Result<std::unique_ptr<Client>> Client::to_unix(const std::string& path, const Clock& clock) {
  auto socket = connect_unix(path);
  if (!socket) return socket.error();
  return std::unique_ptr<Client>(new Client(*std::move(socket), "sluice", clock));
}

Result<std::unique_ptr<Client>> Client::to_tcp(const std::string& address, uint16_t port, const Clock& clock) {
  auto socket = connect_tcp(address, port);
  if (!socket) return socket.error();
  return std::unique_ptr<Client>(new Client(*std::move(socket), address + ":" + std::to_string(port), clock));
}

Result<Answer> Client::send(Request request, int64_t timeout_ms) {
  const Error broken{.code = Code::unavailable, .message = "the connection broke before there was an answer"};
  if (!wire_) return broken;
  request.headers.insert(request.headers.begin(), Header{"Host", host_});
  int64_t deadline_ns = clock_.monotonic_ns() + timeout_ms * 1'000'000;
  std::string bytes = head_of(request) + request.body;
  // A server that refuses may answer before it has read everything: what it says is read all the same.
  wire_->write(bytes, deadline_ns);
  AnswerParser parser(kAnswerLimits);
  while (true) {
    auto complete = parser.take(input_);
    if (!complete) {
      wire_.reset();
      return complete.error();
    }
    if (*complete) break;
    switch (wire_->read(input_, deadline_ns, -1)) {
      case Wire::Read::some:
        break;
      case Wire::Read::late:
        wire_.reset();
        return Error{.code = Code::timeout,
                     .message = "there was no answer within " + std::to_string(timeout_ms) + " ms"};
      default:
        wire_.reset();
        return broken;
    }
  }
  Answer answer = parser.answer();
  if (!answer.keep_alive) wire_.reset();
  return answer;
}

}  // namespace sluice::http
