// Orders: signed, and refused with the clause that does not hold.
#include "router/table/order.h"

#include <gtest/gtest.h>

namespace sluice::router {
namespace order_test {

TEST(Order, IsReadBackIfKeyAndBytesAreThose) {
  crypto::PrivateKey key = crypto::PrivateKey::generate(), other = crypto::PrivateKey::generate();
  crypto::PublicKey trusted[] = {key.public_key()};
  Order order{.op = OrderOp::patch, .environment = "local", .generation = 13, .from = 12};
  std::string envelope = *sign_order(order, "the patch", key);
  auto read = read_order(envelope, "the patch", trusted);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->generation, 13);
  EXPECT_EQ(read->from, 12);
  EXPECT_EQ(read->router, "*");
  EXPECT_EQ(read_order(envelope, "another patch", trusted).error().message,
            "what came with the order is not what was signed");
  EXPECT_EQ(read_order(*sign_order(order, "the patch", other), "the patch", trusted).error().message,
            "the order is not signed by a key that this router trusts");
  EXPECT_FALSE(read_order("{}", "the patch", trusted));
}

TEST(Order, NeedsAGenerationToPatchFrom) {
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  crypto::PublicKey trusted[] = {key.public_key()};
  std::string envelope = *sign_order({.op = OrderOp::patch, .environment = "local", .generation = 2}, "", key);
  EXPECT_EQ(read_order(envelope, "", trusted).error().message, "a patch says from which generation it goes");
}

TEST(Order, GoesInALine) {
  EXPECT_EQ(order_line(OrderOp::load, "{\"a\":1}", 7), R"({"op":"load","order":"{\"a\":1}","bytes":7})");
}

}  // namespace order_test
}  // namespace sluice::router
