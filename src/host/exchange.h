// One request to a `sluice serve` and its answer, as JSON: what every caller from another process is made of.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "http/client.h"

namespace sluice::host {

namespace json = boost::json;

// How long a server may take for what it does not wait for.
inline constexpr int64_t kExchange_ms = 30'000;

struct Reply {
  int status = 0;
  json::value body = {};
  uint64_t position = 0;  // of a view: the moment that it shows, from its ETag

  bool refused() const { return status >= 400; }
};

// What the server said, a problem as well. An error: it said nothing that could be understood.
Result<Reply> exchange(http::Client& client, http::Request request, int64_t timeout_ms = kExchange_ms);

// What an answer says, likewise.
Result<Reply> reply_in(const Result<http::Answer>& answer);

// The same where a problem is an error.
Result<json::value> ask(http::Client& client, http::Request request, int64_t timeout_ms = kExchange_ms);

// A request with a JSON body.
http::Request post(const std::vector<std::string>& path, const json::value& body, const http::Query& query = {});
http::Request get(const std::vector<std::string>& path, const http::Query& query = {});

}  // namespace sluice::host
