// Tokens: only a trusted key's, and only unchanged.
#include "router/debug_token.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace debug_token_test {

TEST(DebugToken, IsReadBackIfATrustedKeySignedIt) {
  crypto::PrivateKey key = crypto::PrivateKey::generate(), other = crypto::PrivateKey::generate();
  DebugToken token{"local", "d1", "r1", 1'700'000'000};
  std::string text = write_debug_token(token, key);
  crypto::PublicKey trusted[] = {other.public_key(), key.public_key()};
  EXPECT_EQ(*read_debug_token(text, trusted), token);
  auto refused = read_debug_token(text, std::span(trusted, 1));
  EXPECT_EQ(refused.error().code, Code::verification_failed);
  EXPECT_EQ(refused.error().message, "the debug token is not signed by a key of the table");
}

TEST(DebugToken, IsRefusedIfAnythingIsChanged) {
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  crypto::PublicKey trusted[] = {key.public_key()};
  std::string text = write_debug_token({"local", "d1", "r1", 1}, key);
  for (size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = changed[at] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(read_debug_token(changed, trusted)) << at;
  }
  EXPECT_FALSE(read_debug_token("", trusted));
  EXPECT_FALSE(read_debug_token("a.b", trusted));
  EXPECT_FALSE(read_debug_token(std::string(10'000, 'a') + ".b", trusted));
}

}  // namespace debug_token_test
}  // namespace sluice::router
