// An authority that answers from a script instead of the network, and notes what it was asked.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "acme/authority.h"
#include "base/json.h"
#include "crypto/base64.h"

namespace sluice::acme {

struct ScriptedAuthority {
  struct Asked {
    std::string path;
    json::object head;  // what was signed; empty of requests without a signature
    std::string payload;
  };
  // By path, the answers in turn; the last one stays.
  std::map<std::string, std::vector<http::OutgoingAnswer>> answers;
  std::vector<Asked> asked;

  static http::OutgoingAnswer answer(int status, std::string body, std::string location = "") {
    http::OutgoingAnswer made{.status = status, .headers = {{"Replay-Nonce", "bm9uY2U"}}, .body = std::move(body)};
    if (!location.empty()) made.headers.push_back({"Location", std::move(location)});
    return made;
  }

  Result<http::OutgoingAnswer> operator()(const http::OutgoingRequest& request) {
    Asked one{.path = http::parse_url(request.url)->target};
    if (auto body = parse_json(request.body); body && body->root.is_object()) {
      auto decoded = [&](const char* name) {
        return *crypto::from_base64(text_in(body->root.get_object(), name), crypto::Base64::url_unpadded);
      };
      one.head = parse_json(decoded("protected"))->root.get_object();
      one.payload = decoded("payload");
    }
    std::vector<http::OutgoingAnswer>& turns = answers[one.path];
    asked.push_back(std::move(one));
    if (turns.empty()) return Error{.code = Code::unavailable, .message = "nobody answers"};
    http::OutgoingAnswer next = turns.front();
    if (turns.size() > 1) turns.erase(turns.begin());
    return next;
  }
};

inline constexpr const char* kDirectory =
    R"({"newNonce":"https://ca.example/nonce","newAccount":"https://ca.example/account",)"
    R"("newOrder":"https://ca.example/order"})";

}  // namespace sluice::acme
