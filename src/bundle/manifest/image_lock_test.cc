// What is written is read again; what is no lock is refused by its field.
#include "bundle/manifest/image_lock.h"

#include <gtest/gtest.h>

namespace sluice::bundle {
namespace image_lock_test {

const std::string kOne = "sha256:" + std::string(64, '1'), kTwo = "sha256:" + std::string(64, 'a');

TEST(ImageLock, IsReadAsItWasWritten) {
  const ImageLock lock{.reference = "registry.example/shop:1",
                       .digest = kOne,
                       .platforms = {{"linux/amd64", kTwo}, {"linux/arm64", kOne}}};
  const std::string text = print_image_lock(lock);
  EXPECT_EQ(text,
            "{\n  \"schema\": \"sluice.image-lock.v1\",\n  \"reference\": \"registry.example/shop:1\",\n"
            "  \"digest\": \"" +
                kOne + "\",\n  \"platforms\": {\n    \"linux/amd64\": \"" + kTwo + "\",\n    \"linux/arm64\": \"" +
                kOne + "\"\n  }\n}\n");
  auto read = parse_image_lock(text);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(*read, lock);
}

TEST(ImageLock, RefusesWhatIsNone) {
  auto refusal = [](const ImageLock& lock) { return parse_image_lock(print_image_lock(lock)).error().message; };
  EXPECT_EQ(refusal({.schema = "other", .digest = kOne}), "image.lock.json: expected sluice.image-lock.v1");
  EXPECT_EQ(refusal({.digest = "1.4"}), "image.lock.json: expected a digest, sha256:…");
  EXPECT_EQ(refusal({.digest = kOne, .platforms = {{"linux/amd64", kOne + "0"}}}),
            "image.lock.json: linux/amd64 has no digest, sha256:…");
  EXPECT_FALSE(parse_image_lock("[]"));
}

}  // namespace image_lock_test
}  // namespace sluice::bundle
