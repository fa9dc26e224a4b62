// StoredData is where programs of this machine keep what they store, a folder a name: the tool by which people hear how
// much that is. Who made and removes it is the runtime's business.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::deploy {

class StoredData {
 public:
  explicit StoredData(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_of(const std::string& name) const { return folder_ + "/" + name; }
  bool has(const std::string& name) const;
  // All files of it; what cannot be looked at counts for nothing.
  uint64_t bytes_of(const std::string& name) const;

 private:
  std::string folder_;
};

}  // namespace sluice::deploy
