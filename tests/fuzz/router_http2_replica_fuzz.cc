// The router's machine with a replica that speaks HTTP/2, or nearly: the input is what the replica sends, in pieces,
// while clients ask, read slowly and leave. Nothing is left behind when all are gone, and what a client gets is always
// a row of answers that can be read in one way. covers: src/router/http2/http2_client.cc
// src/router/proxy/proxy_shared.cc
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "router/testing_proxy.h"

namespace {

using namespace sluice::router;

constexpr std::string_view kGet = "GET / HTTP/1.1\r\nHost: shop.example\r\n\r\n";
constexpr std::string_view kPost =
    "POST / HTTP/1.1\r\nHost: shop.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 7\r\n\r\n";

void require(bool holds) {
  if (!holds) std::abort();
}

// Whether the bytes are answers, one after the other, of which only the last may not be whole.
void require_answers(std::string_view bytes) {
  static ResponseHead head;
  while (!bytes.empty()) {
    Parsed parsed = parse_response_head(bytes, head);
    require(parsed != Parsed::bad);
    if (parsed == Parsed::incomplete) return;
    bytes.remove_prefix(head.size);
    if (head.status < 200 || head.status == 204 || head.status == 304) continue;
    if (head.framing.chunked) {
      ChunkReader reader;
      while (!bytes.empty() && !reader.done()) {
        std::string_view content;
        bytes.remove_prefix(reader.take(bytes, content));
        require(!reader.bad());
      }
    } else {
      require(head.framing.has_length);
      bytes.remove_prefix(static_cast<size_t>(std::min<uint64_t>(head.framing.length, bytes.size())));
    }
  }
}

}  // namespace

// Each step: how many bytes the newest connection to the replica gets (the last of the 256 means other things), and
// those.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  DeploymentDocument deployment = testing_deployment();
  deployment.routes = {.path_prefixes = {"/"}};
  deployment.revisions[0].transport = Transport::http2;
  static const TableDocument kTable = testing_table({deployment});
  TestingProxy proxy(kTable);
  std::vector<int> clients = {proxy.connect()};
  proxy.send(clients[0], kGet);
  auto send = [&](int fd, std::string_view text) {
    if (!proxy.is_closed(fd)) proxy.send(fd, text);
  };
  size_t at = 0;
  for (int step = 0; at < size && step < 200; ++step) {
    const uint8_t much = bytes[at++];
    if (much < 255) {
      const std::string_view text(reinterpret_cast<const char*>(bytes) + at, std::min<size_t>(much, size - at));
      at += text.size();
      if (proxy.upstreams() > 0) send(proxy.upstream(proxy.upstreams() - 1), text);
      continue;
    }
    switch (at < size ? bytes[at++] % 6 : 0) {
      case 0:
        clients.push_back(proxy.connect());
        proxy.send(clients.back(), kGet);
        break;
      case 1:
        clients.push_back(proxy.connect());
        proxy.send(clients.back(), kPost);
        break;
      case 2:
        send(clients.back(), kGet);
        break;
      case 3:
        if (!proxy.is_closed(clients.back())) proxy.break_off(clients.back());
        break;
      case 4:
        if (!proxy.is_closed(clients.back())) proxy.make_room(clients.back(), 0);
        break;
      default:
        if (!proxy.is_closed(clients.back())) proxy.make_room(clients.back(), SIZE_MAX);
    }
  }
  for (int client : clients) {
    require_answers(proxy.wire.at(client).written);
    if (!proxy.is_closed(client)) proxy.break_off(client);
  }
  for (size_t i = 0; i < proxy.upstreams(); ++i) {
    if (!proxy.is_closed(proxy.upstream(i))) proxy.end(proxy.upstream(i));
  }
  require(proxy.proxy->clients() == 0);
  require(proxy.proxy->exchanges() == 0);
  require(proxy.proxy->buffers_taken() == 0);
  require(proxy.wire.open() == 0);
  return 0;
}
