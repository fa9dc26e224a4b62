// What promotion needs to know of several concepts at once: what is defined, what a release holds, which pipeline a
// component takes, and what a release comes to in an environment.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "base/time_zone.h"
#include "deploy/views/states.h"
#include "render/component/component.h"
#include "render/promote/content.h"
#include "render/promote/kinds.h"
#include "render/promote/target.h"

namespace sluice::deploy::views {

// An object as it is kept: JSON without its status.
std::string kept_text(const Document& document);

// What applying objects would change: + new, ~ other than now, = the same.
struct AppliedSign {
  std::string sign, kind, name;
};
std::vector<AppliedSign> signs_of(const States& states, const promote::Objects& objects);

// What is kept now in the place of each object that would change, pins aside; an empty document is not there. Settings
// have the name "component/environment". A Release never changes: it stands here only if it is new.
struct KeptObject {
  std::string kind, name, document;
};
std::vector<KeptObject> kept_now(const States& states, const promote::Objects& objects);

// The definitions that are applied now.
component::Kinds defined_kinds(const States& states);

// `not_found`: there is no such release; `unavailable`: it is not resolved, and why.
Result<promote::Content> content_of_release(const States& states, const std::string& release);

// The pipeline that a component names by its annotation sluice.dev/pipeline, else the only one.
Result<std::string> pipeline_of(const States& states, const promote::Content& content);

// The secret that has a login at the registry of an image, in the first environment along the component's pipeline that
// is logged in there.
struct KeptLogin {
  std::string environment, provider, secret;
};
std::optional<KeptLogin> login_for(const States& states, const promote::Content& content, const std::string& image);

struct RenderedRelease {
  component::RenderedComponent made;
  promote::Target target;
  std::string identity;
  std::string settings;            // the digest of the EnvSettings; empty if there are none
  std::vector<std::string> needs;  // components that it connects to
};
// With the settings of the environment, and the endpoints of what is pinned there. Errors are those of the content, or
// all faults of the rendering, one a line.
Result<RenderedRelease> render_release(const States& states, const std::string& component,
                                       const std::string& environment, const std::string& release,
                                       const TimeZones& zones);

// Why a release cannot run in an environment: it does not render, or its image has no digest outside local.
std::optional<std::string> fault_of_rendering(const States& states, const std::string& component,
                                              const std::string& environment, const std::string& release,
                                              const TimeZones& zones);

// What a component waits for in an environment: the first provider that is not ready, and does not wait for it in turn.
struct Awaited {
  std::string provider;
  std::string why;
};
std::optional<Awaited> waits_for(const States& states, const std::string& component, const std::string& environment,
                                 const std::string& release);

// The components that it and they wait for: all of them start together.
std::vector<std::string> starts_together(const States& states, const std::string& component,
                                         const std::string& environment, const std::string& release);

// What a lock says of a revision beside the objects that were applied.
struct LockedSecret {
  std::string variable, name, version;
  auto operator<=>(const LockedSecret&) const = default;
};
BOOST_DESCRIBE_STRUCT(LockedSecret, (), (variable, name, version))

struct LockedSchema {
  std::string database;
  int64_t version = 0;  // the migration that the revision needs
  std::string phase;
};
BOOST_DESCRIBE_STRUCT(LockedSchema, (), (database, version, phase))

struct LockFacts {
  std::string artifact;       // the digest of the archive
  std::string config_digest;  // of the revision's config
  std::vector<LockedSecret> secrets;
  std::optional<LockedSchema> schema;
};
BOOST_DESCRIBE_STRUCT(LockFacts, (), (artifact, config_digest, secrets, schema))

// Of a revision that is not there, as in a cluster, there are none.
LockFacts facts_of(const States& states, const std::string& revision);
std::string write_facts(const LockFacts& facts);
LockFacts read_facts(const std::string& text);  // no text: none

// Why a database no longer fits what was run on it, with the way on.
std::optional<std::string> contracted_since(const States& states, const LockFacts& facts);

// What rules of time say of a release that is to come from one environment to another.
struct Timing {
  int64_t soak_left_s = 0;
  std::string freeze;     // empty: none holds
  int64_t approvals = 0;  // people who must agree
};
Result<Timing> timing_of(const States& states, const std::string& pipeline, const std::string& component,
                         const std::string& release, const std::string& to, int64_t now_ms, const TimeZones& zones);

// The releases that nothing needs: what Release/gc may forget.
std::vector<std::string> needless_releases(const States& states, int64_t now_ms);
// Those among releases that a branch has, which is watched: they are removed there.
std::set<std::string> releases_in_git(const States& states);

}  // namespace sluice::deploy::views
