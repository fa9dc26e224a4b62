// Bytes to JSON and back.
#include "host/exchange.h"

#include <boost/json.hpp>
#include <charconv>

#include "base/json.h"
#include "host/problem.h"
#include "host/wire_words.h"

namespace sluice::host {
namespace {

// A page of the store's rows has at most so many values.
constexpr JsonLimits kReplyLimits{.max_bytes = size_t{256} << 20U, .max_nodes = 50'000'000};

}  // namespace

http::Request get(const std::vector<std::string>& path, const http::Query& query) {
  return {.method = "GET", .target = http::target_of(path, query)};
}

http::Request post(const std::vector<std::string>& path, const json::value& body, const http::Query& query) {
  return {.method = "POST",
          .target = http::target_of(path, query),
          .headers = {{"Content-Type", "application/json"}},
          .body = write(body)};
}

Result<Reply> exchange(http::Client& client, http::Request request, int64_t timeout_ms) {
  return reply_in(client.send(std::move(request), timeout_ms));
}

Result<Reply> reply_in(const Result<http::Answer>& answer) {
  if (!answer) return answer.error();
  if (answer->status == 204) return Reply{.status = 204};
  auto body = parse_json(answer->body, "", kReplyLimits);
  if (!body) {
    return Error{.code = Code::failed,
                 .message = "the server answered " + std::to_string(answer->status) + " with what is no JSON"};
  }
  Reply reply{.status = answer->status, .body = std::move(body->root)};
  if (const std::string* now = http::find_header(answer->headers, kFlowNowHeader); now != nullptr) {
    auto members = parse_json(*now);
    if (members && members->root.is_object() && reply.body.is_object()) {
      for (auto& each : members->root.get_object()) reply.body.get_object()[each.key()] = std::move(each.value());
    }
  }
  if (const std::string* tag = http::find_header(answer->headers, "ETag"); tag != nullptr && tag->size() > 2) {
    std::from_chars(tag->data() + 1, tag->data() + tag->size() - 1, reply.position);
  }
  return reply;
}

Result<json::value> ask(http::Client& client, http::Request request, int64_t timeout_ms) {
  auto reply = exchange(client, std::move(request), timeout_ms);
  if (!reply) return reply.error();
  if (reply->refused()) return error_in(reply->body);
  return std::move(reply->body);
}

}  // namespace sluice::host
