// The way that every certificate takes, wherever it was issued: kept on disk, read by the routers, and put back if one
// of them does not show it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "crypto/x509.h"
#include "deploy/certificate_shelf.h"
#include "deploy/views/known_routers.h"
#include "lang/run/handler.h"

namespace sluice::deploy {

std::vector<RouterFleet::Member> members_of(const std::vector<views::KnownRouter>& routers);

// `invalid` if the pair does not hold, `conflict` if a router refuses it; then what was there before is there again.
Result<crypto::CertificateFacts> show_certificate(lang::Attempt& effect, const std::vector<views::KnownRouter>& routers,
                                                  const std::string& id, std::string_view chain_pem,
                                                  std::string_view key_pem);

}  // namespace sluice::deploy
