// An OpenID issuer for tests: discovery and keys over HTTP, and tokens that it signs.
#pragma once

#include <boost/json.hpp>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "crypto/testing_jwt.h"
#include "http/server.h"

namespace sluice::host {

class IssuerServer {
 public:
  IssuerServer() {
    auto listening = http::listen_tcp("127.0.0.1", 0);
    url = "http://127.0.0.1:" + std::to_string(http::port_of(*listening));
    says_issuer = url;
    server_ = http::Server::start(
                  *std::move(listening),
                  [this](const http::Request& request, const http::Peer&) {
                    std::lock_guard lock(mutex_);
                    ++asked;
                    if (request.target == "/jwks") return http::Response{.body = key->jwks()};
                    return http::Response{
                        .body = write(boost::json::object{{"issuer", says_issuer}, {"jwks_uri", url + "/jwks"}})};
                  },
                  clock_)
                  .value();
  }
  void change_key(std::unique_ptr<crypto::TestingIssuer> next) {
    std::lock_guard lock(mutex_);
    key = std::move(next);
  }
  // For the audience sluice, until five minutes from now.
  std::string token(const std::string& subject, boost::json::object more = {}) const {
    const int64_t now_s = clock_.wall_ms() / 1000;
    boost::json::object claims{{"iss", url}, {"aud", "sluice"}, {"sub", subject}, {"iat", now_s}, {"exp", now_s + 300}};
    for (const auto& [name, value] : more) claims[name] = value;
    return key->sign(claims);
  }

  std::string url, says_issuer;
  int asked = 0;
  std::unique_ptr<crypto::TestingIssuer> key = std::make_unique<crypto::TestingIssuer>("ES256");

 private:
  RealClock clock_;
  std::mutex mutex_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace sluice::host
