// Sessions stay, the newest of them, whatever comes.
#include "router/pins/session_pins.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace sluice::router {
namespace session_pins_test {

TEST(SessionPins, RememberARevisionForAsLongAsItIsUsed) {
  auto pins = std::make_unique<SessionPins>(HashKey{1, 2});
  EXPECT_EQ(pins->find("ann", 100, 3'600), std::nullopt);
  pins->put("ann", 7, 100);
  EXPECT_EQ(pins->find("ann", 3'700, 3'600)->revision, 7U);
  EXPECT_EQ(pins->find("ann", 7'300, 3'600)->revision, 7U);
  EXPECT_EQ(pins->find("ann", 10'901, 3'600), std::nullopt);
  pins->put("ann", 8, 10'901);
  EXPECT_EQ(pins->find("ann", 10'901, 3'600)->revision, 8U);
  EXPECT_EQ(pins->size(), 1U);
}

TEST(SessionPins, StayWithinTheirNumberAndKeepTheNewest) {
  auto pins = std::make_unique<SessionPins>(HashKey{1, 2});
  for (int i = 0; i < 32'768; ++i) pins->put("user-" + std::to_string(i), static_cast<uint32_t>(i), 100);
  EXPECT_LE(pins->size(), SessionPins::kCapacity);
  int kept = 0;
  for (int i = 30'768; i < 32'768; ++i) {
    auto found = pins->find("user-" + std::to_string(i), 100, 10);
    if (found && found->revision == static_cast<uint32_t>(i)) ++kept;
  }
  EXPECT_EQ(kept, 2'000);
}

TEST(SessionPins, SayOnceAQuarterOfTheirTimeThatTheyAreToBeRenewed) {
  auto pins = std::make_unique<SessionPins>(HashKey{1, 2});
  pins->put("ann", 7, 100);
  int renewed = 0;
  for (uint32_t now_s = 100; now_s < 900; now_s += 10) renewed += pins->find("ann", now_s, 400)->renew ? 1 : 0;
  EXPECT_EQ(renewed, 7) << "at 200, 300 and so on to 800";
  EXPECT_FALSE(pins->find("ann", 899, 400)->renew);
}

TEST(SessionPins, GoAlongToTheNextWorker) {
  auto pins = std::make_unique<SessionPins>(HashKey{1, 2}), next = std::make_unique<SessionPins>(HashKey{1, 2});
  pins->put("ann", 7, 100);
  pins->put("ben", 8, 100);
  pins->put("cem", 9, 40);
  next->take(pins->save(),
             [](uint32_t number) { return number == 8 ? std::nullopt : std::optional<uint32_t>(number + 10); });
  EXPECT_EQ(next->find("ann", 120, 60)->revision, 17U);
  EXPECT_FALSE(next->find("ben", 120, 60)) << "there is no such revision";
  EXPECT_FALSE(next->find("cem", 120, 60)) << "its time is over";
  EXPECT_EQ(next->size(), 2U);
  next->take("damaged", [](uint32_t) { return std::optional<uint32_t>(1); });
  EXPECT_EQ(next->size(), 2U);
}

}  // namespace session_pins_test
}  // namespace sluice::router
