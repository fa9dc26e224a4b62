// A pack is judged as it lies on the shelf, and taken down again if it does not fit.
#include "deploy/pack_keeper.h"

#include "bundle/trust/sidecar.h"

namespace sluice::deploy {

Result<KeptPack> PackKeeper::keep(const std::string& source) {
  const auto before = shelf_.all([](const std::string&) {});
  auto sidecar = bundle::read_sidecar(disk_, bundle::sidecar_path(source));
  if (!sidecar) return sidecar.error();
  auto pack = shelf_.keep(source);
  if (!pack) return pack.error();
  bool had = false;
  std::optional<Error> refused;
  for (const sluice::pack::Pack& each : before) {
    had = had || each.digest == pack->digest;
    if (each.digest == pack->digest) continue;
    const std::string kind = to_string(each.manifest.kind);
    if (each.manifest.kind == pack->manifest.kind) {
      refused = Error{.code = Code::conflict,
                      .message = kind + " is installed with other contents",
                      .next = "give the pack another version, or uninstall " + kind,
                      .path = kind};
    } else if (concept_name_of(each.manifest.kind) == concept_name_of(pack->manifest.kind)) {
      refused = Error{.code = Code::conflict,
                      .message = "the names of " + to_string(pack->manifest.kind) + " and " + kind + " are too alike",
                      .next = "give the pack another name",
                      .path = kind};
    }
  }
  if (auto fits = refused ? Result<void>() : fits_(*pack); !fits) refused = fits.error();
  if (!refused) return KeptPack{.pack = *std::move(pack), .sidecar = *std::move(sidecar)};
  if (!had) (void)shelf_.remove(pack->digest);
  return *std::move(refused);
}

}  // namespace sluice::deploy
