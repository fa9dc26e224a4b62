// Counts for the judge: any text gives observations or an error; observations give a verdict whose numbers are numbers,
// and the same again when they are written and read back.
// covers: src/judge/observations.cc src/judge/judge.cc src/judge/bets.cc src/judge/counts.cc src/judge/settings.cc
#include <cassert>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "base/json_writer.h"
#include "judge/observations.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sluice;
  auto observations = judge::parse_observations(std::string_view(reinterpret_cast<const char*>(bytes), size), "fuzz");
  if (!observations) {
    assert(!observations.error().message.empty());
    return 0;
  }
  judge::Verdict verdict = judge::verdict_on(*observations);
  assert(std::isfinite(verdict.against) && verdict.against >= 0);
  for (const judge::Metric& metric : verdict.metrics) {
    assert(std::isfinite(metric.against) && std::isfinite(metric.for_) && std::isfinite(metric.grouping));
    assert(metric.requests_needed.value_or(0) >= 0);
  }
  assert(!verdict.sentence.empty());
  auto again = judge::parse_observations(write(to_json(*observations)));
  assert(again.has_value());
  assert(write(to_json(judge::verdict_on(*again))) == write(to_json(verdict)));
  return 0;
}
