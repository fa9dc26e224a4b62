// The keys with which routers sign the cookies that keep a visitor on a revision. They are made when they are first
// asked for, kept in a file of mode 0600, and a new one takes over after thirty days; those before it still verify for
// a while, so that nobody loses their place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/random.h"
#include "base/result.h"
#include "router/table/table_document.h"

namespace sluice::deploy {

class CookieKeys {
 public:
  // All must outlive it. `path` is the file's; its folder must be there.
  CookieKeys(Disk& disk, const Clock& clock, Random& random, std::string path)
      : disk_(disk), clock_(clock), random_(random), path_(std::move(path)) {}

  // As a table has them, the one that signs first. `invalid` for a file that is none, or that others can read.
  Result<std::vector<::sluice::router::CookieKeyDocument>> current();

 private:
  Disk& disk_;
  const Clock& clock_;
  Random& random_;
  std::string path_;
};

}  // namespace sluice::deploy
