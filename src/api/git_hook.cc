// Signatures are compared in a time that does not depend on where they differ.
#include "api/git_hook.h"

#include <string>

#include "crypto/hex.h"
#include "crypto/hmac.h"

namespace sluice::api {
namespace {

constexpr std::string_view kScheme = "sha256=";

bool is_signed_by(std::string_view secret, std::string_view body, std::string_view signature) {
  const auto mac = crypto::from_hex(signature);
  return mac && crypto::Hmac(secret).verify(body, *mac);
}

// Both are hashed first, so that the comparison tells nothing of the secret's length.
bool is_secret(std::string_view secret, std::string_view shown) {
  const crypto::Hmac hmac(secret);
  const auto mac = hmac.mac(secret);
  return hmac.verify(shown, {reinterpret_cast<const char*>(mac.data()), mac.size()});
}

}  // namespace

Result<void> check_git_hook(const http::Request& request, std::string_view secret) {
  const auto denied = [](const char* message) { return Error{.code = Code::denied, .message = message}; };
  if (const auto* github = request.header("X-Hub-Signature-256")) {
    const bool good = github->starts_with(kScheme) &&
                      is_signed_by(secret, request.body, std::string_view(*github).substr(kScheme.size()));
    if (good) return {};
    return denied("the signature in X-Hub-Signature-256 is not that of the secret");
  }
  if (const auto* gitea = request.header("X-Gitea-Signature")) {
    if (is_signed_by(secret, request.body, *gitea)) return {};
    return denied("the signature in X-Gitea-Signature is not that of the secret");
  }
  if (const auto* gitlab = request.header("X-Gitlab-Token")) {
    if (is_secret(secret, *gitlab)) return {};
    return denied("the token in X-Gitlab-Token is not the secret");
  }
  return denied("a webhook is signed: X-Hub-Signature-256, X-Gitea-Signature or X-Gitlab-Token");
}

}  // namespace sluice::api
