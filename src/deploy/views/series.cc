// At most 180 values a line: more than a chart can show tells nobody anything.
#include "deploy/views/series.h"

#include <algorithm>
#include <map>

#include "deploy/series_watch.h"
#include "deploy/views/states.h"
#include "deployment.gen.h"
#include "revision.gen.h"

namespace sluice::deploy::views {
namespace {

constexpr int64_t kDay_s = 86'400;
constexpr int64_t kMostValues = 180;
using Spans = std::map<int64_t, CountedSpan>;

int64_t step_of(int64_t range_s) {
  const int64_t least = (range_s + kMostValues - 1) / kMostValues;
  if (range_s <= RequestSeries::kSeconds) return std::max<int64_t>(least, 1);
  return (least + 59) / 60 * 60;
}

void fill(SeriesLine& line, const Spans& spans, const SeriesView& view, int64_t to_s) {
  for (int64_t at_s = view.from_s; at_s < to_s; at_s += view.step_s) {
    auto found = spans.find(at_s);
    const bool counted = found != spans.end() && found->second.span_ms > 0;
    OrNull<double> rate, errors, p50, p99;
    if (counted) {
      const CountedSpan& span = found->second;
      rate = span.requests * 1'000 / static_cast<double>(span.span_ms);
      if (span.requests > 0) errors = span.failed / span.requests;
      if (auto value = span.quantile_ms(0.5)) p50 = *value;
      if (auto value = span.quantile_ms(0.99)) p99 = *value;
    }
    line.requests_per_s.push_back(rate);
    line.error_share.push_back(errors);
    line.p50_ms.push_back(p50);
    line.p99_ms.push_back(p99);
  }
}

Result<SeriesView> read_series(const lang::Reading& reading, const SeriesQuery& query) {
  const States states(reading.rows);
  std::vector<std::string> deployments;
  if (query.deployment.empty()) {
    for (const auto& each : states.deployment().find_by_environment(query.environment)) {
      deployments.push_back(each.id.text());
    }
  } else {
    auto record = states.deployment().get(deployment::DeploymentId(query.deployment));
    if (!record || record->environment != query.environment) {
      return Error{.code = Code::not_found,
                   .message = "there is no deployment " + query.deployment + " in " + query.environment};
    }
    deployments.push_back(query.deployment);
  }
  const int64_t range_s = std::clamp<int64_t>(query.range_s, 60, kDay_s);
  const int64_t now_s = reading.now_ms / 1'000;
  SeriesView view{.step_s = step_of(range_s)};
  // The step that is under way is left out: it is not whole yet.
  const int64_t to_s = now_s - now_s % view.step_s;
  view.from_s = to_s - range_s / view.step_s * view.step_s;
  const auto* watch = reading.tools.find<SeriesWatch>();
  Spans sum;
  for (const std::string& deployment : deployments) {
    for (const auto& each : states.revision().find_by_deployment(deployment)) {
      Spans spans = watch != nullptr ? watch->since(each.id.text(), view.from_s, view.step_s) : Spans();
      if (spans.empty()) continue;
      for (const auto& [at_s, span] : spans) {
        CountedSpan& all = sum[at_s];
        const int64_t span_ms = std::max(all.span_ms, span.span_ms);
        all.add(span);
        all.span_ms = span_ms;
      }
      const int64_t last_minute = watch->last_minute(each.id.text());
      view.total.last_minute += last_minute;
      if (query.deployment.empty()) continue;
      SeriesLine line{.revision = each.id.text(),
                      .name = each.record.bundle + "@" + std::to_string(each.record.sequence),
                      .last_minute = last_minute};
      fill(line, spans, view, to_s);
      view.revisions.push_back(std::move(line));
    }
  }
  fill(view.total, sum, view, to_s);
  std::ranges::sort(view.revisions, std::ranges::greater(), &SeriesLine::revision);  // ids grow with time
  return view;
}

}  // namespace

std::vector<lang::View> series_views() {
  return {lang::make_view("series", "Requests, errors and latencies of revisions over time", read_series)};
}

}  // namespace sluice::deploy::views
