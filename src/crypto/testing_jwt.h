// An issuer of tokens for tests: a key of each kind, its public half as JWKS, and tokens signed with it.
#pragma once

#include <boost/json/object.hpp>
#include <string>

namespace sluice::crypto {

class TestingIssuer {
 public:
  // `alg`: RS256, PS256, ES256 or EdDSA.
  explicit TestingIssuer(std::string alg, std::string key_id = "k1");
  ~TestingIssuer();
  TestingIssuer(const TestingIssuer&) = delete;
  TestingIssuer& operator=(const TestingIssuer&) = delete;

  std::string jwks() const;
  std::string public_pem() const;
  // With these headers in place of its own, for tokens that lie.
  std::string sign(const boost::json::object& claims, const boost::json::object& header = {}) const;

 private:
  std::string alg_, key_id_;
  void* key_;
};

// The text of a token with that signature.
std::string jwt_text(const boost::json::object& header, const boost::json::object& claims,
                     const std::string& signature);

}  // namespace sluice::crypto
