// The lifecycle of a revision: seven states and exactly fifteen steps between them.
//
//   inactive → staged | failed | archived       ready    → draining | failed | archived
//   staged   → warming | failed | archived      draining → inactive
//   warming  → ready | failed | archived        failed   → staged | archived
//
// Nothing leaves archived, and nothing leads to itself.
#pragma once

#include "revision.gen.h"

namespace sluice::deploy::revision {

constexpr bool may_become(RevisionLifecycle from, RevisionLifecycle to) {
  using enum RevisionLifecycle;
  switch (from) {
    case inactive:
      return to == staged || to == failed || to == archived;
    case staged:
      return to == warming || to == failed || to == archived;
    case warming:
      return to == ready || to == failed || to == archived;
    case ready:
      return to == draining || to == failed || to == archived;
    case draining:
      return to == inactive;
    case failed:
      return to == staged || to == archived;
    case archived:
      return false;
  }
  return false;
}

std::string_view name_of(RevisionLifecycle lifecycle);

}  // namespace sluice::deploy::revision
