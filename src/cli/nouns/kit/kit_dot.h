// A kit as a picture: concepts → syncs → concepts, with the guards before them, as Graphviz's dot reads it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "lang/check/check.h"

namespace sluice::cli {

// What the picture is of, with all that it touches: a concept, a sync or a guard by its number. Without one:
// everything.
struct Focus {
  std::optional<size_t> concept_, sync, guard;

  bool on_all() const { return !concept_ && !sync && !guard; }
};

std::string kit_dot(const lang::CheckedKit& kit, const Focus& focus = {});

}  // namespace sluice::cli
