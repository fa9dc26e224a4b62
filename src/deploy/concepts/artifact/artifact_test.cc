// Artifact through the harness: one test a variant, and collections that agree with a plain reading of their rule.
#include <gtest/gtest.h>

#include <random>

#include "deploy/concepts/artifact/artifact_work.h"
#include "deploy/concepts/artifact/testing_builder.h"
#include "lang/run/harness.h"

namespace sluice::deploy::artifact {

void prepare(lang::Harness& harness) {
  static TestingBuilder place;
  harness.tools().add(place.builder);
}

namespace artifact_test {

constexpr int64_t kEver_ms = 4'000'000'000'000;

class ArtifactTest : public testing::Test {
 protected:
  ArtifactTest() { harness.tools().add(place.builder); }

  Build shop(const std::string& name = "shop") const {
    return {.concept_ = name,
            .implementation = "/shop",
            .command = ArtifactCommand{.argv = {"compile", "main.txt"}, .output = "out"}};
  }
  Build::Ok built(const std::string& content, const std::string& name = "shop") {
    place.put("/shop/main.txt", content);
    return harness.invoke(shop(name)).as<Build::Ok>();
  }
  std::set<std::string> hashes() {
    std::set<std::string> all;
    for (const auto& each : harness.invoke(List{}).as<List::Ok>().artifacts) all.insert(each.hash);
    return all;
  }
  ArtifactWhole whole() { return State(harness.rows()).whole(); }

  TestingBuilder place;
  lang::Harness harness{artifact_binding()};
};

TEST_F(ArtifactTest, BuildOk) {
  Build::Ok ok = built("one");
  EXPECT_TRUE(ok.built);
  EXPECT_EQ(ok.sizeBytes, 14);
  EXPECT_EQ(place.blob(ok.blob), "built from one");
  auto record = State(harness.rows()).get(ok.artifact);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->hash, ok.hash);
  EXPECT_EQ(record->conceptName, "shop");
  std::vector<std::string> names;
  for (const ArtifactInput& each : State(harness.rows()).inputs(ok.artifact).values()) names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"implementation", "tool compile"}));
  EXPECT_EQ(whole(), ArtifactWhole());
}

TEST_F(ArtifactTest, EqualInputsAreNotBuiltAgain) {
  Build::Ok first = built("one");
  Build::Ok again = built("one");
  EXPECT_EQ(again.artifact, first.artifact);
  EXPECT_FALSE(again.built);
  EXPECT_EQ(place.compiler.runs, 1);
  EXPECT_EQ(hashes().size(), 1U);
  EXPECT_NE(built("two").artifact, first.artifact);
  EXPECT_EQ(place.compiler.runs, 2);
}

TEST_F(ArtifactTest, WhatSomebodyRemovedIsBuiltAgain) {
  Build::Ok first = built("one");
  ASSERT_TRUE(place.builder.keep_only({}));
  Build::Ok again = built("one");
  EXPECT_TRUE(again.built);
  EXPECT_EQ(again.artifact, first.artifact);
  EXPECT_EQ(place.blob(again.blob), "built from one");
}

TEST_F(ArtifactTest, WhatSomebodyDamagedIsBuiltAgain) {
  Build::Ok first = built("one");
  for (const char* damaged : {"", "built from two"}) {
    place.put_blob(first.blob, damaged);
    Build::Ok again = built("one");
    EXPECT_TRUE(again.built);
    EXPECT_EQ(again.artifact, first.artifact);
    EXPECT_EQ(place.blob(again.blob), "built from one");
  }
}

TEST_F(ArtifactTest, WhatTwoHaveBuiltBelongsToBoth) {
  Build::Ok both = built("one", "shop");
  EXPECT_EQ(built("one", "till").artifact, both.artifact);
  auto listed = harness.invoke(List{}).as<List::Ok>().artifacts;
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].names, (std::vector<std::string>{"shop", "till"}));
  built("two", "shop");
  const Gc newest{.olderThan = lang::DateTime{kEver_ms}, .keepVersions = 1};
  EXPECT_EQ(harness.invoke(newest).as<Gc::Ok>(), Gc::Ok()) << "it is the newest of till";
  Build::Ok third = built("three", "till");
  EXPECT_EQ(harness.invoke(newest).as<Gc::Ok>().removed, 1);
  EXPECT_EQ(hashes().count(both.hash), 0U);
  EXPECT_EQ(hashes().count(third.hash), 1U);
}

TEST_F(ArtifactTest, BuildCompilationError) {
  place.compiler.ran = {.code = 2, .tail = "main.txt:1: no\nfailed\n"};
  auto failed = harness.invoke(shop()).as<Build::CompilationError>();
  EXPECT_EQ(failed.concept_, "shop");
  EXPECT_EQ(failed.reason, "compile ended with exit code 2");
  EXPECT_EQ(failed.errors, (std::vector<std::string>{"main.txt:1: no", "failed"}));
  Build missing = shop();
  missing.implementation = "/none";
  EXPECT_EQ(harness.invoke(missing).as<Build::CompilationError>().errors.size(), 1U);
  EXPECT_TRUE(hashes().empty());
  EXPECT_EQ(whole(), ArtifactWhole());
}

TEST_F(ArtifactTest, ABuildWaitsWhileOldArtifactsAreRemoved) {
  State(harness.rows()).put_whole({.collecting = true});
  EXPECT_EQ(harness.invoke(shop()).engine(), (lang::EngineEnd{.outcome = lang::EngineOutcome::unavailable,
                                                              .message = "old artifacts are being removed"}));
  EXPECT_EQ(whole(), ArtifactWhole{.collecting = true});
  EXPECT_EQ(place.compiler.runs, 0);
}

TEST_F(ArtifactTest, ResolveOk) {
  Build::Ok ok = built("one");
  auto found = harness.invoke(Resolve{.hash = ok.hash}).as<Resolve::Ok>();
  EXPECT_EQ(found.artifact, ok.artifact);
  EXPECT_EQ(found.location, location_of(ok.blob));
}

TEST_F(ArtifactTest, ResolveNotfound) {
  EXPECT_EQ(harness.invoke(Resolve{.hash = "sha256:00"}).as<Resolve::Notfound>().hash, "sha256:00");
}

TEST_F(ArtifactTest, HoldOkKeepsItUntilTheLastHasLetGo) {
  Build::Ok ok = built("one");
  for (const char* by : {"a", "b", "a"}) harness.invoke(Hold{.hash = ok.hash, .by = by}).as<Hold::Ok>();
  const Gc all{.olderThan = lang::DateTime{kEver_ms}, .keepVersions = 0};
  harness.invoke(Release{.hash = ok.hash, .by = "a"}).as<Release::Ok>();
  EXPECT_EQ(harness.invoke(all).as<Gc::Ok>(), Gc::Ok());
  harness.invoke(Release{.hash = ok.hash, .by = "b"}).as<Release::Ok>();
  EXPECT_EQ(harness.invoke(all).as<Gc::Ok>(), (Gc::Ok{.removed = 1, .freedBytes = 14}));
}

TEST_F(ArtifactTest, HoldNotfound) {
  EXPECT_TRUE(harness.invoke(Hold{.hash = "sha256:00", .by = "a"}).is<Hold::Notfound>());
}

TEST_F(ArtifactTest, ReleaseOkAlsoOfWhatIsNotThere) {
  EXPECT_EQ(harness.invoke(Release{.hash = "sha256:00", .by = "a"}).as<Release::Ok>().by, "a");
}

TEST_F(ArtifactTest, GcOkRemovesRowsAndBytes) {
  Build::Ok first = built("one");
  Build::Ok second = built("two");
  EXPECT_EQ(harness.invoke(Gc{.olderThan = lang::DateTime{0}, .keepVersions = 0}).as<Gc::Ok>(), Gc::Ok());
  EXPECT_EQ(harness.invoke(Gc{.olderThan = lang::DateTime{kEver_ms}, .keepVersions = 1}).as<Gc::Ok>(),
            (Gc::Ok{.removed = 1, .freedBytes = 14}));
  EXPECT_EQ(place.blobs(), 1U);
  EXPECT_EQ(hashes().size(), 1U);
  EXPECT_EQ(whole(), ArtifactWhole());
}

TEST_F(ArtifactTest, BytesThatAnotherArtifactHasAreNotFreed) {
  built("one", "shop");
  Build other = shop("till");
  other.deps = {"/shop"};  // other inputs, the same bytes
  harness.invoke(other).as<Build::Ok>();
  harness.invoke(Hold{.hash = *hashes().begin(), .by = "a"}).as<Hold::Ok>();
  EXPECT_EQ(harness.invoke(Gc{.olderThan = lang::DateTime{kEver_ms}, .keepVersions = 0}).as<Gc::Ok>(),
            (Gc::Ok{.removed = 1, .freedBytes = 0}));
  EXPECT_EQ(place.blobs(), 1U);
}

TEST_F(ArtifactTest, GcBusy) {
  State(harness.rows()).put_whole({.openBuilds = 2});
  EXPECT_EQ(harness.invoke(Gc{.olderThan = lang::DateTime{kEver_ms}}).as<Gc::Busy>().builds, 2);
  State(harness.rows()).put_whole({.collecting = true});
  EXPECT_TRUE(harness.invoke(Gc{.olderThan = lang::DateTime{kEver_ms}}).is<Gc::Busy>());
}

TEST_F(ArtifactTest, GcInvalid) {
  EXPECT_EQ(harness.invoke(Gc{.olderThan = lang::DateTime{0}, .keepVersions = -1}).as<Gc::Invalid>().message,
            "the number of versions to keep is 0 or more");
}

TEST_F(ArtifactTest, ListOkSaysWhoHoldsWhat) {
  Build::Ok ok = built("one");
  harness.invoke(Hold{.hash = ok.hash, .by = "prod"}).as<Hold::Ok>();
  auto listed = harness.invoke(List{}).as<List::Ok>().artifacts;
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].heldBy, std::vector<std::string>{"prod"});
  EXPECT_EQ(listed[0].artifact, ok.artifact);
}

// ------------------------------------------------------------------------------------------------ random histories

// An artifact as the rule sees it.
struct Plain {
  std::string hash, blob;
  std::set<std::string> names;  // of all that have built it
  int64_t used_ms = 0;
  std::string id;
  std::set<std::string> held_by;
};

// The rule once more, read plainly: those used before `older_ms` that nobody holds and that have `keep` newer ones of
// each name.
std::set<std::string> goes(const std::vector<Plain>& all, int64_t older_ms, int64_t keep) {
  std::set<std::string> hashes;
  for (const Plain& each : all) {
    bool is_newest = false;
    for (const std::string& name : each.names) {
      int64_t newer = 0;
      for (const Plain& other : all) {
        bool later = other.used_ms > each.used_ms || (other.used_ms == each.used_ms && other.id > each.id);
        if (other.names.contains(name) && later) ++newer;
      }
      is_newest = is_newest || newer < keep;
    }
    if (each.used_ms < older_ms && each.held_by.empty() && !is_newest) hashes.insert(each.hash);
  }
  return hashes;
}

// One life of a store of artifacts, and the same in plain words beside it. Rows and bytes come by builds, and by being
// put there, which is faster and gives several artifacts the same bytes; time passes; collections come and go.
class History {
 public:
  explicit History(std::mt19937& random) : random_(random) { harness_.tools().add(place_.builder); }

  void step() {
    // Builds take the most time.
    const int what = below(20);
    if (what == 0) return build();
    if (what <= 6) return put();
    if (what <= 12) return hold_or_release();
    if (what > 15) return collect();
    now_ms_ += below(3);
    harness_.rows().set_now({now_ms_});
  }

  void collect() {
    const int64_t older_ms = now_ms_ - 1 + below(4), keep = below(3);
    const std::set<std::string> expected = goes(all_, older_ms, keep);
    std::map<std::string, int64_t> gone;  // bytes by blob
    for (const Plain& each : all_) {
      if (expected.contains(each.hash)) gone[each.blob] = sizes_[each.blob];
    }
    std::erase_if(all_, [&](const Plain& each) { return expected.contains(each.hash); });
    std::set<std::string> hashes, blobs;
    for (const Plain& each : all_) {
      hashes.insert(each.hash);
      blobs.insert(each.blob);
    }
    int64_t freed = 0;
    for (const auto& [blob, bytes] : gone) freed += blobs.contains(blob) ? 0 : bytes;

    auto done = harness_.invoke(Gc{.olderThan = {older_ms}, .keepVersions = keep}).as<Gc::Ok>();
    EXPECT_EQ(done, (Gc::Ok{.removed = static_cast<int64_t>(expected.size()), .freedBytes = freed}));
    std::set<std::string> left;
    for (const auto& entry : State(harness_.rows()).all()) left.insert(entry.record.hash);
    EXPECT_EQ(left, hashes);
    EXPECT_EQ(place_.digests(), blobs);
    removed += done.removed;
    kept += static_cast<int64_t>(left.size());
    ++collections;
  }

  int64_t removed = 0, kept = 0, collections = 0, builds = 0, shared = 0;

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  void build() {
    const std::string name = "c" + std::to_string(below(2));
    place_.put("/shop/main.txt", std::string(1, static_cast<char>('p' + below(2))));
    Build ask{.concept_ = name,
              .implementation = "/shop",
              .command = ArtifactCommand{.argv = {"compile", "main.txt"}, .output = "out"}};
    auto ok = harness_.invoke(ask).as<Build::Ok>();
    auto known = std::ranges::find(all_, ok.hash, &Plain::hash);
    EXPECT_EQ(ok.built, known == all_.end());
    if (known == all_.end()) {
      all_.push_back({.hash = ok.hash, .blob = ok.blob, .id = ok.artifact.text()});
      known = all_.end() - 1;
    }
    known->names.insert(name);
    shared += known->names.size() > 1 ? 1 : 0;
    known->used_ms = now_ms_;
    sizes_[ok.blob] = ok.sizeBytes;
    ++builds;
  }

  void put() {
    const int bytes = below(3);
    const std::string name = "c" + std::to_string(below(2));
    Plain plain{.hash = "h" + std::to_string(++put_),
                .blob = "sha256:" + std::string(64, static_cast<char>('a' + bytes)),
                .names = {name},
                .used_ms = now_ms_ - below(3)};
    sizes_[plain.blob] = 10 + bytes;
    place_.put_blob(plain.blob, std::string(static_cast<size_t>(10 + bytes), 'x'));
    plain.id = State(harness_.rows())
                   .add({.hash = plain.hash,
                         .conceptName = name,
                         .usedAt = {plain.used_ms},
                         .blob = plain.blob,
                         .sizeBytes = sizes_[plain.blob]})
                   .text();
    all_.push_back(std::move(plain));
  }

  void hold_or_release() {
    if (all_.empty()) return;
    Plain& one = all_[static_cast<size_t>(below(static_cast<int>(all_.size())))];
    const std::string by = below(2) == 0 ? "x" : "y";
    if (below(3) > 0) {
      harness_.invoke(Hold{.hash = one.hash, .by = by}).as<Hold::Ok>();
      one.held_by.insert(by);
    } else {
      harness_.invoke(Release{.hash = one.hash, .by = by}).as<Release::Ok>();
      one.held_by.erase(by);
    }
  }

  std::mt19937& random_;
  TestingBuilder place_;
  lang::Harness harness_{artifact_binding()};
  std::vector<Plain> all_;
  std::map<std::string, int64_t> sizes_;  // by blob
  int64_t now_ms_ = harness_.rows().now().ms;
  int put_ = 0;
};

TEST(ArtifactHistories, InTenThousandRowsAndBytesGoAsTheRuleSays) {
  constexpr int kHistories = 10'000;
  std::mt19937 random(7);
  int64_t removed = 0, kept = 0, collections = 0, builds = 0, shared = 0;
  for (int i = 0; i < kHistories; ++i) {
    SCOPED_TRACE("history " + std::to_string(i));
    History history(random);
    for (unsigned steps = 3 + random() % 8; steps > 0; --steps) history.step();
    history.collect();
    if (testing::Test::HasFailure()) return;
    removed += history.removed;
    kept += history.kept;
    collections += history.collections;
    builds += history.builds;
    shared += history.shared;
  }
  EXPECT_GT(removed, 5'000);
  EXPECT_GT(kept, 10'000);
  EXPECT_GT(collections, 2 * kHistories);
  EXPECT_GT(builds, kHistories / 5);
  EXPECT_GT(shared, 100) << "built under two names";
}

}  // namespace artifact_test
}  // namespace sluice::deploy::artifact
