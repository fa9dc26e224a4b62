// Tries a pack, for its author: `sluice pack test`. It looks at what the pack does, not at what it says: at the files
// that are left in its folder of data, and at what a process answers that was started afresh. So a pack that does
// nothing fails, and so does one that does a thing twice when it is asked twice for the same effect.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "base/terminal.h"
#include "pack/pack_shelf.h"

namespace sluice::host {

struct TrialCheck {
  std::string what;
  std::string fault;  // empty: it holds

  bool operator==(const TrialCheck&) const = default;
};

// Until the first thing without which nothing else can be tried. `scratch` is an empty folder that the pack may use.
std::vector<TrialCheck> try_pack(Disk& disk, Clock& clock, const Variables& variables, const std::string& path,
                                 const std::string& scratch);

}  // namespace sluice::host
