// The router's machine with a client that speaks HTTP/2, or nearly: the input is what it sends, behind the preface, in
// pieces, while replicas answer. Nothing is left behind when it is gone, and what a replica gets is always a row of
// requests that can be read in one way. covers: src/router/http2/http2_session.cc src/router/proxy/proxy_http2.cc
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "router/testing_proxy.h"

namespace {

using namespace sluice::router;

void require(bool holds) {
  if (!holds) std::abort();
}

// Whether the bytes are requests, one after the other, of which only the last may not be whole.
void require_requests(std::string_view bytes) {
  static RequestHead head;
  while (!bytes.empty()) {
    Parsed parsed = parse_request_head(bytes, head);
    require(parsed != Parsed::bad);
    if (parsed == Parsed::incomplete) return;
    bytes.remove_prefix(head.size);
    if (head.framing.chunked) {
      ChunkReader reader;
      while (!bytes.empty() && !reader.done()) {
        std::string_view content;
        bytes.remove_prefix(reader.take(bytes, content));
        require(!reader.bad());
      }
    } else {
      bytes.remove_prefix(static_cast<size_t>(std::min<uint64_t>(head.framing.length, bytes.size())));
    }
  }
}

}  // namespace

// Each step: how many bytes the client sends (the last of the 256 means other things), and those.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  DeploymentDocument deployment = testing_deployment();
  deployment.routes = {.path_prefixes = {"/"}};
  static const TableDocument kTable = testing_table({deployment});
  TestingProxy proxy(kTable);
  const int client = proxy.connect();
  proxy.send(client, kHttp2Preface);
  proxy.send(client, std::string_view("\0\0\0\4\0\0\0\0\0", 9));
  size_t at = 0, answered = 0;
  for (int step = 0; at < size && step < 200; ++step) {
    const uint8_t much = bytes[at++];
    if (much == 255) {
      // What has come upstream is answered, in one of some ways.
      static constexpr std::string_view kAnswers[] = {
          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "HTTP/1.1 103 Early Hints\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX: 1\r\n\r\n", "nothing"};
      const uint8_t how = at < size ? bytes[at++] : 0;
      if (answered < proxy.upstreams()) proxy.send(proxy.upstream(answered++), kAnswers[how % std::size(kAnswers)]);
      continue;
    }
    const std::string_view text(reinterpret_cast<const char*>(bytes) + at, std::min<size_t>(much, size - at));
    at += text.size();
    if (!proxy.is_closed(client)) proxy.send(client, text);
  }
  for (size_t i = 0; i < proxy.upstreams(); ++i) require_requests(proxy.wire.at(proxy.upstream(i)).written);
  proxy.end(client);
  for (size_t i = 0; i < proxy.upstreams(); ++i) {
    if (!proxy.is_closed(proxy.upstream(i))) proxy.end(proxy.upstream(i));
  }
  require(proxy.proxy->clients() == 0);
  require(proxy.proxy->exchanges() == 0);
  require(proxy.proxy->buffers_taken() == 0);
  require(proxy.wire.open() == 0);
  return 0;
}
