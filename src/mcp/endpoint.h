// The Model Context Protocol over HTTP: POST /mcp takes one message and answers with JSON, or with a stream of events
// where progress was asked for; GET follows what a session has subscribed to; DELETE ends a session.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/random.h"
#include "host/engine_door.h"
#include "http/message.h"
#include "mcp/server.h"

namespace sluice::mcp {

class Endpoint {
 public:
  // The clock must outlive it; `stopping` ends streams.
  Endpoint(std::string version, std::function<std::shared_ptr<const lang::CheckedKit>()> kit, const Clock& clock,
           const std::atomic<bool>& stopping, Offer offer = {});

  // Of a caller who is known, with a door that is theirs alone. Streams end when they have `left`.
  struct Who {
    std::string caller;
    std::shared_ptr<host::Door> door;
    std::function<bool()> left = [] { return false; };
  };
  http::Response answer(const http::Request& request, const Who& who);

  // What a 401 names (RFC 9728), and the document behind it, for a request that came to this host.
  static std::string metadata_url(const http::Request& request, bool tls);
  static http::Response metadata(const http::Request& request, bool tls);

 private:
  http::Response post(const http::Request& request, const Who& who);

  RealRandom random_;
  const std::atomic<bool>& stopping_;
  Server server_;
};

}  // namespace sluice::mcp
