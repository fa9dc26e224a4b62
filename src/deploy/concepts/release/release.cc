// Release keeps each content once, by its digest. What a release is, apart from how it is written, is
// render/promote/content.h; here it is named, kept and forgotten.
#include <algorithm>
#include <set>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "crypto/sha256.h"
#include "deploy/concepts/release/release_work.h"
#include "deploy/promotion/promotion.h"
#include "deploy/promotion/release_sources.h"
#include "render/promote/gzip.h"

namespace sluice::deploy::release {
namespace {

std::string no_release(const ReleaseId& id) { return "there is no release " + id.text(); }

// The environment's login at the image's registry. One that was sealed before this process was started is gone.
Result<std::optional<oci::Login>> login_in(const ComposeWork& work, Effect& effect) {
  if (!work.credentials) return std::optional<oci::Login>();
  try {
    auto login = oci::parse_login(effect.open(*work.credentials));
    if (!login) return login.error();
    return std::optional(*std::move(login));
  } catch (const std::exception&) {
    return Error{.code = Code::unavailable, .message = "Sluice ended before the login was used; try again"};
  }
}

std::string digest_of_text(const std::string& text) { return crypto::to_string(crypto::sha256(text)); }

template <class To>
std::vector<To> parts_as(const promote::Content& content) {
  std::vector<To> all;
  for (const promote::Part& each : content.parts) {
    all.push_back({boost::describe::enum_to_string(each.role, ""), each.name, each.digest, each.text});
  }
  return all;
}

template <class From>
void keep_parts(State& state, const ReleaseId& id, const std::vector<From>& parts) {
  std::vector<ReleasePart> kept;
  for (const auto& each : parts) {
    kept.push_back({.role = each.role, .name = each.name, .digest = each.digest});
    const ReleaseTId digest(each.digest);
    if (!state.has(digest)) state.put(digest, {.text = promote::packed(each.text)});
  }
  state.parts(id).assign(kept);
}

// What its parts hold is not kept a second time.
template <class From>
std::string kept_document(const std::string& document, const std::vector<From>& parts) {
  auto parsed = parse_json_value(document);
  if (!parsed) return promote::packed(document);
  const auto digest_of = [&](promote::Role role, const std::string& name) -> std::string {
    for (const auto& each : parts) {
      if (each.role == boost::describe::enum_to_string(role, "") && each.name == name) return each.digest;
    }
    return "";
  };
  return promote::packed(write(promote::without_content(*std::move(parsed), digest_of)));
}

std::optional<ReleaseFound> newest_of(const State& state, const std::string& component) {
  std::optional<ReleaseFound> newest;
  for (const auto& each : state.find_by_component(component)) {
    if (!newest || std::pair(each.record.createdAt.ms, each.id.text()) >
                       std::pair(newest->record.createdAt.ms, newest->id.text())) {
      newest = each;
    }
  }
  return newest;
}

// With the content that no other release has.
void forget_release(State& state, const ReleaseId& id) {
  std::set<std::string> mine;
  for (const auto& each : state.parts(id)) mine.insert(each.value.digest);
  state.parts(id).clear();
  state.erase(id);
  for (const auto& each : state.all()) {
    for (const auto& part : state.parts(each.id)) mine.erase(part.value.digest);
  }
  for (const std::string& digest : mine) state.erase(ReleaseTId(digest));
}

// The definitions are in `parts`: the document only says that they are content.
std::string document_of_release(const promote::ReleaseSpec& spec) {
  return write(json::object{{"apiVersion", component::kKindsVersion}, {"kind", "Release"}, {"spec", to_json(spec)}});
}

}  // namespace

// ----------------------------------------------------------------------------------------------------------- create

Create::Begun Release::begin_create(const Create&, State&) { return lang::Opened{}; }

Create::Outcome Release::finish_create(const Create& ask, const Create::Outcome& outcome, State&) {
  const auto* end = get_if<lang::EngineEnd>(&outcome);
  if (end == nullptr) return outcome;
  return Create::Invalid{.component = ask.component, .message = end->message};
}

Compose::Begun Release::begin_compose(const Compose& ask, State&) {
  return ComposeWork{.component = ask.component, .image = ask.image.value_or(""), .credentials = ask.credentials};
}

Compose::Performed Release::perform_compose(const ComposeWork& work, Effect& effect) {
  const auto invalid = [&](const Error& error) {
    return Compose::Invalid{.component = work.component, .message = to_string(error)};
  };
  const views::States states(effect.read());
  const auto kinds = views::defined_kinds(states);
  auto spec = promote::freeze(kinds, work.component, work.image);
  if (!spec && spec.error().code == Code::not_found) {
    return Compose::NotFound{.component = work.component, .message = spec.error().message};
  }
  if (!spec) return invalid(spec.error());
  auto content = promote::resolve(*spec, {});
  if (!content) return invalid(content.error());
  const auto* sources = effect.tools().find<ReleaseSources>();
  const std::string image = promote::image_of(*content);
  if (sources != nullptr && sources->pin_image && image.find("sha256:") == std::string::npos) {
    if (!work.credentials) {
      if (auto login = views::login_for(states, *content, image)) {
        return Compose::Locked{
            .environment = login->environment, .provider = login->provider, .secret = login->secret, .image = image};
      }
    }
    auto login = login_in(work, effect);
    if (!login) return invalid(login.error());
    if (auto pinned = sources->pin_image(image, *login); pinned && *pinned != image) {
      content = promote::with_image(*std::move(content), *pinned);
      if (!content) return invalid(content.error());
      spec = promote::freeze(kinds, work.component, *pinned);
      if (!spec) return invalid(spec.error());
    }
  }
  return Compose::Ok{.component = work.component,
                     .document = document_of_release(*spec),
                     .identity = promote::identity_of(*content),
                     .image = promote::image_of(*content),
                     .parts = parts_as<ReleaseComposeOkPart>(*content)};
}

Compose::Outcome Release::finish_compose(const Compose& ask, const Compose::Outcome& outcome, State&) {
  const auto* end = get_if<lang::EngineEnd>(&outcome);
  if (end == nullptr) return outcome;
  return Compose::Invalid{.component = ask.component, .message = end->message};
}

Cut::Result Release::cut(const Cut& ask, State& state) {
  const auto same = [&](const ReleaseFound& found) {
    return Cut::Ok{.release = found.id, .identity = ask.identity, .image = found.record.image, .fresh = false};
  };
  const auto newest = newest_of(state, ask.component);
  if (newest && newest->record.ready && newest->record.identity == ask.identity &&
      (!ask.name || *ask.name == newest->id.text())) {
    return same(*newest);
  }
  std::string name = ask.name.value_or("");
  if (name.empty()) {
    std::vector<std::string> taken;
    for (const auto& each : state.all()) taken.push_back(each.id.text());
    name = promote::next_name(ask.component, state.now().ms / 1000, taken);
  }
  const ReleaseId id(name);
  if (const auto before = state.get(id)) {
    if (before->ready && before->identity == ask.identity) return same({id, *before});
    return Cut::Exists{.release = id, .message = "the release " + name + " is there, and never changes"};
  }
  state.put(id, {.component = ask.component,
                 .document = kept_document(ask.document, ask.parts),
                 .documentDigest = digest_of_text(ask.document),
                 .identity = ask.identity,
                 .image = ask.image,
                 .ready = true,
                 .message = "",
                 .createdAt = state.now(),
                 .by = ask.by.value_or("")});
  keep_parts(state, id, ask.parts);
  return Cut::Ok{.release = id, .identity = ask.identity, .image = ask.image, .fresh = true};
}

// -------------------------------------------------------------------------------------------------------------- put

Put::Begun Release::begin_put(const Put& ask, State& state) {
  PutWork work;
  for (const auto& each : ask.releases) {
    const ReleaseId id(each.name);
    const auto before = state.get(id);
    const std::string digest = digest_of_text(each.document);
    // Written otherwise, it may still be the same: that shows when it is resolved.
    if (!before || !before->ready || before->documentDigest != digest) work.releases.push_back(each);
  }
  return work;
}

Put::Performed Release::perform_put(const PutWork& work, Effect& effect) {
  Put::Ok ok;
  const auto* sources = effect.tools().find<ReleaseSources>();
  for (const auto& each : work.releases) {
    ReleaseResolvedItem one{.name = each.name,
                            .component = "",
                            .document = each.document,
                            .identity = "",
                            .image = "",
                            .message = "",
                            .parts = {}};
    auto parsed = parse_json(each.document, each.name);
    auto release = parsed ? read<promote::ReleaseKind>(*parsed) : Result<promote::ReleaseKind>(parsed.error());
    if (!release) {
      one.message = to_string(release.error());
      ok.resolved.push_back(std::move(one));
      continue;
    }
    one.component = release->spec.component.name;
    auto content = promote::resolve(release->spec, sources != nullptr ? sources->read_git : promote::ReadGit());
    if (content) {
      one.identity = promote::identity_of(*content);
      one.image = promote::image_of(*content);
      one.parts = parts_as<ReleasePutOkResolvedItemPart>(*content);
    } else {
      one.message = to_string(content.error());
    }
    ok.resolved.push_back(std::move(one));
  }
  return ok;
}

Put::Outcome Release::finish_put(const Put& ask, const Put::Outcome& outcome, State& state) {
  const auto* performed = get_if<Put::Ok>(&outcome);
  if (performed == nullptr) return outcome;
  Put::Ok ok;
  for (const auto& each : performed->resolved) {
    const ReleaseId id(each.name);
    const auto before = state.get(id);
    if (before && before->ready && before->identity != each.identity) {
      return Put::Differs{.release = id, .message = "the release " + each.name + " is there, and never changes"};
    }
  }
  for (const auto& each : performed->resolved) {
    const ReleaseId id(each.name);
    const auto before = state.get(id);
    if (before && before->ready) continue;
    state.put(id, {.component = each.component,
                   .document = kept_document(each.document, each.parts),
                   .documentDigest = digest_of_text(each.document),
                   .identity = each.identity,
                   .image = each.image,
                   .ready = each.message.empty(),
                   .message = each.message,
                   .createdAt = before ? before->createdAt : state.now(),
                   .by = ask.by.value_or("")});
    keep_parts(state, id, each.parts);
    ok.changed.push_back({.release = id});
  }
  return ok;
}

// ------------------------------------------------------------------------------------------------- reject and remove

Reject::Result Release::reject(const Reject& ask, State& state) {
  const bool there = state.edit(ask.release, [&](ReleaseRecord& record) {
    record.rejected = ReleaseRejected{.by = ask.caller.value_or(""), .reason = ask.reason, .at = state.now()};
  });
  if (!there) return Reject::NotFound{.release = ask.release, .message = no_release(ask.release)};
  return Reject::Ok{.release = ask.release};
}

Remove::Result Release::remove(const Remove& ask, State& state) {
  if (!state.has(ask.release)) {
    return Remove::NotFound{.release = ask.release, .message = no_release(ask.release)};
  }
  forget_release(state, ask.release);
  return Remove::Ok{.release = ask.release};
}

Drop::Result Release::drop(const Drop& ask, State& state) {
  forget_release(state, ask.release);
  return Drop::Ok{.release = ask.release};
}

Gc::Begun Release::begin_gc(const Gc& ask, State&) { return GcWork{.dry_run = ask.dryRun.value_or(false)}; }

Gc::Performed Release::perform_gc(const GcWork& work, Effect& effect) {
  Gc::Ok ok{.needless = {}, .dryRun = work.dry_run};
  const views::States states(effect.read());
  const auto in_git = views::releases_in_git(states);
  for (const std::string& each : views::needless_releases(states, effect.tool<Clock>().wall_ms())) {
    if (work.dry_run || !in_git.contains(each)) ok.needless.push_back({.release = each});
  }
  return ok;
}

Gc::Outcome Release::finish_gc(const Gc&, const Gc::Outcome& outcome, State&) { return outcome; }

}  // namespace sluice::deploy::release
