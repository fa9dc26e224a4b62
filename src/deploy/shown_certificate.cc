// A router that does not answer is not waited for: it reads what is there when it begins.
#include "deploy/shown_certificate.h"

#include "base/clock.h"

namespace sluice::deploy {

std::vector<RouterFleet::Member> members_of(const std::vector<views::KnownRouter>& routers) {
  std::vector<RouterFleet::Member> members;
  for (const views::KnownRouter& each : routers) members.push_back(each.member);
  return members;
}

Result<crypto::CertificateFacts> show_certificate(lang::Attempt& effect, const std::vector<views::KnownRouter>& routers,
                                                  const std::string& id, std::string_view chain_pem,
                                                  std::string_view key_pem) {
  auto& shelf = effect.tool<CertificateShelf>();
  const auto members = members_of(routers);
  auto kept = shelf.keep(id, chain_pem, key_pem, effect.tool<Clock>().wall_ms());
  if (!kept) return kept.error();
  auto told = shelf.tell(id, kept->facts.fingerprint, members);
  if (told.refused) {
    if (auto restored = shelf.restore(*kept); !restored) return restored.error();
    (void)shelf.tell(id, "", members);
    return Error{.code = Code::conflict, .message = *told.refused};
  }
  shelf.settle(*kept);
  return kept->facts;
}

}  // namespace sluice::deploy
