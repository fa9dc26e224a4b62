// What `sluice init` proposes for a folder: guessed from its name and from the files that programs usually begin with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/manifest/manifest.h"

namespace sluice::bundle {

struct Guess {
  Name name;
  std::vector<std::string> run;  // empty if there is nothing to guess from
  Listen listen = Listen::port;  // unix if the program speaks of SLUICE_SOCKET
};

// `called` is the folder's own name, where `folder` is a path such as ".".
Result<Guess> guess_manifest(Disk& disk, const std::string& folder, std::string_view called);

// A command line as a shell would cut it into words: at blanks, with '…', "…" and \. Nothing is expanded. `invalid` for
// a quote that is not closed.
Result<std::vector<std::string>> words_of(std::string_view line);

}  // namespace sluice::bundle
