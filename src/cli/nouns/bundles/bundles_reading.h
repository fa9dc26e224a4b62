// What the commands that read archives share: how far they are, whether somebody wants them to stop, and what of a
// folder counts.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/progress.h"
#include "bundle/archive/archive_reader.h"
#include "bundle/manifest/manifest.h"
#include "bundle/manifest/selection.h"
#include "cli/context.h"

namespace sluice::cli {

// While it lives, Ctrl-C, kill and a closed terminal do not end this process: they make stopped() true.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool stopped() const;

 private:
  int fd_ = -1;
};

// Shows how far an archive was read, once that takes longer than a second, and stops when it is asked to.
class Reading {
 public:
  explicit Reading(Context& context);

  // What the archive is opened with; only while this lives.
  bundle::OpenOptions options();
  void done() { progress_.reset(); }

 private:
  Interruption interruption_;
  RealClock clock_;
  std::optional<Progress> progress_;
  uint64_t bytes_ = 0;
};

Result<bool> is_folder(Context& context, const std::string& path);

// Of a folder, if it has one.
Result<std::optional<bundle::Manifest>> manifest_in(Context& context, const std::string& folder);

// What of the folder would be packed.
Result<bundle::Selection> selection_of(Context& context, const std::string& folder,
                                       const std::optional<bundle::Manifest>& manifest);

}  // namespace sluice::cli
