// Orders: what a control plane signs when it tells a router to load a table or to patch it. The table itself goes
// beside the order, which carries its digest, so that even a large one is neither encoded nor copied.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "crypto/ed25519.h"

namespace sluice::router {

inline constexpr std::string_view kOrderSchema = "sluice.router-order.v1";
inline constexpr std::string_view kOrderType = "application/vnd.sluice.router-order+json";

enum class OrderOp { load, patch };
BOOST_DESCRIBE_ENUM(OrderOp, load, patch)

struct Order {
  std::string schema = std::string(kOrderSchema);
  OrderOp op = OrderOp::load;
  std::string environment;
  std::string router = "*";
  int64_t generation = 0;
  std::optional<int64_t> from;   // of a patch
  std::optional<int64_t> token;  // of the lease under which it was decided; none: the control plane has no replicas
  std::string digest;            // of the bytes that go with it
};
BOOST_DESCRIBE_STRUCT(Order, (), (schema, op, environment, router, generation, from, token, digest))

// The order's envelope as JSON text; its digest is made of the bytes.
Result<std::string> sign_order(Order order, std::string_view bytes, const crypto::PrivateKey& key);

// Verifies the signature and the digest. `verification_failed` says which of them does not hold.
Result<Order> read_order(std::string_view envelope, std::string_view bytes, std::span<const crypto::PublicKey> trusted);

// The line of the control socket that carries an order: {"op":…,"order":…,"bytes":…}, without its newline.
std::string order_line(OrderOp op, std::string_view envelope, size_t bytes);

}  // namespace sluice::router
