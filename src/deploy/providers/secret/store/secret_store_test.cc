// SecretStore through the harness, with real files.
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "deploy/providers/secret/store/sealed_store.h"
#include "deploy/providers/secret/store/secret_store_work.h"
#include "lang/run/harness.h"
#include "process/run.h"

namespace sluice::deploy::secret_store {
namespace {

// The tools in a folder of their own.
struct StorePlace {
  TestingFolder folder;
  RealDisk disk;
  RealClock clock;
  SeededRandom random{1};
  process::RealRunner runner{clock};
  SealedStore store{disk, random, runner, {.folder = folder.path() + "/secrets", .keys = folder.path() + "/keys"}};

  void lend(lang::Harness& harness) {
    harness.tools().add(store);
    harness.tools().add<Disk>(disk);
  }
};

}  // namespace

void prepare(lang::Harness& harness) {
  static StorePlace place;
  place.lend(harness);
}

namespace secret_store_test {

class SecretStoreTest : public testing::Test {
 protected:
  SecretStoreTest() { place.lend(harness); }

  lang::Invoked<Put> put(const std::string& value) {
    return harness.invoke(Put{.environment = "local", .name = "hello/KEY", .value = harness.seal(value)});
  }
  lang::Invoked<Fetch> fetch(std::optional<std::string> version = {}) {
    return harness.invoke(Fetch{.environment = "local", .name = "hello/KEY", .version = version});
  }
  std::string fetched(std::optional<std::string> version = {}) {
    return harness.opened(fetch(version).as<Fetch::Ok>().value);
  }
  Head::Ok head() { return harness.invoke(Head{.environment = "local", .name = "hello/KEY"}).as<Head::Ok>(); }
  void break_key() {
    ASSERT_TRUE(
        write_atomically(place.disk, place.folder.path() + "/keys/secrets-local.1.key", std::string(64, '0'), 0600));
  }

  StorePlace place;
  lang::Harness harness{secret_store_binding()};
};

TEST_F(SecretStoreTest, VersionsCountUp) {
  EXPECT_FALSE(head().exists);
  EXPECT_EQ(put("one").as<Put::Ok>().version, "1");
  EXPECT_EQ(put("two").as<Put::Ok>().version, "2");
  EXPECT_EQ(head().version, "2");
  EXPECT_EQ(fetched(), "two");
  EXPECT_EQ(fetched("1"), "one");
}

TEST_F(SecretStoreTest, FetchNotFound) {
  EXPECT_EQ(fetch().as<Fetch::NotFound>().message, "there is no secret hello/KEY in local");
  put("one");
  EXPECT_EQ(fetch("7").as<Fetch::NotFound>().message, "version 7 of hello/KEY is no longer kept");
  EXPECT_EQ(fetch("x").as<Fetch::NotFound>().message, "version x of hello/KEY is no longer kept");
}

TEST_F(SecretStoreTest, AClosedStoreSaysSo) {
  put("one");
  break_key();
  EXPECT_NE(fetch().as<Fetch::Closed>().message.find("does not open the secrets of local"), std::string::npos);
  EXPECT_TRUE(put("two").is<Put::Closed>());
  EXPECT_EQ(head().version, "1") << "what was not kept is no version";
  const Rotate rotate{.environment = "local", .name = "hello/KEY"};
  EXPECT_TRUE(harness.invoke(rotate).is<Rotate::Closed>());
  EXPECT_TRUE(harness.invoke(Remove{.environment = "local", .name = "hello/KEY"}).is<Remove::Closed>());
  EXPECT_TRUE(harness.invoke(Rekey{.environment = "local"}).is<Rekey::Closed>());
}

TEST_F(SecretStoreTest, PutUnfit) {
  EXPECT_EQ(put("").as<Put::Unfit>().message, "the value of hello/KEY is empty");
  EXPECT_EQ(put(std::string(kMaxSecretBytes + 1, 'x')).as<Put::Unfit>().message,
            "the value of hello/KEY has more than 1 MB");
  EXPECT_FALSE(head().exists);
}

TEST_F(SecretStoreTest, AValueThatIsGoneIsLost) {
  const lang::Sealed gone = lang::Sealed::of_handle("sealed:gone");
  const Put lost{.environment = "local", .name = "hello/KEY", .value = gone};
  EXPECT_EQ(harness.invoke(lost).as<Put::Lost>().message,
            "Sluice ended before the value of hello/KEY was kept; put it again");
  put("one");
  const Rotate rotate{.environment = "local", .name = "hello/KEY", .value = gone};
  EXPECT_TRUE(harness.invoke(rotate).is<Rotate::Lost>());
  EXPECT_EQ(fetched(), "one");
}

TEST_F(SecretStoreTest, RotateMakesAValueUpOrTakesOne) {
  const Rotate rotate{.environment = "local", .name = "hello/KEY"};
  EXPECT_TRUE(harness.invoke(rotate).is<Rotate::NotFound>());
  put("one");
  EXPECT_EQ(harness.invoke(rotate).as<Rotate::Ok>().newVersion, "2");
  EXPECT_EQ(fetched().size(), 43U);
  Rotate given = rotate;
  given.value = harness.seal("three");
  EXPECT_EQ(harness.invoke(given).as<Rotate::Ok>().newVersion, "3");
  EXPECT_EQ(fetched(), "three");
  given.value = harness.seal("");
  EXPECT_TRUE(harness.invoke(given).is<Rotate::Unfit>());
}

TEST_F(SecretStoreTest, ARemovedNumberIsNeverUsedAgain) {
  const Remove remove{.environment = "local", .name = "hello/KEY"};
  EXPECT_TRUE(harness.invoke(remove).is<Remove::NotFound>());
  put("one");
  EXPECT_TRUE(harness.invoke(remove).is<Remove::Ok>());
  EXPECT_FALSE(head().exists);
  EXPECT_TRUE(harness.invoke(remove).is<Remove::NotFound>());
  EXPECT_EQ(put("two").as<Put::Ok>().version, "2");
}

TEST_F(SecretStoreTest, Rekey) {
  EXPECT_TRUE(harness.invoke(Rekey{.environment = "local"}).is<Rekey::Empty>());
  put("one");
  EXPECT_EQ(harness.invoke(Rekey{.environment = "local"}).as<Rekey::Ok>().values, 1);
  EXPECT_EQ(fetched(), "one");
  EXPECT_TRUE(harness.invoke(Rekey{.environment = "local", .keyFile = "my.key"}).is<Rekey::Invalid>());
  EXPECT_TRUE(harness.invoke(Rekey{.environment = "local", .keyFile = "/k", .keyCommand = "c"}).is<Rekey::Invalid>());
  ASSERT_TRUE(write_atomically(place.disk, place.folder.path() + "/my.key", "short", 0600));
  EXPECT_TRUE(
      harness.invoke(Rekey{.environment = "local", .keyFile = place.folder.path() + "/my.key"}).is<Rekey::Invalid>());
  EXPECT_EQ(fetched(), "one");
}

}  // namespace secret_store_test
}  // namespace sluice::deploy::secret_store
