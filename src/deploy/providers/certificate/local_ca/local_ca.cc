// A repeat issues another certificate in the place of the one before, which is as good.
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "base/terminal.h"
#include "deploy/certificate_shelf.h"
#include "deploy/providers/certificate/local_ca/local_ca_work.h"
#include "deploy/shown_certificate.h"

namespace sluice::deploy::local_ca {
namespace {

constexpr int64_t kLeafLife_ms = int64_t{90} * 86'400'000;

std::string this_machine() {
  std::array<char, 65> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != 0 ? name.data() : "this machine";
}

Result<crypto::CertificateFacts> issue_for(Effect& effect, const std::string& id,
                                           const std::vector<std::string>& names) {
  const int64_t now_ms = effect.tool<Clock>().wall_ms();
  auto authority = effect.tool<CertificateShelf>().authority(this_machine(), now_ms);
  if (!authority) return authority.error();
  auto made = crypto::make_certificate({.names = names, .until_ms = now_ms + kLeafLife_ms}, &*authority, now_ms);
  if (!made) return made.error();
  return show_certificate(effect, views::known_routers(effect.read()), id, made->chain_pem, made->key_pem.reveal());
}

template <class Ok>
Ok ok_of(const crypto::CertificateFacts& facts) {
  return Ok{.names = facts.names,
            .issuer = facts.issuer,
            .fingerprint = facts.fingerprint,
            .validFrom = {facts.from_ms},
            .expiresAt = {facts.until_ms}};
}

}  // namespace

Issue::Begun LocalCa::begin_issue(const Issue& ask, State&) {
  auto foreign = std::ranges::find_if_not(ask.names, [](const std::string& name) { return is_local_name(name); });
  if (foreign != ask.names.end()) {
    return Issue::Result(
        Issue::NotLocal{.message = "the local CA issues for localhost, *.test, *.example and this machine's addresses, "
                                   "not for " +
                                   printable(*foreign)});
  }
  return IssueWork{.certificate = ask.certificate, .names = ask.names};
}

Issue::Performed LocalCa::perform_issue(const IssueWork& work, Effect& effect) {
  auto shown = issue_for(effect, work.certificate, work.names);
  if (!shown) return Issue::NotShown{.message = to_string(shown.error())};
  return ok_of<Issue::Ok>(*shown);
}

Issue::Outcome LocalCa::finish_issue(const Issue&, const Issue::Outcome& outcome, State&) { return outcome; }

Renew::Begun LocalCa::begin_renew(const Renew& ask, State&) { return RenewWork{.certificate = ask.certificate}; }

Renew::Performed LocalCa::perform_renew(const RenewWork& work, Effect& effect) {
  auto chain = effect.tool<CertificateShelf>().chain_of(work.certificate);
  auto before =
      chain ? crypto::read_certificates(*chain) : Result<std::vector<crypto::CertificateFacts>>(chain.error());
  if (!before) return Renew::Unreadable{.message = to_string(before.error())};
  auto shown = issue_for(effect, work.certificate, before->front().names);
  if (!shown) return Renew::NotShown{.message = to_string(shown.error())};
  return ok_of<Renew::Ok>(*shown);
}

Renew::Outcome LocalCa::finish_renew(const Renew&, const Renew::Outcome& outcome, State&) { return outcome; }

}  // namespace sluice::deploy::local_ca
