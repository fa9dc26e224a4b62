// Roots are read once for each rule and shared by all sessions.
#include "router/tls/client_rule.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "crypto/evp.h"
#include "crypto/sha256.h"
#include "router/table/table.h"

namespace sluice::router {
namespace {

using crypto::must;

bool is_stricter(const std::shared_ptr<const ClientRule>& one, const std::shared_ptr<const ClientRule>& other) {
  auto rank = [](const auto& rule) { return !rule ? 0 : rule->required() ? 2 : 1; };
  return rank(one) > rank(other);
}

}  // namespace

Result<std::shared_ptr<const ClientRule>> ClientRule::make(bool required, std::string_view roots_pem) {
  std::shared_ptr<ClientRule> made(new ClientRule);
  made->required_ = required;
  made->roots_ = X509_STORE_new();
  made->names_ = sk_X509_NAME_new_null();
  must(made->roots_ != nullptr && made->names_ != nullptr, "X509_STORE_new");
  crypto::BioPtr pem(BIO_new_mem_buf(roots_pem.data(), static_cast<int>(roots_pem.size())));
  must(pem != nullptr, "BIO_new_mem_buf");
  while (X509* root = PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr)) {
    const std::unique_ptr<X509, crypto::FreeWith<X509_free>> owner(root);
    must(X509_STORE_add_cert(made->roots_, root) == 1, "X509_STORE_add_cert");
    X509_NAME* name = X509_NAME_dup(X509_get_subject_name(root));
    must(name != nullptr && sk_X509_NAME_push(made->names_, name) > 0, "sk_X509_NAME_push");
  }
  const bool ended = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!ended || sk_X509_NAME_num(made->names_) == 0) {
    return Error{.code = Code::invalid, .message = "expected certificates of authorities as PEM"};
  }
  made->stamp_ = crypto::to_string(crypto::sha256((required ? "required\n" : "wanted\n") + std::string(roots_pem)));
  return std::shared_ptr<const ClientRule>(std::move(made));
}

ClientRule::~ClientRule() {
  X509_STORE_free(roots_);
  sk_X509_NAME_pop_free(names_, X509_NAME_free);
}

void ClientRule::ask(ssl_st* session) const {
  SSL_set_verify(session, SSL_VERIFY_PEER | (required_ ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), nullptr);
  must(SSL_set1_verify_cert_store(session, roots_) == 1, "SSL_set1_verify_cert_store");
  STACK_OF(X509_NAME)* names = SSL_dup_CA_list(names_);
  must(names != nullptr, "SSL_dup_CA_list");
  SSL_set_client_CA_list(session, names);
}

std::shared_ptr<const ClientRules> ClientRules::of(const Table& table) {
  bool any = false;
  table.for_each([&](const auto& deployment) { any = any || deployment->client_rule != nullptr; });
  if (!any) return nullptr;
  auto rules = std::make_shared<ClientRules>();
  table.for_each([&](const auto& deployment) {
    for_each_route(deployment->routes, [&](std::string_view host, std::string_view) {
      auto [at, is_new] = rules->hosts_.try_emplace(std::string(host), Kept{deployment->id, deployment->client_rule});
      Kept& kept = at->second;
      if (is_new || is_stricter(kept.rule, deployment->client_rule)) return;
      if (is_stricter(deployment->client_rule, kept.rule) || deployment->id < kept.deployment) {
        kept = {deployment->id, deployment->client_rule};
      }
    });
  });
  return rules;
}

std::shared_ptr<const ClientRule> ClientRules::find(std::string_view name) const {
  auto found = hosts_.find(std::string(name));
  for (size_t dot = name.find('.'); found == hosts_.end() && dot != std::string_view::npos;
       dot = name.find('.', dot + 1)) {
    if (dot > 0) found = hosts_.find("*" + std::string(name.substr(dot)));
  }
  if (found == hosts_.end()) found = hosts_.find("");
  return found != hosts_.end() ? found->second.rule : nullptr;
}

}  // namespace sluice::router
