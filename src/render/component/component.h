// A component, rendered for one environment: its type's resources, with what its addons create and patch.
//
//   auto made = render_component(kinds, {.component = "checkout", .environment = "production"});
//   for (const Error& fault : made.faults) …
//   for (const auto& each : made.objects) …        // sorted by kind, apiVersion, namespace and name
//   auto why = explain(made, "Deployment/checkout-production-1a2b3c4d", "/spec/replicas");
//
// The order is: settings over parameters, defaults, checks; the type's rules; its resources; the addons of the type,
// then those of the component, each with what it creates before what it patches; the rules over the result; labels.
#pragma once

#include <boost/json.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time_zone.h"
#include "render/component/kinds.h"
#include "render/component/parameters.h"

namespace sluice::component {

struct RenderWish {
  std::string component;
  std::string environment;
  std::string name_space;  // empty: the environment's name
  const TimeZones* zones = nullptr;
};

// A text with expressions, or an operation of a patch, that wrote a part of an object.
struct Written {
  std::string pointer;
  std::optional<Position> position;
  std::string text;                      // with its expressions; of a patch also its path
  std::optional<json::value> displaced;  // by a patch
  const Parameters* parameters = nullptr;
};

struct RenderedObject {
  std::string made_by;  // "web-app: deployment", "persistent-volume-claim app-data"
  json::value object;
  std::vector<Written> written;  // in their order
};

struct RenderedComponent {
  std::vector<RenderedObject> objects;
  std::vector<Error> faults;          // all of them; with any there are no objects
  std::deque<Parameters> parameters;  // what `written` points at
};

RenderedComponent render_component(const Kinds& kinds, const RenderWish& wish);

struct Explained {
  json::value value;
  std::vector<const Written*> written;  // the last one wins
  struct Input {
    std::string name;  // "parameters.replicas"
    std::vector<Origin> origins;
  };
  std::vector<Input> inputs;  // of what wrote it last
};

// `not_found` if there is no such object, or nothing at that place.
Result<Explained> explain(const RenderedComponent& rendered, std::string_view object, std::string_view pointer);

}  // namespace sluice::component
