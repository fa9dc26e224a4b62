// A handler that throws ends its query alone.
#include "engine/rules/snapshot_query.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/committed_rows.h"

namespace sluice::engine {

const lang::ActionBinding* find_query(const std::vector<const lang::ConceptBinding*>& concepts,
                                      const std::string& action) {
  size_t slash = action.find('/');
  if (slash == std::string::npos) return nullptr;
  auto owner = std::ranges::find(concepts, action.substr(0, slash), &lang::ConceptBinding::name);
  if (owner == concepts.end()) return nullptr;
  const lang::ActionBinding* handler = (*owner)->action(std::string_view(action).substr(slash + 1));
  return handler != nullptr && handler->query ? handler : nullptr;
}

Error no_such_query(const std::string& action) {
  return {.code = Code::not_found, .message = "there is no query " + action, .next = "sluice kit show"};
}

Result<lang::Completion> run_query(const lang::ActionBinding& query, const std::string& action,
                                   const json::object& input, QueriedState state) {
  CommittedRows rows(std::move(state.snapshot), state.blobs, std::move(state.indexed), state.now_ms);
  try {
    return query.query(input, rows);
  } catch (const UnreadableStore& unreadable) {
    return unreadable.error;
  } catch (const std::exception& error) {
    return Error{.code = Code::failed, .message = action + ": " + error.what()};
  }
}

}  // namespace sluice::engine
