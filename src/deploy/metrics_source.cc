// Counts that no judge could use are handed on as they are: judge::Totals leaves out what is no number or jumped back.
#include "deploy/metrics_source.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstdlib>
#include <map>

#include "base/json.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "deploy/telemetry_backends.h"
#include "http/outgoing.h"
#include "pack/descriptor.h"
#include "router/counters.h"

namespace sluice::deploy {
namespace {

constexpr int64_t kSourceTimeout_ms = 2'000;
constexpr size_t kMostAnswerBytes = 1 << 20;
constexpr size_t kMostQueryBytes = 4'096;
constexpr auto& kSourceEnds_us = ::sluice::router::kLatencyEnds_us;

Error fault(const std::string& message) { return {.code = Code::unavailable, .message = message}; }

std::string filled_in(std::string query, const MeasuredRollout& rollout, const MeasuredSide& side) {
  for (const auto& [word, value] : {std::pair<std::string, std::string>{"$revision", side.revision},
                                    {"$name", side.name},
                                    {"$deployment", rollout.deployment}}) {
    for (size_t at = query.find(word); at != std::string::npos; at = query.find(word, at + value.size())) {
      query.replace(at, word.size(), value);
    }
  }
  return query;
}

Result<double> number_of(const json::value& text) {
  if (!text.is_string()) return fault("it answered no number");
  const std::string digits(text.as_string());
  char* end = nullptr;
  const double number = std::strtod(digits.c_str(), &end);  // also "NaN" and "+Inf"
  if (end == digits.c_str() || *end != 0) return fault("it answered no number: " + digits);
  return number;
}

// Of an instant query: numbers by their label `le`, "" for those that have none.
Result<std::map<std::string, double>> vector_of(const std::string& body, const std::string& query) {
  auto document = parse_json(body);
  if (!document || !document->root.is_object()) return fault("it answered no JSON");
  const json::object& said = document->root.as_object();
  const auto* status = said.if_contains("status");
  if (status == nullptr || *status != json::value("success")) {
    const auto* why = said.if_contains("error");
    return fault("it refused " + query + ": " +
                 (why != nullptr && why->is_string() ? std::string(why->as_string()) : "no reason given"));
  }
  try {
    const json::object& data = said.at("data").as_object();
    std::map<std::string, double> numbers;
    if (data.at("resultType") == json::value("scalar")) {
      auto number = number_of(data.at("result").at(1));
      if (!number) return number.error();
      return std::map<std::string, double>{{"", *number}};
    }
    if (data.at("resultType") != json::value("vector")) return fault("it answered no instant vector to " + query);
    for (const json::value& each : data.at("result").as_array()) {
      auto number = number_of(each.at("value").at(1));
      if (!number) return number.error();
      const auto* le = each.at("metric").as_object().if_contains("le");
      auto [at, is_new] = numbers.emplace(le != nullptr ? std::string(le->as_string()) : "", *number);
      if (!is_new) return fault("it answered several series to " + query + "; write sum(…)");
    }
    return numbers;
  } catch (const std::exception&) {
    return fault("it answered in a form that Prometheus does not have");
  }
}

// The bucket of router/counters.h that a latency of at most so many microseconds is in.
size_t bucket_of(double most_us) {
  const auto end =
      std::ranges::find_if(kSourceEnds_us, [&](uint32_t each) { return static_cast<double>(each) >= most_us; });
  return static_cast<size_t>(end - kSourceEnds_us.begin());
}

// Prometheus counts up to each end; the judge in between.
std::vector<double> latencies_of(const std::vector<std::pair<double, double>>& up_to_us) {
  std::vector<double> latencies(kSourceEnds_us.size() + 1, 0);
  double before = 0;
  for (const auto& [end_us, count] : up_to_us) {
    latencies[std::isinf(end_us) ? kSourceEnds_us.size() : bucket_of(end_us)] += count - before;
    before = count;
  }
  return latencies;
}

// What a webhook answers of one revision.
struct Told {
  double requests = 0;
  double failed = 0;
  struct Bucket {
    double le_ms = 0;
    double count = 0;
  };
  std::vector<Bucket> latencies;  // up to each end
  static constexpr std::string_view kDefaulted[] = {"latencies"};
};
BOOST_DESCRIBE_STRUCT(Told::Bucket, (), (le_ms, count))
BOOST_DESCRIBE_STRUCT(Told, (), (requests, failed, latencies))

struct BothTold {
  Told canary;
  Told baseline;
  static constexpr std::string_view kDefaulted[] = {"baseline"};
};
BOOST_DESCRIBE_STRUCT(BothTold, (), (canary, baseline))

judge::Counts counts_of(Told told) {
  std::ranges::sort(told.latencies, {}, &Told::Bucket::le_ms);
  std::vector<std::pair<double, double>> up_to_us;
  for (const Told::Bucket& each : told.latencies) up_to_us.emplace_back(each.le_ms * 1'000, each.count);
  return {.requests = told.requests,
          .failed = told.failed,
          .latencies = up_to_us.empty() ? std::vector<double>() : latencies_of(up_to_us)};
}

}  // namespace

std::string fault_of_source(const MetricsSource& source) {
  if (source.type == "pack") {
    auto kind = pack::parse_descriptor(source.pack);
    return kind ? "" : "source: `pack` names a pack, such as acme.telemetry.file@1.0.0: " + kind.error().message;
  }
  if (source.type != "prometheus" && source.type != "webhook") {
    return "source: there is no type " + source.type + "; it is prometheus, webhook or pack";
  }
  const bool http = source.url.starts_with("http://") || source.url.starts_with("https://");
  if (!http || !http::parse_url(source.url)) return "source: the url is http:// or https://, not " + source.url;
  const bool asks = !source.requests.empty() && !source.failed.empty();
  if (source.type == "prometheus" && !asks) {
    return "source: prometheus needs two queries, requests and failed";
  }
  for (const std::string* each : {&source.requests, &source.failed, &source.latency}) {
    if (each->size() > kMostQueryBytes) return "source: a query has 4096 bytes at most";
  }
  if (std::string wrong = fault_of_key(source.key, {}); !wrong.empty()) return "source: " + wrong;
  return "";
}

Result<std::string> MetricsReader::send(const MetricsSource& source, const std::string& method, const std::string& url,
                                        const std::string& body) const {
  auto key = read_backend_key(source.key, source.url, keys_, disk_, variables_);
  if (!key) return key.error();
  http::OutgoingRequest request{
      .method = method, .url = url, .body = body, .timeout_ms = kSourceTimeout_ms, .most_bytes = kMostAnswerBytes};
  if (!body.empty()) request.headers.push_back({"Content-Type", "application/json"});
  if (!key->empty()) request.headers.push_back({"Authorization", "Bearer " + *key});
  http::Outgoing outgoing(
      {.proxy = http::proxy_of([&](const std::string& name) { return variables_(name).value_or(""); }, source.url)},
      clock_);
  auto answer = outgoing.send(request);
  if (!answer) return answer.error();
  // Prometheus says in the body of a 4xx what is wrong with a query.
  const bool says_why = source.type == "prometheus" && answer->body.starts_with("{");
  if (answer->status != 200 && !says_why) return fault("it answered " + std::to_string(answer->status));
  return std::move(answer->body);
}

Result<judge::Counts> MetricsReader::prometheus_counts(const MetricsSource& source, const MeasuredRollout& rollout,
                                                       const MeasuredSide& side) const {
  auto ask = [&](const std::string& query) -> Result<std::map<std::string, double>> {
    std::string base = source.url;
    while (base.ends_with('/')) base.pop_back();
    const std::string filled = filled_in(query, rollout, side);
    auto body = send(source, "GET", base + "/api/v1/query?query=" + http::percent_encoded(filled), "");
    if (!body) return body.error();
    return vector_of(*body, filled);
  };
  auto one = [&](const std::string& query) -> Result<double> {
    auto numbers = ask(query);
    if (!numbers) return numbers.error();
    if (numbers->empty()) return 0.0;  // nothing was counted yet
    if (numbers->size() > 1) return fault("it answered several series to " + query + "; write sum(…)");
    return numbers->begin()->second;
  };
  auto requests = one(source.requests);
  if (!requests) return requests.error();
  auto failed = one(source.failed);
  if (!failed) return failed.error();
  judge::Counts counts{.requests = *requests, .failed = *failed};
  if (source.latency.empty()) return counts;
  auto buckets = ask(source.latency);
  if (!buckets) return buckets.error();
  std::vector<std::pair<double, double>> up_to_us;
  for (const auto& [le, count] : *buckets) {
    if (le.empty()) return fault("it answered no buckets to the latency query; write sum by (le) (…)");
    up_to_us.emplace_back(std::strtod(le.c_str(), nullptr) * 1'000'000, count);
  }
  std::ranges::sort(up_to_us);
  counts.latencies = latencies_of(up_to_us);
  return counts;
}

Result<MeasuredTotals> MetricsReader::webhook_totals(const MetricsSource& source,
                                                     const MeasuredRollout& rollout) const {
  auto body = send(source, "POST", source.url, write(to_json(rollout)));
  if (!body) return body.error();
  auto document = parse_json(*body);
  auto told = document ? read<BothTold>(document->root) : Result<BothTold>(document.error());
  if (!told) return fault("it answered something else than counts: " + to_string(told.error()));
  return MeasuredTotals{.canary = counts_of(told->canary), .baseline = counts_of(told->baseline)};
}

Result<MeasuredTotals> MetricsReader::pack_totals(const MetricsSource& source, const MeasuredRollout& rollout) const {
  if (packs_ == nullptr) return fault("no packs are here");
  auto fields = packs_->query(source.pack, "measure", to_json(rollout).as_object(), kSourceTimeout_ms);
  if (!fields) return fields.error();
  auto told = read<BothTold>(json::value(*fields));
  if (!told) return fault("it answered something else than counts: " + to_string(told.error()));
  return MeasuredTotals{.canary = counts_of(told->canary), .baseline = counts_of(told->baseline)};
}

Result<MeasuredTotals> MetricsReader::totals(const MetricsSource& source, const MeasuredRollout& rollout) const {
  if (source.type == "webhook") return webhook_totals(source, rollout);
  if (source.type == "pack") return pack_totals(source, rollout);
  auto canary = prometheus_counts(source, rollout, rollout.canary);
  if (!canary) return canary.error();
  MeasuredTotals totals{.canary = *std::move(canary)};
  if (rollout.baseline.revision.empty()) return totals;
  auto baseline = prometheus_counts(source, rollout, rollout.baseline);
  if (!baseline) return baseline.error();
  totals.baseline = *std::move(baseline);
  return totals;
}

}  // namespace sluice::deploy
