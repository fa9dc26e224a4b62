// What the commands of backups print.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/json_writer.h"

namespace sluice::cli::outputs {

struct RecipientMade {
  std::string recipient, key;
};
BOOST_DESCRIBE_STRUCT(RecipientMade, (), (recipient, key))

struct Restored {
  std::string backup;
  int64_t position = 0;
  std::string at;
  std::string contents;  // the digest of all rows
  int64_t knownTo = 0, history = 0, revoked = 0;
  std::vector<std::string> mayHaveHappened;
  std::vector<std::string> unread;  // damaged beyond the moment
};
BOOST_DESCRIBE_STRUCT(Restored, (),
                      (backup, position, at, contents, knownTo, history, revoked, mayHaveHappened, unread))

struct StoreUpgraded {
  int64_t from = 0, to = 0;  // the same: it was in this format already
  std::string backup;        // of the last upgrade; empty: there was none
  std::string signer;
  int64_t position = 0;
  std::string at;
};
BOOST_DESCRIBE_STRUCT(StoreUpgraded, (), (from, to, backup, signer, position, at))

}  // namespace sluice::cli::outputs
