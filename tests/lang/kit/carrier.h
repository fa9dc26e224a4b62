// The tool that Parcel's effects use: whoever brings parcels. Tests have one in memory.
#pragma once

#include <map>
#include <string>

namespace sluice::kit {

class Carrier {
 public:
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  virtual ~Carrier() = default;

  // The tracking number of a booking that was made under this id; empty if there is none.
  virtual std::string booked(const std::string& id) const = 0;
  // Empty if the token is not good.
  virtual std::string book(const std::string& id, const std::string& token) = 0;
  virtual void call_back(const std::string& tracking) = 0;
  // Whether it can be reached at all now.
  virtual bool open() const = 0;
};

}  // namespace sluice::kit
