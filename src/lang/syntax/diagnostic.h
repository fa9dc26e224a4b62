// What is wrong with a source file, and how it is shown. Parsers and the checker put Diagnostics into a sink and go
// on, so that one run shows several faults; nothing is thrown and nothing is printed here.
//
//   Diagnostics found;
//   auto kit = parse_sync(text, "guards.sync", found);
//   if (!kit) std::cerr << render(found, text);
//
// A rendered diagnostic starts at column 1 with `path:line:column: error: text`, which editors understand; below it
// stand the source line, a caret under the place, and the hint.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/document.h"

namespace sluice::lang {

struct Diagnostic {
  enum class Severity { error, warning };
  Severity severity = Severity::error;
  std::string file;
  Mark mark{1, 1};      // line 0: it concerns no file
  uint32_t length = 1;  // in code points, on the mark's line
  std::string text;     // what is wrong and what was expected
  std::string hint;     // what to write instead
  std::string rule;     // a stable name of the rule that was broken, such as `unknown-section`

  bool operator==(const Diagnostic&) const = default;
};

// Collects diagnostics in the order found. Of each file kMaxErrors errors and as many warnings are kept; further ones
// are counted: a file of noise must cost neither memory nor the reader's patience.
class Diagnostics {
 public:
  static constexpr size_t kMaxErrors = 100;

  void add(Diagnostic diagnostic);
  // What another one has kept, and what it has counted.
  void add(const Diagnostics& found);

  const std::vector<Diagnostic>& all() const { return all_; }
  size_t errors() const { return errors_; }  // those that were not kept included
  size_t warnings() const { return warnings_; }
  bool failed() const { return errors_ > 0; }
  size_t not_kept() const { return errors_ + warnings_ - all_.size(); }
  // Whether one more of this file would be kept.
  bool keeps(const std::string& file, Diagnostic::Severity severity) const;
  // "1,900 further errors are not shown"; nothing if all are.
  std::string rest() const;

 private:
  struct Kept {
    size_t errors = 0, warnings = 0;
  };
  std::vector<Diagnostic> all_;
  std::unordered_map<std::string, Kept> kept_;  // by file
  size_t errors_ = 0, warnings_ = 0;
};

// One diagnostic as text that ends in a newline. `source` is the file's text; empty leaves the excerpt out.
std::string render(const Diagnostic& diagnostic, std::string_view source);

// All of one file's diagnostics, in order of place.
std::string render(const Diagnostics& diagnostics, std::string_view source);

// {severity, file, line, column, length, text, hint?, rule}
json::value json_of(const Diagnostic& diagnostic);

// A file that could not be read at all. There is no line to show, so it stands at the first.
Diagnostic unreadable(const std::string& file, const Error& error);

// The first error as an Error with its position, for callers that deal in Results.
Error to_error(const Diagnostics& diagnostics);

}  // namespace sluice::lang
