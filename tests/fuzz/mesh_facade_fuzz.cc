// The facade of a mesh: any text gives a model or faults with messages; a model without faults compiles to a set that
// does what it says, or to faults.
// covers: src/mesh/facade.cc src/mesh/compile.cc src/mesh/paths.cc
#include <cassert>
#include <cstdint>
#include <string>

#include "crypto/base64.h"
#include "mesh/compile.h"
#include "mesh/facade.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sluice;
  const auto signer = [](const std::string&, const mesh::SpiffeId& id) -> Result<mesh::KeyText> {
    std::string key(32, 'k');
    key[0] = static_cast<char>(std::hash<std::string>()(id));
    return mesh::KeyText(crypto::to_base64(key));
  };
  auto resolved = mesh::resolve({{"rete.yaml", std::string(reinterpret_cast<const char*>(bytes), size)}}, signer);
  for (const Error& each : resolved.faults) assert(!each.message.empty());
  if (!resolved.faults.empty()) return 0;
  mesh::Ledger ledger;
  auto made = mesh::compile(resolved.model, ledger);
  if (!made.faults.empty()) return 0;
  assert(mesh::walk(made.compiled, resolved.model).empty());
  return 0;
}
