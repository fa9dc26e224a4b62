// The protocol is acme/issue.h's; here are the routers, which give the proofs, and what is kept for renewals.
#include <stdexcept>

#include "acme/issue.h"
#include "base/clock.h"
#include "base/terminal.h"
#include "deploy/certificate_shelf.h"
#include "deploy/providers/certificate/acme/acme_issuer.h"
#include "deploy/providers/certificate/acme/acme_work.h"
#include "deploy/shown_certificate.h"

namespace sluice::deploy::acme {
namespace {

namespace protocol = ::sluice::acme;

constexpr std::string_view kUsualChallenge = "http-01";

Result<crypto::CertificateFacts> get_certificate(Effect& effect, const std::string& id, const protocol::Wish& wish) {
  auto& shelf = effect.tool<CertificateShelf>();
  auto& disk = effect.tool<Disk>();
  const auto routers = views::known_routers(effect.read());
  const auto members = members_of(routers);
  const protocol::Place place{
      .disk = disk, .clock = effect.tool<Clock>(), .folder = shelf.acme_folder(), .id = id, .cancelled = [&] {
        return effect.cancelled();
      }};
  auto proofs_of = [](const std::vector<protocol::Challenge>& challenges) {
    std::vector<CertificateShelf::Proof> proofs;
    for (const protocol::Challenge& each : challenges) {
      proofs.push_back({.kind = std::string(protocol::name_of(each.kind)),
                        .name = each.name,
                        .token = each.token,
                        .key_authorization = each.key_authorization});
    }
    return proofs;
  };
  auto issued = effect.tool<AcmeIssuer>().issue(
      wish, place,
      {.show = [&](const auto& challenges) { return shelf.show_proofs(proofs_of(challenges), members); },
       .hide = [&](const auto& challenges) { shelf.hide_proofs(proofs_of(challenges), members); }});
  if (!issued) return issued.error();
  auto shown = show_certificate(effect, routers, id, issued->chain_pem, issued->key_pem.reveal());
  if (shown) protocol::forget_order(disk, shelf.acme_folder(), id);
  if (!shown) return Error{.code = Code::failed, .message = shown.error().message};
  return shown;
}

template <class Action>
typename Action::Performed performed(const Result<crypto::CertificateFacts>& facts) {
  if (facts) {
    return typename Action::Ok{.names = facts->names,
                               .issuer = facts->issuer,
                               .fingerprint = facts->fingerprint,
                               .validFrom = {facts->from_ms},
                               .expiresAt = {facts->until_ms}};
  }
  const std::string message = to_string(facts.error());
  switch (facts.error().code) {
    case Code::denied:
    case Code::verification_failed:
      return typename Action::Refused{.message = message};
    case Code::limit:
      return typename Action::Limited{.message = message};
    case Code::unavailable:
    case Code::timeout:
      return typename Action::Unreachable{.message = message};
    default:
      return typename Action::NotShown{.message = message};
  }
}

}  // namespace

Issue::Begun Acme::begin_issue(const Issue& ask, State&) {
  const std::string challenge = ask.challenge.value_or(std::string(kUsualChallenge));
  auto invalid = [](const std::string& message) { return Issue::Result(Issue::Invalid{.message = message}); };
  if (!ask.directory || ask.directory->empty()) return invalid("name the authority's directory");
  if (!ask.directory->starts_with("https://")) return invalid("the directory of an authority is an https:// URL");
  const auto kind = protocol::challenge_named(challenge);
  if (!kind) return invalid("'" + printable(challenge) + "' is no way to prove a name: http-01 and tls-alpn-01 are");
  for (const std::string& each : ask.names) {
    if (each.starts_with("*.")) return invalid("a wildcard such as " + each + " is proved by DNS alone");
  }
  return IssueWork{.certificate = ask.certificate,
                   .names = ask.names,
                   .directory = *ask.directory,
                   .email = ask.email.value_or(""),
                   .challenge = challenge,
                   .roots = ask.roots.value_or(""),
                   .binding_id = ask.bindingId.value_or(""),
                   .binding_key = ask.bindingKey};
}

Issue::Performed Acme::perform_issue(const IssueWork& work, Effect& effect) {
  protocol::Wish wish{.directory = work.directory,
                      .roots_pem = work.roots,
                      .email = work.email,
                      .challenge = *protocol::challenge_named(work.challenge),
                      .names = work.names};
  if (!work.binding_id.empty() && work.binding_key) {
    try {
      wish.binding = protocol::Binding{.key_id = work.binding_id, .key = effect.open(*work.binding_key)};
    } catch (const std::exception&) {
      return Issue::NotShown{.message = "Sluice ended before the account was bound; ask again"};
    }
  }
  return performed<Issue>(get_certificate(effect, work.certificate, wish));
}

Issue::Outcome Acme::finish_issue(const Issue& ask, const Issue::Outcome& outcome, State& state) {
  if (ended_of(outcome) == Issue::Ended::ok) {
    state.put(AcmeId(ask.certificate), {.directory = ask.directory.value_or(""),
                                        .email = ask.email.value_or(""),
                                        .challenge = ask.challenge.value_or(std::string(kUsualChallenge)),
                                        .roots = ask.roots.value_or("")});
  }
  return outcome;
}

Renew::Begun Acme::begin_renew(const Renew& ask, State& state) {
  auto record = state.get(AcmeId(ask.certificate));
  if (!record) {
    return Renew::Result(Renew::Unreadable{.message = "nothing is known of the authority of " + ask.certificate});
  }
  return RenewWork{.certificate = ask.certificate,
                   .directory = record->directory,
                   .email = record->email,
                   .challenge = record->challenge,
                   .roots = record->roots};
}

Renew::Performed Acme::perform_renew(const RenewWork& work, Effect& effect) {
  auto chain = effect.tool<CertificateShelf>().chain_of(work.certificate);
  auto before =
      chain ? crypto::read_certificates(*chain) : Result<std::vector<crypto::CertificateFacts>>(chain.error());
  if (!before) return Renew::Unreadable{.message = to_string(before.error())};
  return performed<Renew>(get_certificate(effect, work.certificate,
                                          {.directory = work.directory,
                                           .roots_pem = work.roots,
                                           .email = work.email,
                                           .challenge = *protocol::challenge_named(work.challenge),
                                           .names = before->front().names}));
}

Renew::Outcome Acme::finish_renew(const Renew&, const Renew::Outcome& outcome, State&) { return outcome; }

}  // namespace sluice::deploy::acme
