// What the handlers of Revision share: how a row is kept, and what the engine says instead of an answer.
#pragma once

#include <string>
#include <string_view>

#include "revision.gen.h"

namespace sluice::deploy::revision {

inline constexpr std::string_view kEngineCheck = "engine";
inline constexpr std::string_view kSignatureCheck = "signature-status";

inline void keep(State& state, const RevisionId& id, RevisionRecord& record) {
  record.generation++;
  state.put(id, record);
}

template <class Outcome>
std::string reason_of(const Outcome& outcome) {
  const auto* end = get_if<lang::EngineEnd>(&outcome);
  return end != nullptr ? end->message : "";
}

}  // namespace sluice::deploy::revision
