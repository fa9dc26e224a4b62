// Taint knows the texts that must not be shown, and takes them out of whatever is about to be.
//
// A text counts in its plain form, in base64 (also inside a longer text that was encoded as a whole, as far as its
// three alignments go) and as it stands inside JSON. What is shorter than kShortest is taken out only where it is a
// whole scalar: as a part of others it would blot out the answer.
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::rendering {

namespace json = boost::json;

inline constexpr std::string_view kRedacted = "<REDACTED>";

class Taint {
 public:
  static constexpr size_t kShortest = 6;

  void add(std::string_view secret);
  // What a Secret holds under data (decoded, too) and stringData.
  void add_secret_object(const json::value& object);
  bool empty() const { return whole_.empty(); }
  const std::set<std::string>& texts() const { return whole_; }

  std::string redacted(std::string_view text) const;
  // The same in every string of a tree; all values of a Secret's data and stringData.
  json::value redacted(const json::value& value) const;

 private:
  void add_form(std::string form);

  std::set<std::string> whole_;
  std::vector<std::string> inside_;  // longest first
};

}  // namespace sluice::rendering
