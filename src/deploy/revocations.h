// Which actions take trust away: what a restore of an older moment must not give back.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace sluice::deploy {

inline bool takes_trust_away(std::string_view action) {
  constexpr std::array<std::string_view, 6> kActions = {"Access/revoke", "Mesh/revoke",  "Session/end",
                                                        "Session/leave", "Trust/remove", "Trust/revoke"};
  return std::ranges::find(kActions, action) != kActions.end();
}

}  // namespace sluice::deploy
