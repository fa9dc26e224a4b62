// Certificate keeps what is known of each; the files are CertificateShelf's, and what issues is a provider.
#include <algorithm>
#include <stdexcept>

#include "base/clock.h"
#include "base/terminal.h"
#include "deploy/certificate_shelf.h"
#include "deploy/concepts/certificate/certificate_work.h"
#include "deploy/shown_certificate.h"
#include "deploy/views/known_routers.h"

namespace sluice::deploy::certificate {
namespace {

constexpr const char* kImported = "import";
constexpr int64_t kSoonestRenewal_s = 60;
constexpr int64_t kExpiresSoon_ms = int64_t{14} * 86'400'000;

std::string no_certificate(const CertificateId& id) { return "there is no certificate " + printable(id.text()); }

// What stands in the way of an order, before anybody is asked.
std::string fault_of(const std::string& id, const std::vector<std::string>& names) {
  if (!is_certificate_id(id)) {
    return "'" + printable(id) + "' is no name for a certificate: letters, digits, -, _ and . are";
  }
  if (names.empty()) return "a certificate is of at least one host or address";
  for (const std::string& each : names) {
    if (!is_certificate_name(each)) return "'" + printable(each) + "' is no host and no address";
  }
  return "";
}

template <class Ok>
void note(State& state, const CertificateId& id, const Ok& ok, const std::string& provider) {
  state.names(id).assign(ok.names);
  state.put(id, {.provider = provider,
                 .issuer = ok.issuer,
                 .fingerprint = ok.fingerprint,
                 .validFrom = ok.validFrom,
                 .expiresAt = ok.expiresAt});
}

// At two thirds of its life.
template <class Ok>
int64_t renew_in_s(const Ok& ok, lang::DateTime now) {
  const int64_t due_ms = ok.validFrom.ms + (ok.expiresAt.ms - ok.validFrom.ms) / 3 * 2;
  return std::max((due_ms - now.ms) / 1'000, kSoonestRenewal_s);
}

template <class Outcome>
std::string reason_of(const Outcome& outcome) {
  const auto* end = get_if<lang::EngineEnd>(&outcome);
  return end != nullptr ? end->message : "";
}

}  // namespace

Import::Begun Certificate::begin_import(const Import& ask, State&) {
  if (!is_certificate_id(ask.certificate.text())) {
    return Import::Result(
        Import::Invalid{.certificate = ask.certificate, .message = fault_of(ask.certificate.text(), {"localhost"})});
  }
  return ImportWork{.certificate = ask.certificate.text(), .chain = ask.chain, .key = ask.key};
}

Import::Performed Certificate::perform_import(const ImportWork& work, Effect& effect) {
  const CertificateId id(work.certificate);
  std::string key;
  try {
    key = effect.open(work.key);
  } catch (const std::exception&) {
    return Import::Failed{.certificate = id, .message = "Sluice ended before the key was kept; add it again"};
  }
  auto shown = show_certificate(effect, views::known_routers(effect.read()), work.certificate, work.chain, key);
  crypto::wipe(key);
  if (!shown && shown.error().code == Code::invalid) {
    return Import::Invalid{.certificate = id, .message = to_string(shown.error())};
  }
  if (!shown) return Import::Failed{.certificate = id, .message = to_string(shown.error())};
  return Import::Ok{.certificate = id,
                    .names = shown->names,
                    .issuer = shown->issuer,
                    .fingerprint = shown->fingerprint,
                    .validFrom = {shown->from_ms},
                    .expiresAt = {shown->until_ms}};
}

Import::Outcome Certificate::finish_import(const Import& ask, const Import::Outcome& outcome, State& state) {
  if (const auto* ok = get_if<Import::Ok>(&outcome)) note(state, ask.certificate, *ok, kImported);
  if (ended_of(outcome) != Import::Ended::engine) return outcome;
  return Import::Failed{.certificate = ask.certificate, .message = reason_of(outcome)};
}

Issue::Begun Certificate::begin_issue(const Issue& ask, State&) {
  if (const std::string fault = fault_of(ask.certificate.text(), ask.names); !fault.empty()) {
    return Issue::Invalid{.certificate = ask.certificate, .message = fault};
  }
  return lang::Opened{};
}

Issue::Outcome Certificate::finish_issue(const Issue& ask, const Issue::Outcome& outcome, State& state) {
  if (const auto* ok = get_if<Issue::Ok>(&outcome)) {
    note(state, ask.certificate, *ok, ask.provider);
    Issue::Ok whole = *ok;
    whole.certificate = ask.certificate;
    whole.renewInSeconds = renew_in_s(*ok, state.now());
    return whole;
  }
  if (ended_of(outcome) != Issue::Ended::engine) return outcome;
  return Issue::Failed{.certificate = ask.certificate, .message = reason_of(outcome)};
}

Renew::Begun Certificate::begin_renew(const Renew& ask, State& state) {
  auto record = state.get(ask.certificate);
  if (!record) return Renew::NotFound{.certificate = ask.certificate, .message = no_certificate(ask.certificate)};
  if (ask.fingerprint && *ask.fingerprint != record->fingerprint) {
    return Renew::Replaced{.certificate = ask.certificate, .message = "it was replaced by another one"};
  }
  if (record->provider == kImported) {
    return Renew::Imported{.certificate = ask.certificate,
                           .message = ask.certificate.text() + " was issued elsewhere, and is renewed there"};
  }
  return lang::Opened{};
}

Renew::Outcome Certificate::finish_renew(const Renew& ask, const Renew::Outcome& outcome, State& state) {
  auto record = state.get(ask.certificate);
  if (const auto* ok = get_if<Renew::Ok>(&outcome)) {
    note(state, ask.certificate, *ok, record ? record->provider : "");
    Renew::Ok whole = *ok;
    whole.certificate = ask.certificate;
    whole.renewInSeconds = renew_in_s(*ok, state.now());
    return whole;
  }
  Renew::Outcome ended = outcome;
  if (ended_of(outcome) == Renew::Ended::engine) {
    ended = Renew::Failed{.certificate = ask.certificate, .message = reason_of(outcome)};
  }
  const auto* failed = get_if<Renew::Failed>(&ended);
  if (failed != nullptr && record) {
    state.edit(ask.certificate, [&](CertificateRecord& kept) { kept.problem = failed->message; });
  }
  return ended;
}

Remove::Begun Certificate::begin_remove(const Remove& ask, State& state) {
  if (!state.has(ask.certificate)) {
    return Remove::Result(Remove::NotFound{.certificate = ask.certificate, .message = no_certificate(ask.certificate)});
  }
  return RemoveWork{.certificate = ask.certificate.text()};
}

Remove::Performed Certificate::perform_remove(const RemoveWork& work, Effect& effect) {
  const CertificateId id(work.certificate);
  auto& shelf = effect.tool<CertificateShelf>();
  if (auto removed = shelf.remove(work.certificate); !removed) {
    return Remove::Failed{.certificate = id, .message = to_string(removed.error())};
  }
  (void)shelf.tell(work.certificate, "", members_of(views::known_routers(effect.read())));
  return Remove::Ok{.certificate = id};
}

Remove::Outcome Certificate::finish_remove(const Remove& ask, const Remove::Outcome& outcome, State& state) {
  if (ended_of(outcome) == Remove::Ended::ok) {
    state.names(ask.certificate).clear();
    state.erase(ask.certificate);
  }
  if (ended_of(outcome) != Remove::Ended::engine) return outcome;
  return Remove::Failed{.certificate = ask.certificate, .message = reason_of(outcome)};
}

List::Result Certificate::list(const List&, const State& state) {
  List::Ok ok;
  for (const auto& [id, record] : state.all()) {
    ok.certificates.push_back({.certificate = id.text(),
                               .provider = record.provider,
                               .names = state.names(id).values(),
                               .issuer = record.issuer,
                               .fingerprint = record.fingerprint,
                               .validFrom = record.validFrom,
                               .expiresAt = record.expiresAt,
                               .problem = record.problem});
  }
  return ok;
}

Inspect::Begun Certificate::begin_inspect(const Inspect&, State& state) {
  return InspectWork{.now_ms = state.now().ms};
}

Inspect::Performed Certificate::perform_inspect(const InspectWork& work, Effect& effect) {
  auto& shelf = effect.tool<CertificateShelf>();
  lang::ReadOnlyRows rows(effect.read().rows_of("Certificate"));
  const State state(rows);
  const auto members = members_of(views::known_routers(effect.read()));
  Inspect::Ok ok;
  for (const auto& [id, record] : state.all()) {
    ++ok.checked;
    const std::string name = id.text();
    const std::string again =
        (record.provider == kImported ? "Certificate/import certificate=" : "Certificate/renew certificate=") + name;
    auto problem = [&](const std::string& message, const std::string& fix) {
      ok.problems.push_back({.certificate = name, .message = message, .fix = fix});
    };
    auto facts = shelf.look(name);
    if (!facts) {
      problem("its files cannot be used: " + to_string(facts.error()), again);
      continue;
    }
    if (facts->until_ms <= work.now_ms) {
      problem("it has expired on " + utc_text(facts->until_ms), again);
    } else if (facts->until_ms - work.now_ms < std::min(kExpiresSoon_ms, (facts->until_ms - facts->from_ms) / 6)) {
      problem("it expires on " + utc_text(facts->until_ms), again);
    }
    if (facts->fingerprint != record.fingerprint) problem("its files are of another certificate", again);
    if (!record.problem.empty()) problem("it could not be renewed: " + record.problem, again);
    auto told = shelf.tell(name, facts->fingerprint, members);
    if (told.refused) problem(*told.refused, again);
    for (const std::string& router : told.silent) {
      problem("the router " + router + " does not answer", "start the router " + router);
    }
  }
  return ok;
}

Inspect::Outcome Certificate::finish_inspect(const Inspect&, const Inspect::Outcome& outcome, State&) {
  return outcome;
}

}  // namespace sluice::deploy::certificate
