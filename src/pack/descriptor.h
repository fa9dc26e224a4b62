// How packs and the slots that they serve are named. A slot is one of a closed list; a pack is named by an open
// descriptor, such as sluice.deployer.local-process@1.0.0, so that a new one needs no change here.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json_fields.h"
#include "base/result.h"

namespace sluice::pack {

// In the order in which people read them.
std::span<const std::string_view> slots();
bool is_slot(std::string_view name);

struct PackDescriptor {
  std::string path;     // "sluice.deployer.local-process"
  std::string version;  // "1.0.0"

  bool operator==(const PackDescriptor&) const = default;
};

// PATH@VERSION: the path has a dot at least, of a-z, 0-9, `.` and `-`; the version is a semantic one.
Result<PackDescriptor> parse_descriptor(std::string_view text);
std::string to_string(const PackDescriptor& descriptor);

// The name under which a pack's concept is loaded: AcmeTelemetryFile_1_0_0 of acme.telemetry.file@1.0.0. Versions have
// names of their own, so that they stand side by side.
std::string concept_name_of(const PackDescriptor& descriptor);

}  // namespace sluice::pack

namespace sluice {

template <>
struct JsonScalar<pack::PackDescriptor> {
  static constexpr std::string_view kExpected = "a pack as acme.telemetry.file@1.0.0";
  static constexpr std::string_view kPattern = "^[a-z0-9-]+(\\.[a-z0-9-]+)+@[0-9]+\\.[0-9]+\\.[0-9]+";
  static Result<pack::PackDescriptor> parse(std::string_view text) { return pack::parse_descriptor(text); }
  static std::string print(const pack::PackDescriptor& descriptor) { return pack::to_string(descriptor); }
};

}  // namespace sluice
