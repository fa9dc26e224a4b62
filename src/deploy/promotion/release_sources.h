// Where releases come from: files of a commit in Git, and what a tag means in a registry. What is not set cannot be
// asked.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "oci/auth.h"
#include "render/promote/content.h"

namespace sluice::deploy {

// The YAML files of a commit below a folder: path and text.
struct GitFolder {
  std::string commit;
  std::vector<std::pair<std::string, std::string>> files;
};

struct ReleaseSources {
  promote::ReadGit read_git;
  std::function<Result<GitFolder>(const std::string& url, const std::string& ref, const std::string& path)> read_folder;
  // The image with its digest. Without a login it is asked with that of the process's login file.
  std::function<Result<std::string>(const std::string& image, const std::optional<oci::Login>& login)> pin_image;
};

}  // namespace sluice::deploy
