// tar and zip, sound ones and hostile ones, each format with whatever it can carry.
#include "bundle/archive/stream_reader.h"

#include <gtest/gtest.h>

#include "bundle/archive/testing_archives.h"

namespace sluice::bundle {
namespace stream_reader_test {

TEST(Tar, GivesItsTree) {
  std::string tar = tar_of({{.name = "./", .type = '5', .mode = 0700},
                            {.name = "./bin/app", .content = "hello", .mode = 0775},
                            {.name = "./empty/", .type = '5'},
                            {.name = "./current", .type = '2', .link = "bin/app"},
                            {.name = "./zero"}});
  Tree expected;
  expected.add(tree_file("bin/app", "hello", kExecutableMode));
  expected.add(tree_folder("empty"));
  expected.add(tree_symlink("current", "bin/app"));
  expected.add(tree_file("zero", ""));
  for (const std::string& bytes : {tar, squeezed(tar, Squeeze::gzip), squeezed(tar, Squeeze::zstd)}) {
    auto tree = tree_of_bytes(bytes);
    ASSERT_TRUE(tree) << tree.error().message;
    EXPECT_EQ(*tree, expected);
    EXPECT_EQ(tree->digest(), expected.digest());
  }
}

TEST(Tar, ReadsLongAndForeignNames) {
  std::string name = std::string(150, 'l') + "/é.txt";
  std::string record = "path=" + name + "\n";
  record = std::to_string(record.size() + 4) + " " + record;
  auto tree =
      tree_of_bytes(tar_of({{.name = "pax", .content = record, .type = 'x'}, {.name = "short", .content = "1"}}));
  ASSERT_TRUE(tree) << tree.error().message;
  ASSERT_NE(tree->find(name), nullptr);
  auto plain = tree_of_bytes(tar_of({{.name = "grüße", .content = "1"}}));
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_NE(plain->find("grüße"), nullptr);
}

TEST(Tar, RefusesWhatItMustNotCarry) {
  EXPECT_EQ(refusal_of_bytes(tar_of({{.name = "/etc/x"}})), R"(app: "/etc/x": the path is absolute)");
  EXPECT_EQ(refusal_of_bytes(tar_of({{.name = "../x"}})), R"(app: "../x": the path has ".." in it)");
  EXPECT_EQ(refusal_of_bytes(tar_of({{.name = "l", .type = '2', .link = "../x"}})),
            R"(app: "l": the symlink leads out of the archive: "../x")");
  EXPECT_EQ(refusal_of_bytes(tar_of({{.name = "l", .type = '2', .link = "/x"}})),
            R"(app: "l": the symlink's target is absolute)");
  EXPECT_EQ(refusal_of_bytes(tar_of({{.name = "l", .type = '2', .link = "d"}, {.name = "l/x", .content = "1"}})),
            R"(app: "l/x": "l" above it is a symlink)");
  EXPECT_EQ(refusal_of_bytes(tar_of({{.name = "a", .content = "1"}, {.name = "b", .type = '1', .link = "a"}})),
            R"(app: "b": it is a hard link)");
  EXPECT_EQ(refusal_of_bytes(tar_of({{.name = "d", .type = '3'}})), R"(app: "d": it is a device)");
  EXPECT_EQ(refusal_of_bytes(tar_of({{.name = "d", .type = '4'}})), R"(app: "d": it is a device)");
  EXPECT_EQ(refusal_of_bytes(tar_of({{.name = "d", .type = '6'}})), R"(app: "d": it is a FIFO)");
  EXPECT_EQ(refusal_of_bytes(tar_of({{.name = "a"}, {.name = "./a"}})), R"(app: "a": the name occurs twice)");
  EXPECT_EQ(refusal_of_bytes(tar_of({{.name = "A"}, {.name = "a"}})),
            R"(app: "a": it differs from "A" only in case or accents)");
  EXPECT_EQ(refusal_of_bytes(tar_of({{.name = "a\xff"}})), "app: \"a\uFFFD\": the name is not UTF-8");
}

TEST(Tar, RefusesBombs) {
  std::string zeros(300'000, '\0');
  std::string bomb = squeezed(tar_of({{.name = "z", .content = zeros}}), Squeeze::gzip);
  EXPECT_EQ(refusal_of_bytes(bomb, {.limits = {.ratio_free_bytes = 1000}}),
            R"(app: "z": the archive unpacks to more than 200 times its size, as only a bomb does)");
  EXPECT_EQ(refusal_of_bytes(bomb, {.limits = {.max_total_bytes = 100'000}}),
            "app: it unpacks to more than 100000 bytes");
  // Ten gigabytes, as the header says.
  EXPECT_EQ(refusal_of_bytes(tar_of({{.name = "z", .said_size = uint64_t{10'000'000'000} >> 1}, {.name = "y"}})),
            R"(app: "z": the archive ends too early)");
  EXPECT_EQ(
      refusal_of_bytes(tar_of({{.name = "z", .said_size = 8'589'934'591}}), {.limits = {.max_total_bytes = 1 << 30}}),
      "app: it unpacks to more than 1073741824 bytes");
}

TEST(Tar, RefusesMillionsOfFilesAndDeepTrees) {
  std::vector<TarMember> many;
  for (int i = 0; i < 11; ++i) many.push_back({.name = "f" + std::to_string(i)});
  EXPECT_EQ(refusal_of_bytes(tar_of(many), {.limits = {.max_entries = 10}}), "app: it has more than 10 entries");
  std::string deep;
  for (int i = 0; i < 4096; ++i) deep += "a/";
  std::string record = "path=" + deep + "x\n";
  record = std::to_string(record.size() + 5) + " " + record;
  std::string refusal = refusal_of_bytes(tar_of({{.name = "pax", .content = record, .type = 'x'}, {.name = "x"}}));
  EXPECT_TRUE(refusal.ends_with("\"…: it lies deeper than 128 folders")) << refusal;
  EXPECT_EQ(refusal_of_bytes(zip_of({{.name = deep + "x"}})), refusal);
  std::string long_name = std::string(500, 'a') + "/" + std::string(600, 'a');
  refusal = refusal_of_bytes(tar_of({pax_member({{"path", long_name}}), {.name = "x"}}));
  EXPECT_TRUE(refusal.ends_with("\"…: the path is longer than 1024 bytes")) << refusal;
}

// A tar of a million empty files that is never in memory: its bytes are made when they are read.
class MillionFiles final : public ByteSource {
 public:
  static constexpr uint64_t kFiles = 1'000'000;

  explicit MillionFiles(uint64_t& furthest) : furthest_(furthest) {}

  Result<size_t> read_at(uint64_t offset, std::span<char> into) override {
    size_t done = 0;
    while (done < into.size() && offset + done < size()) {
      const uint64_t at = offset + done;
      const size_t take = std::min<size_t>(512 - at % 512, into.size() - done);
      block_of(at / 512).copy(into.data() + done, take, at % 512);
      done += take;
    }
    furthest_ = std::max(furthest_, offset + done);
    return done;
  }
  uint64_t size() const override { return (kFiles + 2) * 512; }

 private:
  const std::string& block_of(uint64_t number) {
    if (number >= kFiles) return end_;
    // Seven digits, and the sum of all bytes, which is that of the first header and of what its digits are more.
    char text[16];
    std::snprintf(text, sizeof text, "%07u", static_cast<unsigned>(number));
    block_.replace(1, 7, text, 7);
    unsigned sum = first_sum_;
    for (int i = 0; i < 7; ++i) sum += static_cast<unsigned>(text[i] - '0');
    std::snprintf(text, sizeof text, "%06o", sum);
    block_.replace(148, 6, text, 6);
    return block_;
  }

  uint64_t& furthest_;
  std::string block_ = tar_member({.name = "f0000000"});
  unsigned first_sum_ = static_cast<unsigned>(std::stoul(block_.substr(148, 6), nullptr, 8));
  std::string end_ = std::string(512, '\0');
};

TEST(Tar, StopsInTheMiddleOfAMillionFiles) {
  uint64_t furthest = 0;
  auto reader = open_archive(std::make_unique<MillionFiles>(furthest), "app");
  ASSERT_TRUE(reader) << reader.error().message;
  for (;;) {
    auto entry = (*reader)->next();
    ASSERT_TRUE(!entry || *entry) << "it ends";
    if (entry) continue;
    EXPECT_EQ(entry.error().message, "app: it has more than 250000 entries");
    EXPECT_EQ(entry.error().code, Code::limit);
    break;
  }
  EXPECT_LT(furthest, uint64_t{260'000} * 512);
}

TEST(Zip, RefusesMillionsOfFiles) {
  std::vector<ZipMember> many;
  for (int i = 0; i < 11; ++i) many.push_back({.name = "f" + std::to_string(i)});
  EXPECT_EQ(refusal_of_bytes(zip_of(many), {.limits = {.max_entries = 10}}), "app: it has more than 10 entries");
}

constexpr const char* kNoEnd =
    "app: the archive ends too early: a tar ends with two blocks of zeros, this one does not";

TEST(Tar, RefusesWhatIsCutShort) {
  std::string tar = tar_of({{.name = "a", .content = std::string(2000, 'x')}, {.name = "b", .content = "1"}});
  EXPECT_EQ(refusal_of_bytes(tar), "accepted");
  EXPECT_EQ(refusal_of_bytes(tar.substr(0, 1000)), "app: \"a\": the archive ends too early");
  EXPECT_EQ(refusal_of_bytes(tar.substr(0, 512 + 2048)), kNoEnd) << "between two entries";
  std::string gzip = squeezed(tar, Squeeze::gzip);
  EXPECT_EQ(refusal_of_bytes(gzip.substr(0, gzip.size() - 20)).substr(0, 5), "app: ");
  EXPECT_TRUE(refusal_of_bytes(gzip.substr(0, gzip.size() - 20)).ends_with("the archive ends too early"));
  EXPECT_TRUE(refusal_of_bytes(gzip.substr(0, gzip.size() - 4)).ends_with("the archive ends too early"))
      << refusal_of_bytes(gzip.substr(0, gzip.size() - 4));
  std::string zstd = squeezed(tar, Squeeze::zstd);
  EXPECT_TRUE(refusal_of_bytes(zstd.substr(0, zstd.size() - 20)).ends_with("the archive ends too early"))
      << refusal_of_bytes(zstd.substr(0, zstd.size() - 20));
}

// At every border of two blocks, also where what is compressed ends in order: several members, or several frames.
TEST(Tar, RefusesWhatIsCutBetweenBlocksInEveryFormat) {
  std::string tar;
  for (const char* name : {"a", "b", "c"}) tar += tar_member({.name = name, .content = std::string(1024, '\0')});
  tar += std::string(2048, '\0');
  for (size_t size = 512; size < tar.size(); size += 512) {
    const bool whole = size >= 3 * 1536 + 1024;
    const std::string cut = tar.substr(0, size);
    for (const std::string& bytes :
         {cut, squeezed(cut, Squeeze::gzip), squeezed(cut, Squeeze::zstd),
          squeezed(cut.substr(0, 512), Squeeze::gzip) + squeezed(cut.substr(512), Squeeze::gzip)}) {
      std::string refusal = refusal_of_bytes(bytes);
      EXPECT_EQ(refusal == "accepted", whole) << size << " " << refusal;
      EXPECT_EQ(refusal.find("the archive ends too early") == std::string::npos, whole) << size << " " << refusal;
    }
  }
}

TEST(Tar, RefusesWhatLiesBehindItsEnd) {
  const std::string tar = tar_of({{.name = "a"}});
  EXPECT_EQ(refusal_of_bytes(tar + std::string(9000, '\0')), "accepted");
  EXPECT_EQ(refusal_of_bytes(tar + tar), "app: there is something behind the end of its tar");
  EXPECT_EQ(refusal_of_bytes(squeezed(tar, Squeeze::gzip) + squeezed(tar, Squeeze::gzip)),
            "app: there is something behind the end of its tar");
  for (Squeeze by : {Squeeze::gzip, Squeeze::zstd}) {
    EXPECT_EQ(refusal_of_bytes(squeezed(tar, by) + std::string(512, '\0')), "accepted");
    EXPECT_EQ(refusal_of_bytes(squeezed(tar.substr(0, 100), by) + squeezed(tar.substr(100), by)), "accepted");
    for (const std::string& behind : {std::string("garbage"), zip_of({{.name = "a"}}), std::string(9, '\0') + "x"}) {
      EXPECT_EQ(refusal_of_bytes(squeezed(tar, by) + behind), "app: there is something behind what is compressed");
    }
  }
}

TEST(Tar, RefusesAWrongSumAndAWrongLengthBehindGzip) {
  const std::string gzip = squeezed(tar_of({{.name = "pay", .content = "amount=100"}}), Squeeze::gzip);
  for (size_t from_end : {1, 5}) {
    std::string lying = gzip;
    lying[lying.size() - from_end] = static_cast<char>(lying[lying.size() - from_end] ^ 1);
    EXPECT_TRUE(refusal_of_bytes(lying).ends_with(from_end == 1 ? "the archive is damaged: incorrect length check"
                                                                : "the archive is damaged: incorrect data check"))
        << refusal_of_bytes(lying);
  }
}

// macOS decomposes accents: the tree is the folder's, byte by byte.
TEST(Tar, KeepsNamesAsTheyAre) {
  const std::string name = "e\xcc\x81.txt", target = "o\xcc\x88", kelvin = "\xe2\x84\xaa";
  Tree expected;
  expected.add(tree_file(name, "1"));
  expected.add(tree_symlink("link", target));
  expected.add(tree_file(kelvin, ""));
  const std::string tar = tar_of({pax_member({{"path", name}}),
                                  {.name = "x", .content = "1"},
                                  pax_member({{"linkpath", target}}),
                                  {.name = "link", .type = '2', .link = "x"},
                                  pax_member({{"path", kelvin}}),
                                  {.name = "K"}});
  for (const std::string& bytes : {tar, squeezed(tar, Squeeze::gzip), squeezed(tar, Squeeze::zstd)}) {
    auto tree = tree_of_bytes(bytes);
    ASSERT_TRUE(tree) << tree.error().message;
    EXPECT_EQ(*tree, expected);
  }
}

TEST(Tar, RefusesANulInANameOrALink) {
  const std::string nul("a\0b", 3);
  EXPECT_EQ(refusal_of_bytes(tar_of({pax_member({{"path", nul}}), {.name = "x"}})),
            R"(app: "a\u0000b": the name has a NUL in it)");
  EXPECT_EQ(refusal_of_bytes(tar_of({pax_member({{"linkpath", nul}}), {.name = "x", .type = '2', .link = "y"}})),
            R"(app: "x": the symlink's target has a NUL in it)");
}

TEST(Tar, RefusesWhatIsDamaged) {
  std::string tar = tar_of({{.name = "a", .content = "x"}, {.name = "b", .content = "y"}});
  tar[1024] = 'Q';  // the second header's name: its sum is wrong now
  EXPECT_EQ(refusal_of_bytes(tar), "app: the archive is damaged: Damaged tar archive");
  std::string gzip = squeezed(tar_of({{.name = "a", .content = "x"}}), Squeeze::gzip);
  EXPECT_EQ(refusal_of_bytes("\x1f\x8b" + std::string(100, 'x')), "app: there is no tar in it");
  EXPECT_EQ(refusal_of_bytes(squeezed("just some text that is no tar", Squeeze::gzip)), "app: there is no tar in it");
}

TEST(Zip, GivesItsTree) {
  Tree expected;
  expected.add(tree_file("bin/app", "hello", kExecutableMode));
  expected.add(tree_symlink("current", "bin/app"));
  expected.add(tree_folder("empty"));
  expected.add(tree_file("é", "1"));
  auto tree = tree_of_bytes(zip_of({{.name = "bin/app", .content = "hello", .mode = 0100755},
                                    {.name = "current", .content = "bin/app", .mode = 0120777},
                                    {.name = "empty/", .mode = 040755},
                                    {.name = "é", .content = "1"}}));
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(*tree, expected);
}

TEST(Zip, RefusesWhatItMustNotCarry) {
  EXPECT_EQ(refusal_of_bytes(zip_of({{.name = "/etc/x"}})), R"(app: "/etc/x": the path is absolute)");
  EXPECT_EQ(refusal_of_bytes(zip_of({{.name = "a/../../x"}})), R"(app: "a/../../x": the path has ".." in it)");
  EXPECT_EQ(refusal_of_bytes(zip_of({{.name = "l", .content = "../x", .mode = 0120777}})),
            R"(app: "l": the symlink leads out of the archive: "../x")");
  EXPECT_EQ(refusal_of_bytes(zip_of({{.name = "l", .content = "d", .mode = 0120777}, {.name = "l/x"}})),
            R"(app: "l/x": "l" above it is a symlink)");
  EXPECT_EQ(refusal_of_bytes(zip_of({{.name = "a"}, {.name = "a"}})), R"(app: "a": the name occurs twice)");
  EXPECT_EQ(refusal_of_bytes(zip_of({{.name = "A"}, {.name = "a"}})),
            R"(app: "a": it differs from "A" only in case or accents)");
  EXPECT_EQ(refusal_of_bytes(zip_of({{.name = "d", .mode = 020644}})), R"(app: "d": it is a device)");
  EXPECT_EQ(refusal_of_bytes(zip_of({{.name = "d", .mode = 010644}})), R"(app: "d": it is a FIFO)");
  EXPECT_EQ(refusal_of_bytes(zip_of({{.name = "d", .mode = 0140644}})), R"(app: "d": it is a socket)");
  EXPECT_EQ(refusal_of_bytes(zip_of({{.name = "d", .mode = 0160644}})), R"(app: "d": it is a device)");
  EXPECT_EQ(refusal_of_bytes(zip_of({{.name = "a\xff"}})), "app: a name in it is not UTF-8");
  EXPECT_EQ(refusal_of_bytes(zip_of({{.name = std::string("a\0b", 3)}})),
            R"(app: "a\u0000b": the name has a NUL in it)");
  EXPECT_EQ(refusal_of_bytes(zip_of({{.name = "l", .content = std::string("a\0b", 3), .mode = 0120777}})),
            R"(app: "l": the symlink's target has a NUL in it)");
}

TEST(Zip, RefusesAnEntryThatItsDirectoryCallsOtherwise) {
  EXPECT_EQ(refusal_of_bytes(zip_of({{.name = "aaaa", .listed_name = "../b"}})),
            R"(app: "aaaa": its directory calls it "../b")");
}

TEST(Zip, KeepsNamesAsTheyAre) {
  const std::string name = "e\xcc\x81.txt", target = "o\xcc\x88";
  Tree expected;
  expected.add(tree_file(name, "1"));
  expected.add(tree_symlink("link", target));
  auto tree =
      tree_of_bytes(zip_of({{.name = name, .content = "1"}, {.name = "link", .content = target, .mode = 0120777}}));
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(*tree, expected);
}

TEST(Zip, RefusesLyingSizes) {
  std::string more = refusal_of_bytes(zip_of({{.name = "a", .content = "hello", .said_size = 9}}));
  EXPECT_NE(more, "accepted");
  EXPECT_EQ(more.substr(0, 10), "app: \"a\": ");
  std::string less = refusal_of_bytes(zip_of({{.name = "a", .content = "hello", .said_size = 2}}));
  EXPECT_NE(less, "accepted");
}

TEST(Zip, RefusesWhatIsCutShort) {
  std::string zip = zip_of({{.name = "a", .content = "hello"}, {.name = "b", .content = "hello"}});
  for (size_t size : {zip.size() - 1, zip.size() - 22, zip.size() - 40, size_t{50}}) {
    EXPECT_EQ(refusal_of_bytes(zip.substr(0, size)),
              "app: the archive ends too early: the directory at its end is missing");
  }
}

std::vector<std::string> searched(std::string bytes) {
  auto reader = open_for_search(source_of_bytes(std::move(bytes)), {});
  if (!reader) return {reader.error().message};
  std::vector<std::string> entries;
  for (;;) {
    auto entry = (*reader)->next();
    if (!entry) entries.push_back(entry.error().message);
    if (!entry || !*entry) return entries;
    std::string content;
    for (auto piece = (*reader)->read(); piece && !piece->empty(); piece = (*reader)->read()) content += *piece;
    entries.push_back((*entry)->path + "=" + content);
  }
}

TEST(Search, GivesAllThatIsInAnArchiveWhateverItsForm) {
  const std::string tar = tar_of({{.name = "a", .content = "1"},
                                  {.name = "a", .type = '1', .link = "a"},
                                  {.name = "/etc/x", .type = '2', .link = "/"},
                                  {.name = "A", .content = "2"}});
  const std::vector<std::string> all = {"a=1", "a=", "/etc/x=", "A=2"};
  for (Squeeze by : {Squeeze::gzip, Squeeze::zstd, Squeeze::xz, Squeeze::bzip2, Squeeze::lz4}) {
    EXPECT_EQ(searched(squeezed(tar, by)), all) << static_cast<int>(by);
    EXPECT_EQ(searched(squeezed("just text", by)), std::vector<std::string>{"content=just text"});
  }
  const std::string second = tar_of({{.name = "b", .content = "3"}});
  const std::vector<std::string> both = {"a=1", "a=", "/etc/x=", "A=2", "b=3"};
  EXPECT_EQ(searched(tar + second), both);
  EXPECT_EQ(searched(squeezed(tar, Squeeze::gzip) + squeezed(second, Squeeze::gzip)), both);
}

TEST(Search, TellsWhatItDoesNotRead) {
  EXPECT_EQ(sniff_unread("7z\xbc\xaf\x27\x1c..."), "7z");
  EXPECT_EQ(sniff_unread("Rar!\x1a\x07\x01"), "RAR");
  EXPECT_EQ(sniff_unread("plain text"), std::nullopt);
  EXPECT_EQ(sniff_for_search("\x1f\x8b no gzip"), std::nullopt);
  EXPECT_EQ(sniff_for_search(std::string(512, '\0')), std::nullopt);
}

}  // namespace stream_reader_test
}  // namespace sluice::bundle
