// Ids are made from those of the journal, so a flow that is exported twice is the same trace.
#include "host/flows/flow_spans.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>

#include "crypto/sha256.h"
#include "deploy/otlp.h"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr int kInternal = 1;  // SPAN_KIND_INTERNAL
constexpr int kError = 2;     // STATUS_CODE_ERROR

std::string hex(uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::string span_id(const std::string& of) {
  const crypto::Sha256 digest = crypto::sha256(of);
  uint64_t number = 0;
  for (size_t i = 0; i < sizeof number; ++i) number = number << 8U | digest[i];
  return hex(number | 1U);  // never 0, which is no id
}

std::string ns(int64_t ms) { return std::to_string(std::max<int64_t>(ms, 0)) + "000000"; }

json::object attribute(std::string_view key, const std::string& text) {
  return {{"key", key}, {"value", json::object{{"stringValue", text}}}};
}

void append(json::array more, json::array& to) {
  for (json::value& each : more) to.push_back(std::move(each));
}

class Spans {
 public:
  Spans(const engine::History& history, SpanKinds kinds)
      : history_(history), kinds_(kinds), trace_(trace_id_of(history.flow)) {}

  json::array made() {
    json::array spans;
    const std::string name = history_.invocations.empty() ? "flow" : history_.invocations.front().action;
    json::array about = {attribute("sluice.flow", to_string(history_.flow)),
                         attribute("sluice.caller", history_.caller.name)};
    if (!history_.invocations.empty()) append(deploy::otlp_ids(history_.invocations.front().input), about);
    spans.push_back(span(root(), "", name, history_.began_at_ms, history_.last_at_ms, std::move(about)));
    if (kinds_.actions) add_actions(spans);
    if (kinds_.syncs) add_syncs(spans);
    return spans;
  }

 private:
  void add_actions(json::array& spans) const {
    for (const engine::PastInvocation& each : history_.invocations) {
      json::array about = {attribute("sluice.invocation", to_string(each.id))};
      if (each.end) about.push_back(attribute("sluice.variant", each.end->variant));
      append(deploy::otlp_ids(ids_of(each)), about);
      json::object made = span(of_invocation(each), parent_of(each), each.action, each.asked_at_ms,
                               each.ended_at_ms > 0 ? each.ended_at_ms : history_.last_at_ms, std::move(about));
      if (each.end && each.end->variant.starts_with("engine.")) {
        const auto* why = each.end->fields.if_contains("message");
        made["status"] = json::object{
            {"code", kError},
            {"message", why != nullptr && why->is_string() ? std::string(why->as_string()) : each.end->variant}};
      }
      spans.push_back(std::move(made));
    }
  }
  void add_syncs(json::array& spans) const {
    for (size_t i = 0; i < history_.firings.size(); ++i) {
      const engine::Firing& each = history_.firings[i];
      spans.push_back(span(of_firing(i), parent_of(each), "sync " + each.sync, each.at_ms, each.at_ms,
                           {attribute("sluice.rows", std::to_string(each.rows))}));
    }
  }
  // What it was given, and what it has made.
  static json::object ids_of(const engine::PastInvocation& each) {
    json::object fields = each.input;
    if (each.end) {
      for (const auto& [name, value] : each.end->fields) fields[name] = value;
    }
    return fields;
  }
  // A flow has the id of its first invocation.
  std::string root() const { return span_id("flow " + to_string(history_.flow)); }
  std::string of_invocation(const engine::PastInvocation& each) const { return span_id(to_string(each.id)); }
  std::string of_firing(size_t number) const {
    return span_id(to_string(history_.flow) + "/" + std::to_string(number));
  }
  std::string parent_of(const engine::PastInvocation& each) const {
    if (each.asked_by) return kinds_.syncs ? of_firing(*each.asked_by) : parent_of(history_.firings[*each.asked_by]);
    if (each.beneath) return of_invocation(history_.invocations[*each.beneath]);
    return root();
  }
  std::string parent_of(const engine::Firing& each) const {
    if (!each.trigger || !kinds_.actions) return root();
    auto found = history_.find(each.trigger->invocation);
    return found ? of_invocation(history_.invocations[*found]) : root();
  }
  json::object span(const std::string& id, const std::string& parent, const std::string& name, int64_t from_ms,
                    int64_t to_ms, json::array about) const {
    json::object made{{"traceId", trace_},
                      {"spanId", id},
                      {"name", name},
                      {"kind", kInternal},
                      {"startTimeUnixNano", ns(from_ms)},
                      {"endTimeUnixNano", ns(std::max(from_ms, to_ms))},
                      {"attributes", std::move(about)}};
    if (!parent.empty()) made["parentSpanId"] = parent;
    return made;
  }

  const engine::History& history_;
  const SpanKinds kinds_;
  const std::string trace_;
};

}  // namespace

std::string trace_id_of(const Ulid& flow) { return hex(flow.high()) + hex(flow.low()); }

json::object spans_of(const engine::History& history, SpanKinds kinds) {
  return {{"resource", json::object{{"attributes", json::array{attribute("service.name", "sluice")}}}},
          {"scopeSpans", json::array{json::object{{"scope", json::object{{"name", "sluice"}}},
                                                  {"spans", Spans(history, kinds).made()}}}}};
}

}  // namespace sluice::host
