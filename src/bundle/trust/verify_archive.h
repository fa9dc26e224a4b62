// Whether an archive that lies on a disk, with its sidecar beside it, may be used in an environment.
#pragma once

#include <cstdint>
#include <string>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/archive/archive_reader.h"
#include "bundle/trust/trust_root.h"
#include "bundle/trust/verdict.h"

namespace sluice::bundle {

// The name of the bundle is that in its bundle.yaml. What cannot be read as an archive any more, or is none, is judged
// by its signatures and its digest, so that damage is `payload changed` and not a failure of its own. An Error: the
// file or the sidecar cannot be read from the disk.
Result<Verdict> verify_archive(Disk& disk, const std::string& path, const TrustRoot& root,
                               const std::string& environment, int64_t now_ms, const OpenOptions& options = {});

}  // namespace sluice::bundle
