// The signatures of three forges, right and wrong.
#include "api/git_hook.h"

#include <gtest/gtest.h>

#include "crypto/hex.h"
#include "crypto/hmac.h"

namespace sluice::api {
namespace git_hook_test {

constexpr const char* kSecret = "a secret of the forge";

std::string signature(const std::string& body, const std::string& secret = kSecret) {
  return crypto::to_hex(crypto::Hmac(secret).mac(body));
}

Result<void> checked(const std::string& header, const std::string& value, const std::string& body = "{}") {
  http::Request request;
  request.headers = {{header, value}};
  request.body = body;
  return check_git_hook(request, kSecret);
}

TEST(GitHook, AForgeThatKnowsTheSecretIsBelieved) {
  EXPECT_TRUE(checked("X-Hub-Signature-256", "sha256=" + signature("{}")));
  EXPECT_TRUE(checked("X-Gitea-Signature", signature("{}")));
  EXPECT_TRUE(checked("X-Gitlab-Token", kSecret));
}

TEST(GitHook, AForgedOneIsDenied) {
  EXPECT_EQ(checked("X-Hub-Signature-256", "sha256=" + signature("{}"), "{ }").error().code, Code::denied);
  EXPECT_EQ(checked("X-Hub-Signature-256", signature("{}")).error().code, Code::denied) << "without its scheme";
  EXPECT_EQ(checked("X-Hub-Signature-256", "sha256=" + signature("{}").substr(0, 32)).error().code, Code::denied);
  EXPECT_EQ(checked("X-Hub-Signature-256", "sha256=" + signature("{}", "another")).error().code, Code::denied);
  EXPECT_EQ(checked("X-Gitea-Signature", signature("{}", "another")).error().code, Code::denied);
  EXPECT_EQ(checked("X-Gitea-Signature", "no digits").error().code, Code::denied);
  EXPECT_EQ(checked("X-Gitlab-Token", "a secret").error().code, Code::denied);
  EXPECT_EQ(checked("X-Gitlab-Token", "").error().code, Code::denied);
  EXPECT_EQ(checked("X-Other", "x").error().message,
            "a webhook is signed: X-Hub-Signature-256, X-Gitea-Signature or X-Gitlab-Token");
}

}  // namespace git_hook_test
}  // namespace sluice::api
