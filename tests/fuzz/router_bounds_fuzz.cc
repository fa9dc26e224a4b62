// Bounds of a router: any text gives bounds or an error with a message; bounds are the same when they are written and
// read back, and judge any deployment.
// covers: src/router/table/bounds.cc
#include <cassert>
#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "base/json_writer.h"
#include "router/table/bounds.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sluice;
  auto document = router::parse_bounds(std::string_view(reinterpret_cast<const char*>(bytes), size), "fuzz");
  if (!document) {
    assert(!document.error().message.empty());
    return 0;
  }
  const std::string text = write(to_json(*document));
  auto again = router::parse_bounds(text);
  assert(again.has_value() && write(to_json(*again)) == text);
  const router::Bounds bounds = router::Bounds::compile(*document).value();
  router::DeploymentDocument deployment{.id = "d1", .bundle = "shop"};
  deployment.routes.hosts = {"shop.example"};
  deployment.revisions = {{.id = "r1", .replicas = {{"tcp:10.0.0.1:80"}, {"unix:/run/shop/1.sock"}}}};
  (void)bounds.breach(deployment);
  return 0;
}
