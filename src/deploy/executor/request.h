// What a caller asks the executor for, as it stands in the journal; and what comes with it that never does.
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "deploy/executor/secret_references.h"
#include "kube/inventory.h"
#include "render/manifests.h"

namespace sluice::deploy::executor {

struct Request {
  std::string id;
  std::string action;
  std::string environment;
  std::string host;
  std::string instance;
  std::string cluster;  // empty: whichever it is
  std::string name_space;
  std::string caller;
  std::string repository;
  std::string ref;
  std::string path;
  std::string values_hash;  // that the values must have; empty: any
  std::string runtime_values_hash;
  bool force = false;
  bool prune_override = false;

  kube::InstanceKey key() const { return {host, instance, name_space}; }
  rendering::Labels labels() const { return {host, instance, id}; }
};
BOOST_DESCRIBE_STRUCT(Request, (),
                      (id, action, environment, host, instance, cluster, name_space, caller, repository, ref, path,
                       values_hash, runtime_values_hash, force, prune_override))

// Values, and templates where they came along. What is kept of it is sealed.
struct Sent {
  boost::json::value values = boost::json::object();
  boost::json::value runtime_values;  // null: there are none
  std::vector<rendering::TemplateFile> files;
  KnownSecrets secrets;  // to which the values refer; they are kept apart
};
// Those that the values refer to. `invalid` as in secret_references.h.
Result<std::vector<SecretWanted>> secrets_wanted(const Sent& sent, const std::string& environment);
// From the texts that a call has; an empty one was left out. `invalid` says which is none.
Result<Sent> read_sent(const std::string& values, const std::string& runtime_values, const std::string& files);
std::string write_sent(const Sent& sent);
Result<Sent> read_sent(std::string_view kept);

// "sha256:…" of canonical JSON.
Result<std::string> hash_of(const boost::json::value& values);

// An object of an instance, and what becomes of it.
struct Piece {
  int64_t number = 0;  // in the list of its operation
  std::string api_version;
  std::string kind;
  std::string name_space;
  std::string name;
  int64_t wave = 0;
  std::string action;  // added, modified, unchanged, pruned, deleted or orphaned
  std::string state;   // pending, applied, ready, gone or failed
  std::string message;
  std::string uid;

  kube::ObjectRef ref() const { return {api_version, kind, name_space, name}; }
};
BOOST_DESCRIBE_STRUCT(Piece, (), (number, api_version, kind, name_space, name, wave, action, state, message, uid))
Piece piece_of(const kube::ObjectRef& ref);

}  // namespace sluice::deploy::executor
