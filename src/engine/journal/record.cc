// How a record is named in text.
#include "engine/journal/record.h"

namespace sluice::engine {

std::string to_string(const RecordId& id) {
  std::string text = sluice::to_string(id.invocation);
  if (id.kind == RecordKind::request) text += '?';
  return text;
}

Result<RecordId> parse_record_id(std::string_view text) {
  RecordId id;
  if (text.ends_with('?')) {
    id.kind = RecordKind::request;
    text.remove_suffix(1);
  }
  auto invocation = Ulid::parse(text);
  if (!invocation) return invocation.error();
  id.invocation = *invocation;
  return id;
}

}  // namespace sluice::engine
