// What a registry said becomes a variant; the way to it is BundleRegistry's.
#include "deploy/concepts/registry/registry_work.h"
#include "deploy/registry_bundles.h"

namespace sluice::deploy::registry {
namespace {

RegistryId id_of(const std::string& environment, const std::string& host) {
  return RegistryId(environment + "/" + host);
}

// A login that was sealed before this process was started is gone with that one.
Result<oci::Login> login_in(const lang::Sealed& sealed, Effect& effect) {
  try {
    return oci::parse_login(effect.open(sealed));
  } catch (const std::exception&) {
    return Error{.code = Code::unavailable, .message = "Sluice ended before the login was used; try again"};
  }
}

// What both effects may meet.
template <class Action>
typename Action::Performed trouble(const Error& error, auto refusal) {
  switch (error.code) {
    case Code::unauthenticated:
    case Code::denied:
      return refusal(typename Action::Rejected{.message = error.message});
    case Code::unavailable:
    case Code::timeout:
    case Code::not_found:
      return refusal(typename Action::Unreachable{.message = error.message});
    default:
      return refusal(typename Action::Invalid{.message = to_string(error)});
  }
}

}  // namespace

Login::Begun Registry::begin_login(const Login& ask, State&) {
  if (auto host = oci::parse_host(ask.host); !host || *host != ask.host) {
    return Login::Invalid{.host = ask.host, .message = "'" + printable(ask.host) + "' is no registry's host"};
  }
  return lang::Opened{};
}

Login::Outcome Registry::finish_login(const Login&, const Login::Outcome& outcome, State&) { return outcome; }

Logout::Begun Registry::begin_logout(const Logout&, State&) { return lang::Opened{}; }

Logout::Outcome Registry::finish_logout(const Logout&, const Logout::Outcome& outcome, State&) { return outcome; }

List::Result Registry::list(const List& ask, const State& state) {
  List::Ok ok;
  for (const auto& [id, record] : state.all()) {
    if (record.environment != ask.environment) continue;
    ok.logins.push_back({.host = record.host, .secret = record.secret, .since = record.since});
  }
  return ok;
}

Pull::Begun Registry::begin_pull(const Pull&, State&) { return lang::Opened{}; }

Pull::Outcome Registry::finish_pull(const Pull&, const Pull::Outcome& outcome, State&) { return outcome; }

Prove::Begun Registry::begin_prove(const Prove& ask, State&) {
  return ProveWork{.host = ask.host, .credentials = ask.credentials};
}

Prove::Performed Registry::perform_prove(const ProveWork& work, Effect& effect) {
  const auto refused = [&](auto variant) -> Prove::Performed {
    variant.host = work.host;
    return variant;
  };
  auto login = login_in(work.credentials, effect);
  if (!login) return trouble<Prove>(login.error(), refused);
  auto checked = effect.tool<BundleRegistry>().check(work.host, *login);
  if (!checked) return trouble<Prove>(checked.error(), refused);
  return Prove::Ok{.host = work.host, .secret = login_secret_of(work.host)};
}

Prove::Outcome Registry::finish_prove(const Prove&, const Prove::Outcome& outcome, State&) { return outcome; }

Keep::Result Registry::keep(const Keep& ask, State& state) {
  const RegistryId id = id_of(ask.environment, ask.host);
  state.put(id, {.environment = ask.environment, .host = ask.host, .secret = ask.secret, .since = state.now()});
  return Keep::Ok{.login = id, .secret = ask.secret};
}

Forget::Result Registry::forget(const Forget& ask, State& state) {
  state.erase(id_of(ask.environment, ask.host));
  return Forget::Ok{.host = ask.host};
}

Locate::Result Registry::locate(const Locate& ask, State& state) {
  auto reference = oci::parse_reference(ask.reference);
  if (!reference) return Locate::Invalid{.reference = ask.reference, .message = reference.error().message};
  auto record = state.get(id_of(ask.environment, reference->host));
  if (!record) return Locate::Open{};
  return Locate::Known{.secret = record->secret};
}

Fetch::Begun Registry::begin_fetch(const Fetch& ask, State&) {
  return FetchWork{.reference = ask.reference, .credentials = ask.credentials};
}

Fetch::Performed Registry::perform_fetch(const FetchWork& work, Effect& effect) {
  const auto refused = [&](auto variant) -> Fetch::Performed {
    variant.reference = work.reference;
    return variant;
  };
  auto reference = oci::parse_reference(work.reference);
  if (!reference) return trouble<Fetch>(reference.error(), refused);
  std::optional<oci::Login> login;
  if (work.credentials) {
    auto opened = login_in(*work.credentials, effect);
    if (!opened) return trouble<Fetch>(opened.error(), refused);
    login = *std::move(opened);
  }
  auto kept = effect.tool<BundleRegistry>().fetch(*reference, login, effect.id(), [&] { return effect.cancelled(); });
  if (!kept && kept.error().code == Code::not_found) return refused(Fetch::NotFound{.message = kept.error().message});
  if (!kept && kept.error().code == Code::verification_failed) {
    return refused(Fetch::Unverified{.message = kept.error().message});
  }
  if (!kept) return trouble<Fetch>(kept.error(), refused);
  return Fetch::Ok{.source = kept->source,
                   .digest = kept->digest,
                   .bundle = kept->seen.manifest.name.text,
                   .version = kept->seen.manifest.version.text,
                   .manifest = kept->seen.manifest_text,
                   .tree = kept->seen.tree};
}

Fetch::Outcome Registry::finish_fetch(const Fetch&, const Fetch::Outcome& outcome, State&) { return outcome; }

}  // namespace sluice::deploy::registry
