// The page that a bundle has for the time when it is paused: a small file of it, which the router answers with, so it
// is text that can be said in JSON. Packing and staging ask the same questions.
//
//   paused: {page: paused.html, retry_after: 2m}
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/disk.h"
#include "base/result.h"
#include "bundle/manifest/manifest.h"

namespace sluice::bundle {

// It is kept with each revision, and sent with each change of what a router obeys.
constexpr size_t kMaxPageBytes = 64 << 10;

// "text/html; charset=utf-8" of "paused.html"; empty if the ending is none of a page.
std::string_view page_type(std::string_view path);

// The page of a folder that is packed with these paths; nothing if the manifest names none. `invalid` if it is not
// among them, no file, too large, empty or no text.
Result<std::optional<std::string>> page_of_folder(Disk& disk, const Manifest& manifest, const std::string& folder,
                                                  const std::vector<std::string>& paths);

// The same of an archive.
Result<std::optional<std::string>> page_of_archive(Disk& disk, const Manifest& manifest, const std::string& archive);

}  // namespace sluice::bundle
