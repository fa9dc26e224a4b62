// A home served by what a test gives it. cli/serving_test.cc has the real service.
#include "host/serving.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "base/testing_source.h"
#include "host/exchange.h"
#include "host/testing_opening.h"
#include "http/client.h"
#include "orders/orders_kit.h"

namespace sluice::host {
namespace serving_test {

class Echo final : public SocketService {
 public:
  http::Response answer(const http::Request& request, const http::Peer&) override {
    return {.body = "\"" + request.target + "\""};
  }
  void stop_waiting() override {}
};

TEST(ServingHome, ItsSocketIsThereForAsLongAsItServes) {
  TestingOpening home(orders::concepts());
  const std::string folder = std::string(kSourceDir) + "/examples/kits/orders";
  auto place = place_of_kit(folder, home.home, home.narrator);
  lang::Checked checked = check_place(*place, false, home.disk, home.narrator);
  auto kit = std::make_shared<const lang::CheckedKit>(*std::move(checked.kit));
  std::string about;
  auto serving = Serving::start(home.opening, *place, kit, "0.1.0", [&](ServiceParts parts) {
    about = std::string(parts.about().at("kitFolder").as_string());
    return std::make_unique<Echo>();
  });
  ASSERT_TRUE(serving) << to_string(serving.error());
  EXPECT_EQ(about, folder);
  RealClock clock;
  {
    auto client = http::Client::to_unix((*serving)->socket(), clock);
    ASSERT_TRUE(client) << to_string(client.error());
    EXPECT_EQ(ask(**client, get({"v1", "x"})).value(), "/v1/x");
  }
  const std::string socket = (*serving)->socket();
  serving->reset();
  EXPECT_FALSE(std::filesystem::exists(socket));
  EXPECT_TRUE(home.narrator.said.ends_with(" stopped\n")) << home.narrator.said;
}

}  // namespace serving_test
}  // namespace sluice::host
