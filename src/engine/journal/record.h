// Records are what syncs match: the request that opens an answered action, and the completion that ends any action.
// They never change once made, and live in memory only while something may still match them or follow from them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/document.h"
#include "base/result.h"
#include "base/ulid.h"
#include "lang/check/symbols.h"
#include "lang/run/handler.h"

namespace sluice::engine {

struct Record;
using RecordRef = std::shared_ptr<const Record>;

// For each `caused by` pattern of the sync set, by its number, the record that it would find: the nearest request that
// one is beneath (`=> requested`), or else the nearest ancestor with its concept, action and outcome. Shared between
// records that have the same.
using Causes = std::shared_ptr<const std::vector<RecordRef>>;

enum class RecordKind : uint8_t { request, completion };

struct Record {
  Ulid invocation;
  RecordKind kind = RecordKind::completion;
  lang::ActionRef action;
  json::object input;
  // Of a completion: a declared variant with its fields, or an engine outcome with `message` and the like.
  std::optional<size_t> variant;
  std::optional<lang::EngineOutcome> engine;
  json::object output;
  uint64_t seq = 0;  // of the step that made it: newer records have greater ones
  Causes causes;     // what its invocation was caused by
};

// Names a record in firings and in the journal: an invocation has at most one request and one completion.
struct RecordId {
  Ulid invocation;
  RecordKind kind = RecordKind::completion;

  auto operator<=>(const RecordId&) const = default;
};

inline RecordId id_of(const Record& record) { return {record.invocation, record.kind}; }

// "01J…" for a completion, "01J…?" for a request.
std::string to_string(const RecordId& id);
Result<RecordId> parse_record_id(std::string_view text);

}  // namespace sluice::engine
