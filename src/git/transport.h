// Transport carries libgit2's requests to a server, through http/outgoing.h.
//
// It notes the first thing that goes wrong, as libgit2 keeps only a text of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "git/library.h"
#include "http/outgoing.h"

namespace sluice::git {

struct Transport {
  const Library& library;
  http::Outgoing& outgoing;
  std::string url;
  std::string authorization;  // of this URL's host; empty: none
  uint64_t most_bytes = 0;
  uint64_t most_objects = 0;
  int64_t timeout_ms = 0;
  std::function<bool()> over;  // the time is up, or nobody wants it any more
  uint64_t bytes = 0;          // that came so far
  std::optional<Error> trouble;

  // As a failure of libgit2 in this thread; -1.
  int fail(Error error);
  // For git_remote_callbacks: its payload is the Transport.
  static int make(git_transport** made, git_remote* owner, void* payload);
};

}  // namespace sluice::git
