// One request a connection, one connection at a time.
#include "oci/testing_registry.h"

#include <algorithm>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>

#include "base/ascii.h"
#include "crypto/base64.h"

namespace sluice::oci {
namespace {

namespace asio = boost::asio;

std::string response(int status, const std::string& body, const std::string& more = "") {
  return "HTTP/1.1 " + std::to_string(status) + " Said\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\nConnection: close\r\n" + more + "\r\n" + body;
}

// The value of a header, whatever the case of its name.
std::string header_in(const std::string& head, const std::string& name) {
  std::string small = head;
  std::ranges::transform(small, small.begin(), to_lower);
  const size_t at = small.find("\r\n" + name + ": ");
  if (at == std::string::npos) return "";
  const size_t begin = at + 4 + name.size();
  return head.substr(begin, head.find("\r\n", begin) - begin);
}

}  // namespace

TestingRegistry::TestingRegistry() : thread_([this] { serve(); }) {}

TestingRegistry::~TestingRegistry() {
  ending_ = true;
  boost::system::error_code ignored;
  asio::ip::tcp::socket(context_).connect(acceptor_.local_endpoint(), ignored);
  thread_.join();
}

void TestingRegistry::serve() {
  while (true) {
    boost::system::error_code failure;
    asio::ip::tcp::socket socket = acceptor_.accept(failure);
    if (ending_) return;
    asio::streambuf input;
    asio::read_until(socket, input, "\r\n\r\n", failure);
    if (failure) continue;
    const std::string head(asio::buffers_begin(input.data()), asio::buffers_end(input.data()));
    asio::write(socket, asio::buffer(answer(head)), failure);
    socket.shutdown(asio::ip::tcp::socket::shutdown_both, failure);
  }
}

Descriptor TestingRegistry::add(const std::string& bytes, std::string_view media_type) {
  Descriptor descriptor = describe(bytes, media_type);
  add_bytes("blobs/" + descriptor.digest, bytes);
  return descriptor;
}

std::string TestingRegistry::add_manifest(const std::string& tag, const Manifest& manifest) {
  const std::string bytes = write_manifest(manifest);
  const std::string digest = describe(bytes, kManifestType).digest;
  add_bytes("manifests/" + tag, bytes);
  add_bytes("manifests/" + digest, bytes);
  return digest;
}

void TestingRegistry::add_bytes(const std::string& name, std::string bytes) {
  std::lock_guard lock(mutex_);
  kept_["/v2/team/shop/" + name] = std::move(bytes);
}

std::string TestingRegistry::answer(const std::string& head) {
  std::lock_guard lock(mutex_);
  if (ill > 0) {
    --ill;
    return response(503, "");
  }
  told = header_in(head, "authorization");
  const size_t begin = head.find(' ') + 1;
  const std::string path = head.substr(begin, head.find_first_of(" ?", begin) - begin);
  const std::string basic = "Basic " + crypto::to_base64(login);
  if (path == "/token") return told == basic ? response(200, R"({"token":"a-token"})") : response(401, "");
  if (!login.empty() && told != (realm.empty() ? basic : "Bearer a-token")) {
    return response(401, "",
                    "WWW-Authenticate: " +
                        (realm.empty() ? "Basic realm=\"shop\"" : "Bearer realm=\"" + realm + "\",service=\"shop\"") +
                        "\r\n");
  }
  if (path == "/v2/") return response(200, "{}");
  const bool blob = path.find("/blobs/") != std::string::npos;
  if (blob && !moved_to.empty()) return response(307, "", "Location: http://" + moved_to + path + "\r\n");
  const auto found = kept_.find(path);
  if (found == kept_.end()) return response(404, R"({"errors":[{"code":"UNKNOWN","message":"not here"}]})");
  if (const std::string range = header_in(head, "range"); !range.empty()) {
    ++asked_for_rest;
    return response(206, found->second.substr(std::min(found->second.size(), std::stoul(range.substr(6)))));
  }
  return response(200, blob && cuts ? found->second.substr(0, found->second.size() / 2) : found->second);
}

}  // namespace sluice::oci
