// Artifacts of a mesh: any text gives an artifact or an error; an artifact is read again from what it is written as,
// says the same then, and joins or not without trouble. covers: src/mesh/artifact.cc src/mesh/words.cc
#include <cassert>
#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "base/json_writer.h"
#include "mesh/artifact.h"
#include "mesh/join.h"
#include "mesh/set.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sluice;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  auto artifact = mesh::parse_artifact(text, "fuzz");
  if (!artifact) {
    assert(!artifact.error().message.empty());
    return 0;
  }
  auto again = mesh::parse_artifact(write(artifact->tree));
  assert(again.has_value());
  assert(again->identity() == artifact->identity());
  assert(mesh::digest_of(*again) == mesh::digest_of(*artifact));
  assert(write(mesh::payload_json(again->payload)) == write(mesh::payload_json(artifact->payload)));
  (void)mesh::check_join(*artifact, *again);
  (void)mesh::assemble({*artifact}, artifact->envelope.node);
  return 0;
}
