// The router's whole machine, with clients and replicas that do whatever the input says: nothing is left behind when
// they are gone, and what a replica gets is always a row of requests that can be read in one way. An input is a list of
// steps: a byte that says what, a byte that says whom, a byte that says how much, and that many bytes. covers:
// src/router/proxy/proxy_client.cc src/router/proxy/proxy_request.cc src/router/proxy/proxy_upstream.cc
// src/router/proxy/proxy_tunnel.cc covers: src/router/proxy/proxy_answers.cc src/router/proxy/upstream_pool.cc
// src/router/http1/websocket_frames.cc src/router/http1/own_answers.cc
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "router/testing_proxy.h"

namespace {

using namespace sluice::router;

void require(bool holds) {
  if (!holds) std::abort();
}

TableDocument fuzzed_table() {
  DeploymentDocument deployment = testing_deployment();
  deployment.routes = {.path_prefixes = {"/"}};
  deployment.stickiness.mode = StickyMode::session;
  deployment.revisions = {{.id = "r2", .weight_bps = 5'000, .replicas = {{"tcp:10.0.0.2:80"}, {"tcp:10.0.0.3:80"}}},
                          {.id = "r1", .weight_bps = 5'000, .replicas = {{"tcp:10.0.0.1:80"}}}};
  TableDocument table = testing_table({deployment});
  table.access_log_bps = 10'000;
  table.cookie_keys = {{"k1", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}};
  return table;
}

// Whether the bytes are requests, one after the other, of which only the last may not be whole.
void require_requests(std::string_view bytes) {
  static RequestHead head;
  while (!bytes.empty()) {
    Parsed parsed = parse_request_head(bytes, head);
    require(parsed != Parsed::bad);
    if (parsed == Parsed::incomplete || head.framing.upgrade) return;
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

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const TableDocument kTable = fuzzed_table();
  TestingProxy proxy(kTable);
  std::vector<int> clients;
  size_t at = 0;
  auto byte = [&] { return at < size ? bytes[at++] : uint8_t{0}; };
  for (int step = 0; at < size && step < 200; ++step) {
    uint8_t what = byte() % 14, whom = byte(), much = byte();
    std::string_view text(reinterpret_cast<const char*>(bytes) + at, std::min<size_t>(what <= 3 ? much : 0, size - at));
    at += text.size();
    bool has_client = !clients.empty(), has_upstream = proxy.upstreams() > 0;
    int client = has_client ? clients[whom % clients.size()] : -1;
    int upstream = has_upstream ? proxy.upstream(whom % proxy.upstreams()) : -1;
    if (what == 0 || (what <= 1 && !has_client)) {
      clients.push_back(proxy.connect());
      proxy.send(clients.back(), text);
    } else if (what == 1) {
      proxy.send(client, text);
    } else if (what <= 3 && has_upstream) {
      proxy.send(upstream, text);
    } else if (what == 4 && has_client) {
      proxy.end(client);
    } else if (what == 5 && has_upstream) {
      proxy.end(upstream);
    } else if (what == 6) {
      if (has_client && whom % 2 == 0) proxy.break_off(client);
      if (has_upstream && whom % 2 == 1) proxy.break_off(upstream);
    } else if (what == 7 && has_client) {
      proxy.make_room(client, much);
    } else if (what == 8 && has_upstream) {
      proxy.make_room(upstream, much);
    } else if (what == 9) {
      proxy.advance_ms(much * 100);
    } else if (what == 10) {
      proxy.wire.piece = much == 0 ? SIZE_MAX : much;
    } else if (what == 11) {
      proxy.wire.slow_connects = whom % 2 == 1;
      if (has_upstream && proxy.wire.at(upstream).connecting) proxy.decide(upstream, much % 2 == 0);
    } else if (what == 12) {
      auto& memory = *(*proxy.table->named("d1"))->memory;
      memory.held_until_ms = whom % 2 == 0 ? proxy.now.monotonic_ms() + much * 100 : 0;
      if (whom % 2 == 1) proxy.proxy->release_held();
      proxy.settle();
    } else if (what == 13) {
      (*proxy.table->named("d1"))->revisions[whom % 2].memory->draining = much % 2 == 0;
      proxy.proxy->drain();
      proxy.settle();
    }
  }
  for (size_t i = 0; i < proxy.upstreams(); ++i) require_requests(proxy.wire.at(proxy.upstream(i)).written);
  for (int client : clients) proxy.break_off(client);
  proxy.settle();
  require(proxy.proxy->clients() == 0 && proxy.proxy->exchanges() == 0 && proxy.proxy->held() == 0);
  require(proxy.proxy->buffers_taken() == 0);
  for (const char* revision : {"r1", "r2"}) {
    require(proxy.in_flight("d1", revision) == 0 && proxy.websockets("d1", revision) == 0);
  }
  return 0;
}
