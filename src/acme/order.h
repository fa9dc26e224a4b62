// An order at a certificate authority: proofs, and the certificate that comes of them. What an attempt before has begun
// goes on.
#pragma once

#include "acme/authority.h"

namespace sluice::acme {

// The authority is open and logged in at.
Result<Issued> fulfil_order(const Wish& wish, const Place& place, Authority& authority, const Hooks& hooks);

}  // namespace sluice::acme
