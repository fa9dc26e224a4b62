// What the sources of Pin share.
#pragma once

#include <string>

#include "pin.gen.h"

namespace sluice::deploy::pin {

inline constexpr const char* kReady = "ReconcileSuccess";
inline constexpr const char* kProgressing = "Progressing";
inline constexpr const char* kWaiting = "ConnectionsPending";
inline constexpr const char* kFailed = "ReconcileFailed";
inline constexpr const char* kUndeployed = "ResourcesUndeployed";

inline PinId pin_id(const std::string& component, const std::string& environment) {
  return PinId(component + "/" + environment);
}

inline std::string no_pin(const PinId& id) {
  const auto& text = id.text();
  const size_t slash = text.rfind('/');
  return text.substr(0, slash) + " is not pinned in " + (slash == std::string::npos ? "" : text.substr(slash + 1));
}

}  // namespace sluice::deploy::pin
