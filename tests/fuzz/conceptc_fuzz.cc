// Any concept that can be read and checked: all that conceptc makes of it; never a crash, never an error that the check
// did not tell, and the same every time.
// covers: src/lang/codegen/generate_cpp.cc src/lang/codegen/generate_state.cc src/lang/codegen/generate_schema.cc
// covers: src/lang/codegen/generate_reference.cc src/lang/codegen/generate_tests.cc src/lang/codegen/cpp_types.cc
// src/lang/check/relations.cc
#include <cstdint>
#include <cstdlib>

#include "base/json.h"
#include "lang/check/check.h"
#include "lang/codegen/generate_cpp.h"
#include "lang/codegen/generate_reference.h"
#include "lang/codegen/generate_schema.h"
#include "lang/codegen/generate_tests.h"
#include "lang/syntax/concept_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sluice::lang;
  std::string text(reinterpret_cast<const char*>(bytes), size);
  Diagnostics found;
  auto spec = parse_concept(text, "x.concept", found);
  if (!spec) return 0;
  for (const Diagnostic& each : check_concept(*spec, text)) {
    if (each.hint.empty() || each.mark.line == 0) std::abort();
    if (each.severity == Diagnostic::Severity::error) return 0;
  }
  CppOptions options{.ns = "x", .stem = "x", .source = "x.concept", .work_header = "x_work.h", .handlers = {text}};
  auto once = generate_cpp(*spec, options);
  auto twice = generate_cpp(*spec, options);
  if (!once || !twice) std::abort();
  if (once->header != twice->header || once->source != twice->source) std::abort();
  if (sluice::write_pretty(sluice::json::value(generate_schema(*spec))).empty()) std::abort();
  if (generate_reference(*spec).empty()) std::abort();
  if (generate_tests(*spec, text, {.ns = "x", .stem = "x", .source = "x.concept"}).empty()) std::abort();
  return 0;
}
