// The whole way to a certificate, over the network.
#include "acme/issue.h"

#include "acme/order.h"
#include "http/outgoing.h"

namespace sluice::acme {

std::string_view name_of(ChallengeKind kind) { return kind == ChallengeKind::http01 ? "http-01" : "tls-alpn-01"; }

std::optional<ChallengeKind> challenge_named(std::string_view name) {
  for (ChallengeKind each : {ChallengeKind::http01, ChallengeKind::tls_alpn01}) {
    if (name_of(each) == name) return each;
  }
  return std::nullopt;
}

Result<Issued> issue(const Wish& wish, const Place& place, const Hooks& hooks) {
  auto url = http::parse_url(wish.directory);
  if (!url) return url.error();
  if (!url->tls) return Error{.code = Code::invalid, .message = "the directory of an authority is an https:// URL"};
  http::Outgoing outgoing({.tls = {.roots_pem = wish.roots_pem}}, place.clock);
  const Send send = [&](const http::OutgoingRequest& request) { return outgoing.send(request); };
  Authority authority(wish, place, send);
  if (auto opened = authority.open(); !opened) return opened.error();
  if (auto known = authority.log_in(); !known) return known.error();
  return fulfil_order(wish, place, authority, hooks);
}

void forget_order(Disk& disk, const std::string& folder, const std::string& id) {
  for (const char* file : {"/order.json", "/key.pem"}) (void)disk.remove(folder + "/orders/" + id + file);
  (void)disk.remove_folder(folder + "/orders/" + id);
}

}  // namespace sluice::acme
