// One connection at a time, each closed after its answer.
#include "container/testing_engine.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace sluice::container {
namespace {

constexpr int kLook_ms = 10;

size_t length_in(const std::string& head) {
  const size_t at = head.find("Content-Length: ");
  return at == std::string::npos ? 0 : static_cast<size_t>(std::atoll(head.c_str() + at + 16));
}

}  // namespace

TestingEngine::TestingEngine() {
  std::string name = "/tmp/engine.XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  folder_ = name;
  path_ = folder_ + "/sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path_.data(), path_.size());
  listening_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(listening_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) std::abort();
  if (::listen(listening_, 16) != 0) std::abort();
  thread_ = std::thread([this] { serve(); });
}

TestingEngine::~TestingEngine() {
  ending_ = true;
  thread_.join();
  ::close(listening_);
  ::unlink(path_.c_str());
  ::rmdir(folder_.c_str());
}

void TestingEngine::answer(const std::string& request, const std::string& status, const std::string& body) {
  answer_bytes(request, "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nContent-Length: " +
                            std::to_string(body.size()) + "\r\n\r\n" + body);
}

void TestingEngine::greet(const std::string& server) {
  answer_bytes("GET /v1.41/_ping", "HTTP/1.1 200 OK\r\nServer: " + server + "\r\nContent-Length: 2\r\n\r\nOK");
}

void TestingEngine::answer_bytes(const std::string& request, const std::string& bytes) {
  std::lock_guard lock(mutex_);
  answers_[request] = bytes;
}

std::vector<std::string> TestingEngine::asked() const {
  std::lock_guard lock(mutex_);
  return asked_;
}

void TestingEngine::serve() {
  while (!ending_) {
    pollfd ready{.fd = listening_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kLook_ms) <= 0) continue;
    const int connection = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    serve_one(connection);
    ::close(connection);
  }
}

void TestingEngine::serve_one(int connection) {
  std::string request;
  std::array<char, 4096> chunk{};
  size_t body = std::string::npos;
  while (body == std::string::npos || request.size() < body + length_in(request)) {
    const ssize_t got = ::read(connection, chunk.data(), chunk.size());
    if (got <= 0) return;
    request.append(chunk.data(), static_cast<size_t>(got));
    if (const size_t end = request.find("\r\n\r\n"); end != std::string::npos) body = end + 4;
  }
  std::string bytes = "HTTP/1.1 501 Not Implemented\r\nContent-Length: 0\r\n\r\n";
  {
    std::lock_guard lock(mutex_);
    asked_.push_back(request);
    for (const auto& [begin, each] : answers_) {
      if (request.starts_with(begin)) bytes = each;
    }
  }
  (void)!::write(connection, bytes.data(), bytes.size());
}

}  // namespace sluice::container
