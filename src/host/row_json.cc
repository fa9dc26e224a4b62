// Field by field, in the order of the row's declaration.
#include "host/row_json.h"

#include <boost/json.hpp>

#include "base/utf8.h"
#include "crypto/base64.h"

namespace sluice::host {
namespace {

Error not_a_row() { return {.code = Code::invalid, .message = "the answer holds a row that is none"}; }

// Reads an object's fields; one that is missing or of another type makes it all wrong.
class Fields {
 public:
  explicit Fields(const json::value& value) : object_(value.if_object()) {}

  Fields& bytes(std::string_view name, std::string& into) {
    const json::value* value = field(name);
    if (value == nullptr || !from_json(*value, into)) wrong_ = true;
    return *this;
  }
  Fields& id(std::string_view name, Ulid& into) {
    const json::value* value = field(name);
    auto id = value != nullptr && value->is_string() ? Ulid::parse(std::string_view(value->get_string()))
                                                     : Result<Ulid>(not_a_row());
    if (id) into = *id;
    wrong_ = wrong_ || !id;
    return *this;
  }
  template <typename Number>
  Fields& number(std::string_view name, Number& into) {
    const json::value* value = field(name);
    bool known = value != nullptr && (value->is_int64() || value->is_uint64());
    if (known) into = static_cast<Number>(value->is_int64() ? value->get_int64() : value->get_uint64());
    wrong_ = wrong_ || !known;
    return *this;
  }
  Result<void> done() const { return wrong_ || object_ == nullptr ? Result<void>(not_a_row()) : Result<void>(); }

 private:
  const json::value* field(std::string_view name) const {
    return object_ == nullptr ? nullptr : object_->if_contains(name);
  }

  const json::object* object_;
  bool wrong_ = false;
};

}  // namespace

json::value to_json(const std::string& bytes) {
  if (valid_utf8(bytes)) return json::value(bytes);
  return json::object{{"base64", crypto::to_base64(bytes)}};
}

json::value to_json(const store::JournalRow& row) {
  json::object object{{"seq", row.seq}, {"flow", to_string(row.flow)}, {"prev", row.prev}};
  object["record"] = to_json(row.record);
  object["packedHash"] = to_json(row.packed_hash);
  return object;
}

Result<void> from_json(const json::value& value, std::string& bytes) {
  if (const json::string* text = value.if_string()) {
    bytes.assign(text->data(), text->size());
    return {};
  }
  const json::object* object = value.if_object();
  const json::value* encoded = object == nullptr ? nullptr : object->if_contains("base64");
  if (encoded == nullptr || !encoded->is_string()) return not_a_row();
  auto decoded = crypto::from_base64(std::string_view(encoded->get_string()));
  if (!decoded) return not_a_row();
  bytes = *std::move(decoded);
  return {};
}

Result<void> from_json(const json::value& value, store::JournalRow& row) {
  return Fields(value)
      .number("seq", row.seq)
      .id("flow", row.flow)
      .number("prev", row.prev)
      .bytes("record", row.record)
      .bytes("packedHash", row.packed_hash)
      .done();
}

}  // namespace sluice::host
