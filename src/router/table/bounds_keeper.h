// The bounds that a router obeys: those in the operator's file, looked at before every order, and never an older
// version than one that was obeyed before. The last sound ones are kept beside the router's state, so that a file that
// was damaged costs nothing but new orders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/result.h"
#include "crypto/ed25519.h"
#include "router/table/bounds.h"

namespace sluice::router {

class BoundsKeeper {
 public:
  // `folder` is the router's own.
  BoundsKeeper(Disk& disk, const Clock& clock, std::string file, std::vector<crypto::PublicKey> trusted,
               std::string folder);

  // Finds bounds: those in the file or, if it is unsound, the last that were obeyed.
  Result<void> begin();

  // The bounds for an order that is new. An error says why nothing new is obeyed: the file is unsound or older than
  // what was obeyed, or the bounds have expired.
  Result<const SignedBounds*> for_order();

  // What holds, expired or not; for what was obeyed before. begin() must have succeeded.
  const SignedBounds& current() const { return *current_; }
  const std::string& trouble() const { return trouble_; }  // why nothing new is obeyed; empty if it is

 private:
  Result<void> look();
  Result<void> take(const std::string& text);
  Result<void> read_mark();

  Disk& disk_;
  const Clock& clock_;
  std::string file_;
  std::vector<crypto::PublicKey> trusted_;
  std::string kept_;
  std::optional<SignedBounds> current_;
  int64_t version_ = 0;  // the newest that was obeyed
  std::string digest_;
  std::optional<FileStat> seen_;
  std::string unsound_;  // what is wrong with the file as it was seen
  std::string trouble_;
};

}  // namespace sluice::router
