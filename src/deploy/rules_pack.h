// A rules pack is what an administrator may look at, and apply elsewhere: what a deployer has made for itself, or needs
// made. It is a folder of the home, rules/ENV/, with the files that the deployer wrote, rules.json, which names them by
// their digests, and rules.json.sig, a DSSE envelope over rules.json, signed with the operator's key.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "crypto/ed25519.h"

namespace sluice::deploy {

inline constexpr std::string_view kRulesSchema = "sluice.rules-pack.v1";
inline constexpr std::string_view kRulesType = "application/vnd.sluice.rules-pack+json";

struct RulesFile {
  std::string path;  // a plain name
  std::string text;
};

struct RulesEntry {
  std::string path;
  std::string sha256;
};
BOOST_DESCRIBE_STRUCT(RulesEntry, (), (path, sha256))

struct RulesIndex {
  std::string schema = std::string(kRulesSchema);
  std::string env_id;
  std::string deployer_kind;
  std::string made_at;
  std::vector<RulesEntry> files = {};
};
BOOST_DESCRIBE_STRUCT(RulesIndex, (), (schema, env_id, deployer_kind, made_at, files))

class RulesPacks {
 public:
  // `folder` is made with the first pack; the one above must be there.
  RulesPacks(Disk& disk, std::string folder, std::function<Result<crypto::PrivateKey>()> key)
      : disk_(disk), folder_(std::move(folder)), key_(std::move(key)) {}

  // Writes the files, then the index and its signature: where the index is, from the home. The same again is harmless.
  Result<std::string> write(RulesIndex index, const std::vector<RulesFile>& files) const;

 private:
  Disk& disk_;
  std::string folder_;
  std::function<Result<crypto::PrivateKey>()> key_;
};

}  // namespace sluice::deploy
