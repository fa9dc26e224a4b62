// Views of an environment's secrets: which there are, in which versions, and who has read them. No view has a value.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "lang/run/values.h"
#include "lang/run/view.h"

namespace sluice::deploy::views {

struct SecretQuery {
  std::string environment;
  std::string name;
};
BOOST_DESCRIBE_STRUCT(SecretQuery, (), (environment, name))

struct SecretsQuery {
  std::string environment;
};
BOOST_DESCRIBE_STRUCT(SecretsQuery, (), (environment))

struct KeptVersion {
  std::string version;
  lang::DateTime kept_at;
};
BOOST_DESCRIBE_STRUCT(KeptVersion, (), (version, kept_at))

struct SecretReader {
  lang::DateTime read_at;
  std::string reader;
  std::string version;
  std::string purpose;
};
BOOST_DESCRIBE_STRUCT(SecretReader, (), (read_at, reader, version, purpose))

// A revision that was given the secret and has not been archived.
struct SecretUser {
  std::string revision_id;
  std::string revision;  // "hello@3"
  std::string version;
  bool pinned = false;
  std::string problem;  // why it has not been given the newest version; empty if nothing is known against it
};
BOOST_DESCRIBE_STRUCT(SecretUser, (), (revision_id, revision, version, pinned, problem))

struct ListedSecret {
  std::string name;
  std::string provider;
  OrNull<std::string> version;      // the newest that is known
  std::vector<std::string> wanted;  // by these revisions
};
BOOST_DESCRIBE_STRUCT(ListedSecret, (), (name, provider, version, wanted))

struct SecretView {
  std::string environment;
  std::string name;
  std::string provider;
  OrNull<std::string> version;
  std::vector<KeptVersion> versions;  // those that are known, newest first
  std::vector<SecretUser> used_by;
  std::vector<SecretReader> readers;  // newest first
};
BOOST_DESCRIBE_STRUCT(SecretView, (), (environment, name, provider, version, versions, used_by, readers))

std::vector<lang::View> secret_views();

// What ready revisions use, for who watches the providers. Revisions that pin their secrets are left out.
struct SecretInUse {
  std::string environment;
  std::string provider;  // that serves the environment now
  std::string name;
  std::string version;
};

std::vector<SecretInUse> secrets_in_use(const lang::Snapshot& snapshot);

// What an earlier version of Sluice has bound, which did not know yet which provider a secrets pack stands for.
struct OldBinding {
  std::string environment;
  std::string kind;
};
std::vector<OldBinding> old_secrets_bindings(const lang::Snapshot& snapshot);

}  // namespace sluice::deploy::views
