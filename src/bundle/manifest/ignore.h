// IgnoreRules is a .sluiceignore: the syntax and the meaning of .gitignore.
//
//   # a comment
//   *.log          a pattern without "/" matches a name at any depth
//   /dist          one with "/" at its beginning or inside is relative to the folder of the file
//   cache/         "/" at the end matches folders alone
//   !keep.log      takes back what an earlier line ignores; nothing inside an ignored folder can be taken back
//
// `*`, `?`, `[…]`, `**` and `\` mean what they do in globs (bundle/manifest/glob.h). The last line that matches
// decides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::bundle {

constexpr std::string_view kIgnoreName = ".sluiceignore";

class IgnoreRules {
 public:
  IgnoreRules() = default;

  // Refused: a file with more than 10,000 lines, a line longer than 4,096 bytes, or one that is not UTF-8.
  static Result<IgnoreRules> parse(std::string_view text, const std::string& file = std::string(kIgnoreName));

  struct Match {
    bool ignored = false;
    uint32_t line = 0;  // that decided
  };
  // What the last matching line says of this path itself; none if no line matches. The folders above it are the
  // caller's to ask first.
  std::optional<Match> match(std::string_view path, bool is_folder) const;

 private:
  struct Rule {
    std::string pattern;  // relative to the root
    bool negated = false;
    bool folders_only = false;
    uint32_t line = 0;
  };
  std::vector<Rule> rules_;
};

}  // namespace sluice::bundle
