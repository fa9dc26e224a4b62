// The folder in which an operator keeps a mesh:
//
//   *.yaml         the facade, which only people write
//   certs/ keys/   the CA and the signers; keys/ stays out of version control
//   ledger.json    names, labels, ports and versions that were given out
//   drafts/        artifacts that wait for signatures
//   compiled/      the signed tree, which is published
//   trust.json     whose signatures count
//
//   auto work = compile_folder(disk, "acme", clock.wall_ms());   // writes nothing
//   if (!work->faults.empty()) …                                 // all of them
//   … show work->plan …
//   auto done = sign_folder(disk, "acme", "acme", *work);
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/json_fields.h"
#include "base/random.h"
#include "base/result.h"
#include "mesh/compile.h"
#include "mesh/enrolment.h"
#include "mesh/facade.h"
#include "mesh/ledger.h"
#include "mesh/tree.h"

namespace sluice::mesh {

// A small mesh of three hosts to begin with: the names of the files. `conflict` if there are sources already.
Result<std::vector<std::string>> begin_folder(Disk& disk, const std::string& folder, const std::string& trust_domain);

// Makes the CA and the keys of signers that are not there yet: the names of the files.
struct MadeKeys {
  std::vector<std::string> files;
  std::vector<Error> faults;  // of the facade; then nothing is made
};
Result<MadeKeys> make_keys(Disk& disk, const std::string& folder, int64_t now_ms);

struct FolderWork {
  std::vector<Error> faults;  // if there is one, the rest means nothing
  Model model;
  Ledger ledger;  // as it will be
  Compiled compiled;
  TreeFiles tree;           // compiled/ as it is
  TreeFiles drafts_before;  // drafts/ as it is
  TreeDraft draft;
  TreePlan plan;  // from what is signed to what the sources say
};
Result<FolderWork> compile_folder(Disk& disk, const std::string& folder, int64_t now_ms);

// Writes the ledger and the drafts, for others to look at and to sign: the paths of all drafts.
Result<std::vector<std::string>> keep_drafts(Disk& disk, const std::string& folder, const FolderWork& work);

struct SignedFolder {
  std::vector<std::string> written;          // files of compiled/ that changed or are gone
  std::vector<std::string> waiting;          // nodes that need further signers
  std::vector<std::string> signers;          // whose keys are there
  std::map<std::string, uint64_t> versions;  // of nodes that changed
};
// Signs with the keys below KEYS/keys, and writes ledger, tree, drafts and trust.json. Nothing is written before all is
// signed.
Result<SignedFolder> sign_folder(Disk& disk, const std::string& folder, const std::string& keys,
                                 const FolderWork& work);

// "user/alice", "service/api", "service/alpha/ssh" or a whole SPIFFE ID.
Result<SpiffeId> principal_named(const Model& model, const std::string& text);

// What one node needs to begin: new certificates and keys of all that it serves, whom to trust, and its signed
// artifacts.
Result<Enrolment> enrolment_of(Disk& disk, const std::string& folder, const FolderWork& work, const std::string& node,
                               int64_t now_ms);

// The signed tree as a config server takes it: each node's artifacts and its chain of signers, oldest first.
struct Publication {
  std::vector<json::value> artifacts;
  std::vector<json::value> chain;
};
BOOST_DESCRIBE_STRUCT(Publication, (), (artifacts, chain))
Result<Publication> publication_of(const TreeFiles& tree);

// A publication in parts of at most so many bytes each, those of `first` before the others. All of a node is in one
// part, however large it is.
struct PublicationPart {
  std::vector<std::string> nodes;
  std::string document;  // as JSON
};
std::vector<PublicationPart> parts_of(Publication publication, const std::vector<std::string>& first,
                                      size_t most_bytes);

}  // namespace sluice::mesh
