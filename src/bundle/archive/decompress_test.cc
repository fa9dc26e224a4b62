// Every sum and length is checked, and where what is compressed ends is known.
#include "bundle/archive/decompress.h"

#include <gtest/gtest.h>

#include "bundle/archive/testing_archives.h"

namespace sluice::bundle {
namespace decompress_test {

using Make = std::unique_ptr<Decompressor> (*)(ByteSource&);

struct Unpacked {
  std::string content;  // or the message of what went wrong
  uint64_t used = 0;
};

Unpacked unpacked(const std::string& bytes, Make make) {
  auto source = source_of_view(bytes);
  auto frames = make(*source);
  std::string all;
  for (;;) {
    auto piece = frames->next();
    if (!piece) return {piece.error().message};
    if (piece->empty()) return {all, frames->used()};
    all += *piece;
  }
}

std::string text() {
  std::string text;
  for (int64_t i = 0; i < 300'000; ++i) text += std::to_string(i * 7919 % 10'007);
  return text;
}

TEST(Decompress, GivesWhatIsInAllFrames) {
  const std::string content = text();
  for (const auto& [make, by] : {std::pair<Make, Squeeze>{decompress_gzip, Squeeze::gzip},
                                 std::pair<Make, Squeeze>{decompress_zstd, Squeeze::zstd},
                                 std::pair<Make, Squeeze>{decompress_xz, Squeeze::xz}}) {
    const std::string one = squeezed(content, by), two = squeezed("and more", by), none = squeezed("", by);
    EXPECT_TRUE(unpacked(one, make).content == content);
    EXPECT_TRUE(unpacked(one + two + none + two, make).content == content + "and moreand more");
    EXPECT_EQ(unpacked(two, make).used, two.size());
    // What is behind it is not its own.
    for (const std::string& behind : {std::string(100, '\0'), std::string("x"), zip_of({{.name = "a"}})}) {
      EXPECT_EQ(unpacked(two + behind, make).content, "and more");
      EXPECT_EQ(unpacked(two + behind, make).used, two.size());
    }
  }
}

TEST(Decompress, ChecksTheSumAndTheLengthBehindGzip) {
  const std::string good = squeezed("amount=100", Squeeze::gzip);
  for (size_t i = 1; i <= 8; ++i) {
    std::string changed = good;
    changed[changed.size() - i] = static_cast<char>(changed[changed.size() - i] ^ 0x40);
    EXPECT_EQ(unpacked(changed, decompress_gzip).content, i <= 4 ? "the archive is damaged: incorrect length check"
                                                                 : "the archive is damaged: incorrect data check");
    EXPECT_EQ(unpacked(good + changed, decompress_gzip).content, unpacked(changed, decompress_gzip).content);
    EXPECT_EQ(unpacked(good.substr(0, good.size() - i), decompress_gzip).content, "the archive ends too early");
  }
  EXPECT_EQ(unpacked("\x1f\x8b no gzip", decompress_gzip).content, "there is no tar in it");
}

TEST(Decompress, PassesOverFramesOfZstdThatSayTheyAreNoContent) {
  const std::string skipped("\x5e\x2a\x4d\x18\x04\0\0\0abcd", 12);
  const std::string frame = squeezed("one", Squeeze::zstd);
  EXPECT_EQ(unpacked(skipped + frame + skipped + frame + skipped, decompress_zstd).content, "oneone");
  EXPECT_EQ(unpacked(skipped + frame.substr(0, frame.size() - 1), decompress_zstd).content,
            "the archive ends too early");
}

TEST(Decompress, ChecksTheSumBehindXz) {
  const std::string good = squeezed("amount=100", Squeeze::xz);
  for (size_t i = 1; i < good.size() - 6; ++i) {
    std::string changed = good;
    changed[changed.size() - i] = static_cast<char>(changed[changed.size() - i] ^ 0x40);
    EXPECT_TRUE(unpacked(changed, decompress_xz).content.starts_with("the archive ")) << i;
    EXPECT_EQ(unpacked(good.substr(0, good.size() - i), decompress_xz).content, "the archive ends too early");
  }
}

TEST(Decompress, SaysThatAWindowIsTooLarge) {
  // A header without a size of its content, and with a window of 2^28 bytes.
  EXPECT_EQ(unpacked(std::string("\x28\xb5\x2f\xfd\0\x90\x01\0\0", 9), decompress_zstd).content,
            "it was compressed with a window of more than 128 MiB");
  EXPECT_EQ(unpacked(std::string("\x28\xb5\x2f\xfd\x08\x20\x01\0\0", 9), decompress_zstd).content,
            "the archive is damaged: Unsupported frame parameter");
}

}  // namespace decompress_test
}  // namespace sluice::bundle
