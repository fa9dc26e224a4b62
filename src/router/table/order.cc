// DSSE around a small statement.
#include "router/table/order.h"

#include <boost/json.hpp>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/thread_turns.h"
#include "crypto/dsse.h"
#include "crypto/sha256.h"

namespace sluice::router {
namespace {

constexpr size_t kHashedInATurn = 128 << 10;

// In pieces: a table is large, and those that serve go first.
crypto::Sha256 digest_of(std::string_view bytes) {
  crypto::Sha256Stream stream;
  for (; bytes.size() > kHashedInATurn; bytes.remove_prefix(kHashedInATurn)) {
    stream.update(bytes.substr(0, kHashedInATurn));
    give_way();
  }
  stream.update(bytes);
  return stream.finish();
}

}  // namespace

Result<std::string> sign_order(Order order, std::string_view bytes, const crypto::PrivateKey& key) {
  order.digest = crypto::to_string(crypto::sha256(bytes));
  auto envelope = crypto::sign_envelope(kOrderType, write(to_json(order)), std::span(&key, 1));
  if (!envelope) return envelope.error();
  return crypto::write_envelope(*envelope);
}

Result<Order> read_order(std::string_view envelope, std::string_view bytes,
                         std::span<const crypto::PublicKey> trusted) {
  auto parsed = crypto::parse_envelope(envelope, "order");
  if (!parsed) return parsed.error();
  if (parsed->payload_type != kOrderType) {
    return Error{.code = Code::verification_failed, .message = "the envelope is not that of a router's order"};
  }
  if (crypto::verified_key_ids(*parsed, trusted).empty()) {
    return Error{.code = Code::verification_failed,
                 .message = "the order is not signed by a key that this router trusts"};
  }
  auto document = parse_json(parsed->payload, "order");
  if (!document) return document.error();
  auto order = read<Order>(*document);
  if (!order) return order.error();
  if (order->schema != kOrderSchema) {
    return Error{.code = Code::invalid,
                 .message = "the order is of another schema, expected " + std::string(kOrderSchema)};
  }
  if (order->digest != crypto::to_string(digest_of(bytes))) {
    return Error{.code = Code::verification_failed, .message = "what came with the order is not what was signed"};
  }
  if (order->op == OrderOp::patch && !order->from) {
    return Error{.code = Code::invalid, .message = "a patch says from which generation it goes"};
  }
  return order;
}

std::string order_line(OrderOp op, std::string_view envelope, size_t bytes) {
  return write(json::object{
      {"op", op == OrderOp::load ? "load" : "patch"}, {"order", envelope}, {"bytes", static_cast<int64_t>(bytes)}});
}

}  // namespace sluice::router
