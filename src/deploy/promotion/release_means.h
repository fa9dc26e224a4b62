// ReleaseMeans asks Git servers and registries for what a release is made of. Copies of repositories are kept in the
// home.
//
// Git is asked over HTTPS. GIT_SSL_CAINFO names a file of certificates to believe besides, and GIT_TOKEN_HOST with
// GIT_TOKEN is a credential for one host.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/disk.h"
#include "base/terminal.h"
#include "deploy/promotion/release_sources.h"

namespace sluice::deploy {

class ReleaseMeans {
 public:
  ReleaseMeans(Disk& disk, const Clock& clock, const Variables& variables, const std::string& home);
  ~ReleaseMeans();
  ReleaseMeans(const ReleaseMeans&) = delete;
  ReleaseMeans& operator=(const ReleaseMeans&) = delete;

  ReleaseSources& sources() { return sources_; }

 private:
  struct Git;

  std::unique_ptr<Git> git_;
  ReleaseSources sources_;
};

}  // namespace sluice::deploy
