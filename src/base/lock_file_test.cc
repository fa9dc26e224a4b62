// One owner at a time, named to those who wait; a dead one's lock is taken over. The owners are real processes.
#include "base/lock_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "base/atomic_file.h"
#include "base/real_disk.h"
#include "base/testing_faulty_disk.h"
#include "base/testing_folder.h"
#include "base/testing_volatile_disk.h"

namespace sluice {
namespace lock_file_test {

using testing::HasSubstr;

constexpr int64_t kNowMs = 1'700'000'000'000;

// A forked process that runs `work`, says through a pipe whether it returned true, and then waits to be killed.
class Child {
 public:
  explicit Child(const std::function<bool()>& work) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that dies leaves nobody behind
      char said = work() ? '+' : '-';
      (void)!::write(ends[1], &said, 1);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char said = 0;
    ready_ = ::read(ends[0], &said, 1) == 1 && said == '+';
    ::close(ends[0]);
  }
  ~Child() { kill(); }

  bool ready() const { return ready_; }
  int pid() const { return pid_; }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  int pid_ = 0;
  bool ready_ = false;
};

struct LockFileTest : testing::Test {
  TestingFolder folder;
  std::string path = folder.path("lock");
  RealDisk disk;
  ManualClock clock{kNowMs};

  // A process that holds the lock until it is killed.
  std::unique_ptr<Child> owner() {
    return std::make_unique<Child>([this] {
      ManualClock its_clock(kNowMs - 35'000);
      static std::optional<Result<LockFile>> held;  // the child never returns; nothing may release the lock
      held.emplace(LockFile::acquire(disk, its_clock, path, 0));
      return held->has_value();
    });
  }
};

TEST_F(LockFileTest, IsReleasedAtTheEndOfItsScope) {
  {
    auto lock = LockFile::acquire(disk, clock, path, 0);
    ASSERT_TRUE(lock) << lock.error().message;
    EXPECT_EQ(read_lock_owner(disk, path)->process, *identify_this_process());
    EXPECT_FALSE(LockFile::acquire(disk, clock, path, 0));
  }
  EXPECT_EQ(*read_file(disk, path, 100), "");
  auto again = LockFile::acquire(disk, clock, path, 0);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->taken_over_from()) << "a lock that was given back is not taken over";
}

TEST_F(LockFileTest, NamesALiveOwnerAfterTheWait) {
  auto child = owner();
  ASSERT_TRUE(child->ready());
  auto lock = LockFile::acquire(disk, clock, path, 5'000);
  ASSERT_FALSE(lock);
  EXPECT_EQ(clock.monotonic_ns(), 5'000'000'000) << "it waits as long as it was told, not longer";
  EXPECT_EQ(lock.error().code, Code::conflict);
  const std::string who = "pid " + std::to_string(child->pid()) + " on " + host_name();
  EXPECT_EQ(lock.error().message, path + " is locked by " + who + " since 2023-11-14T22:12:45.000Z (40 s)");
  EXPECT_EQ(lock.error().next, "wait until " + who + " ends, or stop it, then run the command again");
}

TEST_F(LockFileTest, DoesNotWaitWhenToldNotTo) {
  auto child = owner();
  ASSERT_TRUE(child->ready());
  EXPECT_FALSE(LockFile::acquire(disk, clock, path, 0));
  EXPECT_EQ(clock.monotonic_ns(), 0);
}

TEST_F(LockFileTest, TakesOverFromAnOwnerThatWasKilled) {
  auto child = owner();
  ASSERT_TRUE(child->ready());
  const int pid = child->pid();
  child->kill();
  auto lock = LockFile::acquire(disk, clock, path, 0);
  ASSERT_TRUE(lock) << lock.error().message;
  ASSERT_TRUE(lock->taken_over_from());
  EXPECT_EQ(lock->taken_over_from()->process.pid, pid);
  EXPECT_EQ(lock->taken_over_from()->host, host_name());
  EXPECT_EQ(lock->taken_over_from()->since_ms, kNowMs - 35'000);
  EXPECT_EQ(read_lock_owner(disk, path)->process.pid, ::getpid());
}

TEST_F(LockFileTest, GetsTheLockWhenItsOwnerEndsDuringTheWait) {
  auto child = owner();
  ASSERT_TRUE(child->ready());
  // Kills the owner at the first poll, so that the wait itself is what ends.
  struct KillingClock final : Clock {
    Child& child;
    explicit KillingClock(Child& owner) : child(owner) {}
    int64_t wall_ms() const override { return kNowMs; }
    int64_t monotonic_ns() const override { return 0; }
    void sleep_ms(int64_t) override { child.kill(); }
  } killing(*child);
  EXPECT_TRUE(LockFile::acquire(disk, killing, path, 1'000));
}

TEST_F(LockFileTest, ARecordOfALiveProcessWithoutTheLockKeepsNobodyOut) {
  // The record names this very process, which runs; but nobody holds the lock. So a reused pid locks nobody out.
  auto self = *identify_this_process();
  ASSERT_TRUE(write_atomically(disk, path,
                               R"({"pid":)" + std::to_string(self.pid) + R"(,"start_ticks":)" +
                                   std::to_string(self.start_ticks) + R"(,"boot":")" + self.boot +
                                   R"(","host":"elsewhere.example","since_ms":5})",
                               0600));
  auto lock = LockFile::acquire(disk, clock, path, 0);
  ASSERT_TRUE(lock);
  EXPECT_EQ(lock->taken_over_from()->host, "elsewhere.example");
}

TEST_F(LockFileTest, SaysWhenTheOwnerIsGoneButItsChildKeepsTheLock) {
  // The owner forks a child that inherits the lock, and ends.
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    auto lock = LockFile::acquire(disk, clock, path, 0);
    pid_t orphan = ::fork();
    if (orphan == 0) {
      for (;;) ::pause();
    }
    (void)!::write(ends[1], &orphan, sizeof orphan);
    ::_exit(lock ? 0 : 1);
  }
  pid_t orphan = 0;
  ASSERT_EQ(::read(ends[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  ::close(ends[0]);
  ::close(ends[1]);
  int status = -1;
  ::waitpid(parent, &status, 0);
  EXPECT_EQ(status, 0);
  auto lock = LockFile::acquire(disk, clock, path, 0);
  ::kill(orphan, SIGKILL);
  ASSERT_FALSE(lock);
  EXPECT_THAT(lock.error().message, HasSubstr("is locked by pid " + std::to_string(parent) + " on "));
  EXPECT_THAT(lock.error().message,
              HasSubstr("; that process is gone, but one that it left behind still holds the lock"));
  EXPECT_EQ(lock.error().next, "find it with: fuser " + path);
}

TEST_F(LockFileTest, AForkedChildDoesNotReleaseItsParentsLock) {
  auto lock = std::make_unique<Result<LockFile>>(LockFile::acquire(disk, clock, path, 0));
  ASSERT_TRUE(*lock);
  Child child([&] {
    lock.reset();
    return true;
  });
  ASSERT_TRUE(child.ready());
  EXPECT_TRUE(read_lock_owner(disk, path));
  EXPECT_FALSE(LockFile::acquire(disk, clock, path, 0));
}

TEST_F(LockFileTest, ANonsenseRecordKeepsNobodyOutAndNamesNobody) {
  for (const std::string& record :
       {std::string("nonsense"), std::string("[]"), std::string(10'000, '['), std::string("\0\xff", 2),
        std::string(R"({"pid":-1})"), std::string(R"({"pid":99999999999})")}) {
    ASSERT_TRUE(write_atomically(disk, path, record, 0600));
    EXPECT_FALSE(read_lock_owner(disk, path));
    auto lock = LockFile::acquire(disk, clock, path, 0);
    ASSERT_TRUE(lock);
    EXPECT_FALSE(lock->taken_over_from());
  }
  auto raw = *disk.open(path, {.write = true});
  ASSERT_TRUE(*raw->lock(FileLock::exclusive));
  auto lock = LockFile::acquire(disk, clock, path, 0);
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().message, path + " is locked by another process, which has not said which");
}

TEST_F(LockFileTest, DoesNotFollowASymlinkAndNeedsItsFolder) {
  ASSERT_TRUE(disk.symlink("elsewhere", path));
  EXPECT_EQ(LockFile::acquire(disk, clock, path, 0).error().code, Code::invalid);
  EXPECT_EQ(LockFile::acquire(disk, clock, folder.path("no/lock"), 0).error().code, Code::not_found);
}

TEST_F(LockFileTest, LocksTheFileThatHasTheNameNow) {
  // Whoever removes the file while it is being taken must not leave the taker with a lock that nobody else sees.
  int locks = 0;
  FaultyDisk removing(disk, {.before = [&](DiskOperation operation) {
                        if (operation == DiskOperation::lock && ++locks == 1) (void)disk.remove(path);
                      }});
  auto lock = LockFile::acquire(removing, clock, path, 0);
  ASSERT_TRUE(lock);
  EXPECT_EQ(locks, 2);
  EXPECT_FALSE(LockFile::acquire(disk, clock, path, 0));
}

TEST_F(LockFileTest, OfManyRacingTakersOneIsInsideAtATime) {
  RealClock real_clock;
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::atomic<int> entered = 0;
  std::vector<std::thread> takers;
  for (int i = 0; i < 8; ++i) {
    takers.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        auto lock = LockFile::acquire(disk, real_clock, path, 60'000);
        if (!lock) continue;
        most = std::max(most.load(), ++inside);
        ++entered;
        --inside;
      }
    });
  }
  for (auto& taker : takers) taker.join();
  EXPECT_EQ(entered, 160);
  EXPECT_EQ(most, 1);
}

TEST(LockFile, WorksOnADiskInMemory) {
  VolatileDisk disk;
  ManualClock clock(kNowMs);
  auto lock = LockFile::acquire(disk, clock, "/lock", 0);
  ASSERT_TRUE(lock);
  EXPECT_FALSE(LockFile::acquire(disk, clock, "/lock", 100));
  disk.crash();
  EXPECT_TRUE(LockFile::acquire(disk, clock, "/lock", 0));
}

}  // namespace lock_file_test
}  // namespace sluice
