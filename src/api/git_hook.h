// Whether what a forge sends about a push is from whoever knows the secret: GitHub and Gitea sign the body with it,
// GitLab shows it. What the body says counts for nothing: Sluice looks at the branch itself.
#pragma once

#include <string_view>

#include "base/result.h"
#include "http/message.h"

namespace sluice::api {

inline constexpr const char* kGitHookSecret = "GIT_WEBHOOK_SECRET";

// `denied` if it is not, or is not signed at all.
Result<void> check_git_hook(const http::Request& request, std::string_view secret);

}  // namespace sluice::api
