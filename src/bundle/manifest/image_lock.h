// ImageLock says which image a tag meant when the bundle was built: image.lock.json beside bundle.yaml. It is committed
// and packed, so the bundle's digest and signature cover what runs, whatever the tag means later.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/json_fields.h"
#include "base/result.h"

namespace sluice::bundle {

inline constexpr std::string_view kImageLockName = "image.lock.json";
inline constexpr std::string_view kImageLockSchema = "sluice.image-lock.v1";
inline constexpr size_t kMaxImageLockBytes = 1 << 20;

struct ImageLock {
  std::string schema{kImageLockSchema};
  std::string reference;                         // as bundle.yaml names it
  std::string digest;                            // of what the registry has under it: an index, or one manifest
  std::map<std::string, std::string> platforms;  // "linux/amd64": the digest of its manifest

  bool operator==(const ImageLock&) const = default;
};
BOOST_DESCRIBE_STRUCT(ImageLock, (), (schema, reference, digest, platforms))

// Errors name the file and the field.
Result<ImageLock> parse_image_lock(std::string_view text, const std::string& file = std::string(kImageLockName));
std::string print_image_lock(const ImageLock& lock);

}  // namespace sluice::bundle
