// One request, one answer.
#include "http/client.h"

#include <fcntl.h>

#include <algorithm>
#include <span>
#include <utility>

namespace sluice::http {
namespace {

// What a server of this program answers at most; a page of a store's rows is far smaller.
constexpr MessageLimits kAnswerLimits{.head_bytes = size_t{16} << 10U, .body_bytes = size_t{256} << 20U};
constexpr size_t kUploadPiece = size_t{1} << 18U;
const Error kBroken{.code = Code::unavailable, .message = "the connection broke before there was an answer"};

constexpr MessageLimits kStreamLimits{.head_bytes = size_t{16} << 10U, .body_bytes = uint64_t{1} << 50U};
constexpr int64_t kStreamBegins_ms = 30'000, kStreamLook_ms = 100;
constexpr int64_t kTlsBegins_ms = 20'000;

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

Result<std::unique_ptr<Client>> Client::to_tls(const std::string& host, uint16_t port, const ServerTrust& trust,
                                               const Clock& clock) {
  auto socket = connect_host(host, port);
  if (!socket) return socket.error();
  const bool six = host.find(':') != std::string::npos;
  std::unique_ptr<Client> client(
      new Client(*std::move(socket), (six ? "[" + host + "]" : host) + ":" + std::to_string(port), clock));
  auto begun = client->wire_->connect_tls(trust, clock.monotonic_ns() + kTlsBegins_ms * 1'000'000);
  if (!begun) return begun.error();
  return client;
}

Result<std::string> chain_shown_at(const std::string& host, uint16_t port, const Clock& clock) {
  auto socket = connect_host(host, port);
  if (!socket) return socket.error();
  Wire wire(*std::move(socket), clock);
  auto begun = wire.connect_tls({.host = host, .anybody = true}, clock.monotonic_ns() + kTlsBegins_ms * 1'000'000);
  if (!begun) return begun.error();
  return wire.peer_chain();
}

// A server that refuses may answer before it has read everything: what it says is read all the same.
Result<Answer> Client::send(Request request, int64_t timeout_ms) {
  if (!wire_) return kBroken;
  request.headers.insert(request.headers.begin(), Header{"Host", host_});
  wire_->write(head_of(request) + request.body, clock_.monotonic_ns() + timeout_ms * 1'000'000);
  return receive(timeout_ms);
}

Result<Answer> Client::send(Request request, File& body, int64_t timeout_ms) {
  if (!wire_) return kBroken;
  auto size = body.size();
  if (!size) return size.error();
  request.headers.insert(request.headers.begin(), Header{"Host", host_});
  std::string bytes = head_of(request, *size);
  std::string piece(kUploadPiece, '\0');
  for (uint64_t at = 0;;) {
    if (!wire_->write(bytes, clock_.monotonic_ns() + timeout_ms * 1'000'000) || at == *size) break;
    auto got = body.read_at(at, std::span(piece).first(std::min<uint64_t>(kUploadPiece, *size - at)));
    if (!got || *got == 0) {
      wire_.reset();  // it cannot be ended as if it were whole
      return got ? Error{.message = "the file became shorter while it was sent"} : got.error();
    }
    bytes.assign(piece, 0, *got);
    at += *got;
  }
  return receive(timeout_ms);
}

Result<Client::SwitchedTo> Client::switch_to(const std::string& protocol, Request request, int64_t timeout_ms) {
  request.headers.push_back({"Connection", "Upgrade"});
  request.headers.push_back({"Upgrade", protocol});
  auto answer = send(std::move(request), timeout_ms);
  if (!answer) return answer.error();
  if (answer->status != 101) return SwitchedTo{.refusal = *std::move(answer)};
  const std::string* given = answer->header("Upgrade");
  if (!wire_ || given == nullptr || *given != protocol) return kBroken;
  return SwitchedTo{
      .wire = std::exchange(wire_, std::nullopt), .input = std::exchange(input_, std::string()), .refusal = {}};
}

Result<Answer> Client::receive(int64_t timeout_ms) {
  const int64_t deadline_ns = clock_.monotonic_ns() + timeout_ms * 1'000'000;
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
        return kBroken;
    }
  }
  Answer answer = parser.answer();
  if (!answer.keep_alive) wire_.reset();
  return answer;
}

Socket Client::hold() const { return Socket(wire_ ? ::fcntl(wire_->socket().fd(), F_DUPFD_CLOEXEC, 0) : -1); }

Result<Answer> Client::begin(Request request, int64_t timeout_ms) {
  if (!wire_) return kBroken;
  request.headers.insert(request.headers.begin(), Header{"Host", host_});
  const int64_t deadline_ns = clock_.monotonic_ns() + timeout_ms * 1'000'000;
  wire_->write(head_of(request) + request.body, deadline_ns);
  begun_ = std::make_unique<AnswerParser>(kStreamLimits);
  while (true) {
    auto complete = begun_->take(input_);
    if (!complete) return complete.error();
    if (begun_->status() != 0) return Answer{.status = begun_->status(), .headers = begun_->headers()};
    const auto read = wire_->read(input_, deadline_ns, -1);
    if (read == Wire::Read::some) continue;
    wire_.reset();
    return read == Wire::Read::late ? Error{.code = Code::timeout, .message = "there was no answer in time"} : kBroken;
  }
}

Result<void> Client::rest(const std::function<bool(std::string_view)>& take, const std::function<bool()>& stop) {
  const auto parser = std::move(begun_);
  if (!wire_ || !parser) return kBroken;
  Wire wire = *std::exchange(wire_, std::nullopt);
  while (true) {
    auto complete = parser->take(input_);
    if (!complete) return complete.error();
    if (!take(parser->take_body()) || *complete) return {};
    const auto read = wire.read(input_, clock_.monotonic_ns() + kStreamLook_ms * 1'000'000, -1);
    if (read == Wire::Read::late && stop()) return {};
    if (read != Wire::Read::some && read != Wire::Read::late) return kBroken;
  }
}

Result<Answer> Client::stream(Request request, const std::function<bool(std::string_view)>& take,
                              const std::function<bool()>& stop) {
  const Error broken{.code = Code::unavailable, .message = "the connection broke before the answer was complete"};
  if (!wire_) return broken;
  request.headers.insert(request.headers.begin(), Header{"Host", host_});
  Wire wire = *std::exchange(wire_, std::nullopt);
  wire.write(head_of(request) + request.body, clock_.monotonic_ns() + kStreamBegins_ms * 1'000'000);
  AnswerParser parser(kStreamLimits);
  while (true) {
    auto complete = parser.take(input_);
    if (!complete) return complete.error();
    const int status = parser.status();
    if (status != 0 && status < 400 && !take(parser.take_body())) return Answer{.status = status};
    if (*complete) return parser.answer();
    switch (wire.read(input_, clock_.monotonic_ns() + kStreamLook_ms * 1'000'000, -1)) {
      case Wire::Read::some:
        break;
      case Wire::Read::late:
        if (stop()) return Answer{.status = status == 0 ? 200 : status};
        break;
      default:
        return broken;
    }
  }
}

}  // namespace sluice::http
