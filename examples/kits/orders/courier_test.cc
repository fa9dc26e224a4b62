// Courier through the harness, with a mailbox in memory. Its fixture runs beside this, generated.
#include <gtest/gtest.h>

#include "base/atomic_file.h"
#include "base/testing_volatile_disk.h"
#include "courier_work.h"
#include "lang/run/harness.h"
#include "mailbox.h"

namespace sluice::orders::courier {
namespace {

constexpr size_t kMaxNoteBytes = 1000;

struct Street {
  Street() { EXPECT_TRUE(disk.make_folder("/mailbox", 0755)); }

  VolatileDisk disk;
  Mailbox mailbox{disk, "/mailbox"};
  Mailbox missing{disk, "/nowhere"};
  Mailbox unnamed{disk, ""};
};

}  // namespace

void prepare(lang::Harness& harness) {
  static Street street;
  harness.tools().add(street.mailbox);
}

namespace {

class CourierTest : public testing::Test {
 protected:
  const Deliver tea{.parcel = "2 x tea", .address = "1 Lock Lane"};
  Street street;
  lang::Harness harness{courier_binding()};
};

TEST_F(CourierTest, LeavesOneNoteUnderTheIdOfTheEffect) {
  harness.tools().add(street.mailbox);
  auto trip = harness.invoke(tea).as<Deliver::Ok>().trip;
  EXPECT_EQ(State(harness.rows()).get(trip)->parcel, "2 x tea");
  auto notes = street.disk.list("/mailbox");
  ASSERT_TRUE(notes);
  ASSERT_EQ(notes->size(), 1);
  EXPECT_EQ(*read_file(street.disk, "/mailbox/" + notes->front().name, kMaxNoteBytes), "2 x tea, for 1 Lock Lane\n");
  EXPECT_TRUE(street.mailbox.put(notes->front().name.substr(0, notes->front().name.size() - 4), "again\n"));
  EXPECT_EQ(street.disk.list("/mailbox")->size(), 1);
}

TEST_F(CourierTest, ComesAgainWhileThereIsNoMailbox) {
  harness.tools().add(street.missing);
  EXPECT_EQ(harness.invoke(tea).engine(),
            (lang::EngineEnd{.outcome = lang::EngineOutcome::unavailable, .message = "there is no mailbox /nowhere"}));
  harness.tools().add(street.unnamed);
  EXPECT_EQ(harness.invoke(tea).engine().message, "there is no mailbox: ORDERS_MAILBOX names no folder");
  for (const auto& trip : State(harness.rows()).all()) ADD_FAILURE() << trip.id.text();
}

}  // namespace
}  // namespace sluice::orders::courier
