// Bytes of tars, plain and squeezed.
#include "bundle/archive/tar_bytes.h"

#include <gtest/gtest.h>

#include "bundle/archive/testing_archives.h"

namespace sluice::bundle {
namespace tar_bytes_test {

// All that there is, or the message of what went wrong.
std::string all_of(std::string bytes, ArchiveFormat format) {
  TarBytes tar(source_of_bytes(std::move(bytes)), format);
  if (auto opened = tar.open(); !opened) return opened.error().message;
  std::string all;
  for (;;) {
    auto piece = tar.next();
    if (!piece) return piece.error().message;
    if (piece->empty()) return all;
    all += *piece;
  }
}

constexpr std::pair<Squeeze, ArchiveFormat> kSqueezes[] = {
    {Squeeze::gzip, ArchiveFormat::tar_gz}, {Squeeze::zstd, ArchiveFormat::tar_zst},
    {Squeeze::xz, ArchiveFormat::tar_xz},   {Squeeze::bzip2, ArchiveFormat::tar_bz2},
    {Squeeze::lz4, ArchiveFormat::tar_lz4}, {Squeeze::lzma, ArchiveFormat::tar_lzma}};

TEST(TarBytes, AreTheSameHoweverTheyWereSqueezed) {
  const std::string bytes = tar_of({{.name = "a", .content = std::string(700'000, 'x')}});
  EXPECT_EQ(all_of(bytes, ArchiveFormat::tar), bytes);
  for (const auto& [by, format] : kSqueezes) EXPECT_EQ(all_of(squeezed(bytes, by), format), bytes);
}

TEST(TarBytes, EndWhereWhatIsCompressedEnds) {
  const std::string tar = tar_of({{.name = "a", .content = "1"}});
  for (const auto& [by, format] : kSqueezes) {
    const std::string bytes = squeezed(tar, by);
    TarBytes opened(source_of_bytes(bytes + "and something else"), format);
    ASSERT_TRUE(opened.open());
    for (;;) {
      auto piece = opened.next();
      ASSERT_TRUE(piece) << piece.error().message << static_cast<int>(by);
      if (piece->empty()) break;
    }
    EXPECT_EQ(opened.used(), bytes.size()) << static_cast<int>(by);
  }
}

TEST(TarBytes, OfWhatIsNotSqueezedSoAreRefused) {
  EXPECT_EQ(all_of(squeezed("x", Squeeze::zstd), ArchiveFormat::tar_gz), "there is no tar in it");
  EXPECT_EQ(all_of("", ArchiveFormat::tar), "");
}

TEST(TarBytes, ThatAreCutEndTooEarly) {
  std::string bytes;
  for (int i = 0; i < 20'000; ++i) bytes += std::to_string(i * 7919 % 10'007);
  for (const auto& [by, format] : {kSqueezes[0], kSqueezes[1]}) {
    std::string cut = squeezed(bytes, by);
    cut.resize(cut.size() - 5);
    EXPECT_EQ(all_of(cut, format), "the archive ends too early");
  }
}

}  // namespace tar_bytes_test
}  // namespace sluice::bundle
