// The front of the API: one request to the service, by a caller whom the first byte chooses. Whatever is asked, the
// answer is no fault, its head is one head, and what is JSON is JSON; a problem has a code of the table, and a client
// without a token is told nothing but that. covers: src/api/service.cc src/api/logins.cc
#include <unistd.h>

#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "api/service.h"
#include "base/json.h"
#include "host/testing_authority.h"
#include "host/testing_work.h"
#include "http/parser.h"

namespace {

namespace json = boost::json;
using namespace sluice;

void require(bool holds) {
  if (!holds) std::abort();
}

constexpr std::string_view kTokenId = "01M7Q4JYN7F74DZWWTPVQVKNX2";
constexpr std::string_view kSessionId = "01M7Q4JYN7F74DZWWTPVQVKNX3";
constexpr http::MessageLimits kLimits{.head_bytes = 4'000, .body_bytes = 4'000};
constexpr int kInputsOfOne = 500;  // before what they left is forgotten

// An engine with the concept Work, and the policy, a token and a session of the kit deploy.
struct Front {
  Front() {
    work.release = true;
    put("Access[]", "whole", {{"policy", host::kTeamPolicy}, {"version", 1}, {"appliedBy", "uid:1"}});
    json::object token{{"name", "laptop"},
                       {"subject", "user:all-operator"},
                       {"digest", host::secret_digest("secret")},
                       {"createdAt", "2026-01-01T00:00:00.000Z"},
                       {"createdBy", "uid:1"}};
    put("Access", std::string(kTokenId), token);
    put("Session", std::string(kSessionId),
        {{"subject", "user:all-operator"},
         {"token", kTokenId},
         {"digest", host::secret_digest("secret")},
         {"address", "192.0.2.1"},
         {"openedAt", "2026-01-01T00:00:00.000Z"},
         {"expires", "2999-01-01T00:00:00.000Z"}});
    service.stop_waiting();
  }
  void put(const std::string& relation, const std::string& key, const json::value& value) {
    require(known.commit({.state = {{relation, key, ++generation, 0, write(value)}}}).has_value());
  }

  host::TestingWork work;
  store::MemoryStore known;
  store::BlobStore uploads{work.disk, work.folder.path("uploads")};
  uint64_t generation = 0;
  host::Authority authority{{.store = &known, .clock = &work.clock, .owner = work.owner, .kit = host::deploy_kit()}};
  api::Service service{host::ServiceParts{.engine = work.engine.get(),
                                          .store = &work.store,
                                          .uploads = &uploads,
                                          .concepts = &work.loaded,
                                          .disk = &work.disk,
                                          .clock = &work.clock,
                                          .home = &work.home,
                                          .owner = work.owner,
                                          .authority = &authority,
                                          .kit = [this] { return work.kit; },
                                          .about =
                                              [] {
                                                return json::object{{"pid", 1}, {"kitFolder", "work"}};
                                              },
                                          .stop = [] {},
                                          .log = [](const std::string&) {}}};
};

// Those who come by the home's socket, its owner and somebody else; by a port, without and with a token and a session.
http::Peer peer_for(uint8_t choice, http::Request& request) {
  switch (choice % 5) {
    case 0:
      return {.connection = 1, .credentials = http::Credentials{.user = ::getuid(), .pid = 1}, .address = ""};
    case 1:
      return {.connection = 1, .credentials = http::Credentials{.user = ::getuid() + 7, .pid = 1}, .address = ""};
    case 2:
      return {.connection = 1, .credentials = {}, .address = "192.0.2.1"};
    case 3:
      request.headers.push_back({"Authorization", "Bearer " + host::token_text(kTokenId, "secret")});
      return {.connection = 1, .credentials = {}, .address = "192.0.2.1"};
    default:
      request.headers.push_back({"Cookie", "sluice_session=" + host::session_text(kSessionId, "secret")});
      return {.connection = 1, .credentials = {}, .address = "192.0.2.1"};
  }
}

void check(const http::Request& request, const http::Response& response, uint8_t choice) {
  require(response.status >= 200 && response.status < 600 && response.status != 500);
  const std::string head = http::head_of(response);
  require(head.find("\r\n\r\n") == head.size() - 4);
  for (const http::Header& each : response.headers) {
    require(each.name.find_first_of("\r\n: ") == std::string::npos &&
            each.value.find_first_of("\r\n") == std::string::npos);
  }
  std::string body = response.body;
  if (response.feed) {
    response.feed->begin([] {});
    for (int i = 0; i < 3 && response.feed->next(body); ++i) {
    }
  }
  const bool is_problem = response.content_type == "application/problem+json";
  // The errors of agents are JSON-RPC's, those of mesh nodes their protocol's, and a browser that logs in gets a page.
  const std::string first = request.path.empty() ? "" : request.path[0];
  const bool page = response.content_type == "text/html; charset=utf-8" && first == "v1";
  require(response.status < 400 || is_problem || page || first == "mcp" || first == "artifact");
  if (response.content_type == "application/json" || is_problem) {
    const bool bodiless = response.status == 204 || response.status == 304;
    auto read = parse_json(body, "answer");
    require(bodiless || read.has_value());
    if (is_problem) {
      const json::object& problem = read->root.as_object();
      require(code_named(problem.at("code").as_string()).has_value() && !problem.at("detail").as_string().empty());
      require(problem.at("status").to_number<int>() == response.status);
    }
  }
  // Who has shown nothing hears nothing of what is kept.
  if (choice % 5 == 2 && response.status == 401) require(body.find("all-operator") == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static auto front = std::make_unique<Front>();
  static int inputs = 0;
  if (size == 0) return 0;
  if (++inputs % kInputsOfOne == 0) {
    front.reset();
    front = std::make_unique<Front>();
  }
  std::string input(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  http::RequestParser parser(kLimits);
  auto complete = parser.take(input);
  if (!complete || !*complete) return 0;
  auto parsed = parser.request();
  if (!parsed) return 0;
  http::Request request = *std::move(parsed);
  const http::Peer peer = peer_for(bytes[0], request);
  // The body of an upload is read by whoever takes it.
  bool given = false;
  request.more = [&](std::string& piece) -> Result<bool> {
    piece = std::exchange(given, true) ? "" : input;
    return !piece.empty();
  };
  check(request, front->service.answer(request, peer), bytes[0]);
  return 0;
}
