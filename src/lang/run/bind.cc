// What is the same for every action: how a completion becomes a variant, and one becomes the other.
#include "lang/run/bind.h"

#include <algorithm>

namespace sluice::lang::bind {

namespace {

// The fields of `given`, and those of `defaults` that it lacks.
json::object filled(const json::object& given, const json::object& defaults) {
  json::object all = given;
  for (const auto& field : defaults) {
    if (!all.contains(field.key())) all.emplace(field.key(), field.value());
  }
  return all;
}

}  // namespace

Error not_readable(std::string_view what, std::string_view action, Error error) {
  error.message = std::string(what) + " of " + std::string(action) + ": " + error.message;
  return error;
}

Completion completion(std::span<const VariantKind> kinds, size_t index, const void* variant) {
  return {.variant = std::string(kinds[index].name), .fields = kinds[index].written(variant)};
}

Result<ReadVariant> read_variant(std::string_view action, std::span<const VariantKind> kinds,
                                 const Completion& completion) {
  auto found = std::ranges::find(kinds, completion.variant, &VariantKind::name);
  if (found == kinds.end()) {
    return Error{.code = Code::invalid,
                 .message = std::string(action) + " has no variant \"" + completion.variant + "\""};
  }
  one_of::Box variant(*found->kind, found->make());
  if (auto error = found->take(filled(completion.fields, found->written(variant.value())), variant.value())) {
    return not_readable(completion.variant, action, *std::move(error));
  }
  return ReadVariant{static_cast<size_t>(found - kinds.begin()), std::move(variant)};
}

}  // namespace sluice::lang::bind
