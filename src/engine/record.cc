// How a record is named in text.
#include "engine/record.h"

namespace sluice::engine {

std::string to_string(const RecordId& id) {
  return sluice::to_string(id.invocation) + (id.kind == RecordKind::request ? "?" : "");
}

}  // namespace sluice::engine
