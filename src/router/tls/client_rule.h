// What clients must show: a deployment may want a certificate that one of its authorities has signed, or refuse whoever
// has none. Which deployment a request is for is known only after the handshake, so the name that a client asks for
// (SNI) decides what it is asked to show, and a request for a deployment with another rule gets 421.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"

struct ssl_st;
struct stack_st_X509_NAME;
struct x509_store_st;

namespace sluice::router {

class Table;

class ClientRule {
 public:
  // `roots_pem`: whose signatures count. `invalid` if there is none in it.
  static Result<std::shared_ptr<const ClientRule>> make(bool required, std::string_view roots_pem);
  ~ClientRule();
  ClientRule(const ClientRule&) = delete;
  ClientRule& operator=(const ClientRule&) = delete;

  bool required() const { return required_; }
  // The same for all rules that say the same.
  const std::string& stamp() const { return stamp_; }
  // The session, which is a server's, asks its client for a certificate.
  void ask(ssl_st* session) const;

 private:
  ClientRule() = default;

  bool required_ = false;
  std::string stamp_;
  x509_store_st* roots_ = nullptr;
  stack_st_X509_NAME* names_ = nullptr;  // of the roots
};

// Empty where there is no rule.
inline std::string_view stamp_of(const std::shared_ptr<const ClientRule>& rule) {
  return rule ? std::string_view(rule->stamp()) : std::string_view();
}

// The rules of a table by host. Of the deployments that share a host the strictest rule counts, and of two that are as
// strict that of the deployment whose id comes first.
class ClientRules {
 public:
  // Nothing if no deployment has a rule.
  static std::shared_ptr<const ClientRules> of(const Table& table);

  // The name is in small letters. Nothing: no certificate is asked for.
  std::shared_ptr<const ClientRule> find(std::string_view name) const;

 private:
  struct Kept {
    std::string deployment;
    std::shared_ptr<const ClientRule> rule;
  };

  std::unordered_map<std::string, Kept> hosts_;  // "*.name" too, and "" for any
};

}  // namespace sluice::router
