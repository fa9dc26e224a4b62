// What is proposed for a folder.
#include "bundle/manifest/guess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/testing_volatile_disk.h"

namespace sluice::bundle {
namespace guess_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GuessTest : public ::testing::Test {
 protected:
  GuessTest() {
    EXPECT_TRUE(disk.make_folder("/f", 0755));
    EXPECT_TRUE(disk.make_folder("/f/bin", 0755));
  }
  void put(const std::string& name, std::string_view text = "", uint32_t mode = 0644) {
    ASSERT_TRUE(write_atomically(disk, "/f/" + name, text, mode));
  }
  std::vector<std::string> run() { return guess_manifest(disk, "/f", "f")->run; }

  VolatileDisk disk;
};

TEST_F(GuessTest, MakesANameOfTheFoldersOwn) {
  auto name = [&](std::string_view called) { return guess_manifest(disk, "/f", called)->name.text; };
  EXPECT_EQ(name("shop"), "shop");
  EXPECT_EQ(name("My Shop (2)"), "my-shop-2");
  EXPECT_EQ(name("2nd_shop"), "nd-shop");
  EXPECT_EQ(name("--"), "app");
  EXPECT_EQ(name("größe"), "grosse");
  EXPECT_EQ(name("Ünï çödé"), "uni-code");
  EXPECT_EQ(name(std::string(100, 'a')), std::string(63, 'a'));
}

TEST_F(GuessTest, TakesWhatSaysHowToRunFirst) {
  put("run.sh", "", 0755);
  EXPECT_THAT(run(), ElementsAre("./run.sh"));
  put("main.py");
  EXPECT_THAT(run(), ElementsAre("python3", "main.py"));
  put("package.json", R"({"scripts": {"start": "node x"}})");
  EXPECT_THAT(run(), ElementsAre("npm", "start"));
  put("Procfile", "worker: x\nweb: gunicorn 'app:make app'\n");
  EXPECT_THAT(run(), ElementsAre("gunicorn", "app:make app"));
}

TEST_F(GuessTest, TakesTheOnlyProgramThatIsThere) {
  EXPECT_THAT(run(), IsEmpty());
  put("bin/shopd", "", 0755);
  EXPECT_THAT(run(), ElementsAre("./bin/shopd"));
  put("bin/other", "", 0755);
  EXPECT_THAT(run(), IsEmpty());
}

TEST_F(GuessTest, KnowsAProgramThatWantsASocket) {
  put("main.py", "port = os.environ['PORT']");
  EXPECT_EQ(guess_manifest(disk, "/f", "f")->listen, Listen::port);
  put("main.py", "path = os.environ['SLUICE_SOCKET']");
  EXPECT_EQ(guess_manifest(disk, "/f", "f")->listen, Listen::unix);
}

TEST_F(GuessTest, NeedsAFolder) {
  put("main.py");
  EXPECT_EQ(guess_manifest(disk, "/f/main.py", "f").error().message, "/f/main.py is not a folder");
  EXPECT_EQ(guess_manifest(disk, "/none", "f").error().code, Code::not_found);
}

TEST(Words, AreCutAsAShellCutsThem) {
  EXPECT_THAT(*words_of("a  'b c' \"d\\\"e\" f\\ g ''"), ElementsAre("a", "b c", "d\"e", "f g", ""));
  EXPECT_THAT(*words_of(" \t"), IsEmpty());
  EXPECT_EQ(words_of("'a").error().message, "a quote is not closed");
}

}  // namespace guess_test
}  // namespace sluice::bundle
