// Reading a flow, its state in words, and what it waits for.
#include "host/flows/flow_view.h"

#include <algorithm>

#include "base/clock.h"
#include "base/json.h"
#include "engine/journal/retention.h"
#include "engine/rules/kept_set.h"
#include "host/flows/flow_words.h"
#include "host/home_store.h"

namespace sluice::host {

using engine::History;
using engine::PastInvocation;

Result<FlowView> view_flow(store::Snapshot& snapshot, const store::FlowRow& row) {
  auto steps = engine::read_flow(snapshot, row, engine::unpack_records);
  if (!steps) return steps.error();
  FlowView flow{.row = row, .history = engine::history_of(*steps)};
  // What stood still when its flow was cancelled ended with it, without a step of its own.
  for (engine::PastInvocation& one : flow.history.invocations) {
    if (store::is_open(row.status) || one.end) continue;
    one.end = engine::End{"engine.cancelled", {}, one.began_at_ms != 0};
    one.ended_at_ms = flow.history.last_at_ms;
  }
  for (const Ulid& child : flow.history.children) {
    auto found = snapshot.flow(child);
    if (!found) return found.error();
    bool pending = !*found || store::is_open((*found)->status);
    if (pending) ++flow.pending;
    flow.follow_ups.emplace_back(child, *found ? state_name((*found)->status) : "not begun");
  }
  auto kit = engine::kit_of_set(snapshot, row.sync_set);
  if (!kit) return kit.error();
  auto last = snapshot.meta(host::kKitMeta);
  if (!last) return last.error();
  flow.kit = kit->empty() ? last->value_or("") : *kit;
  if (*kit != last->value_or("")) flow.other_kit = *std::move(kit);
  return flow;
}

std::string state_text(const FlowView& flow) {
  std::string text(state_name(flow.row.status));
  auto told = [&](std::string_view name) { return engine::summary_text(flow.row, name); };
  if (flow.row.status == store::FlowStatus::settled_failed) {
    std::string failure = told("failure");
    if (auto first = failure_of(flow); first && failure.empty()) {
      failure = call_text(flow.history.invocations[*first]);
    }
    if (!failure.empty()) text += ": " + failure;
  }
  if (flow.row.status == store::FlowStatus::stuck) {
    std::string id = to_string(flow.row.id);
    if (std::string why = told("standstill"); !why.empty()) {
      text += ": " + why + "; next: " +
              (flow.other_kit.empty() ? "sluice flow move " + id + " --to current"
                                      : "sluice kit run " + flow.other_kit + " goes on with it");
    }
    if (std::string why = told("dead"); !why.empty()) {
      text += ": given up after " + why + "; next: sluice flow dead retry " + id + ", or drop";
    }
  }
  if (flow.pending > 0) {
    text += ", " + std::to_string(flow.pending) + (flow.pending == 1 ? " follow-up" : " follow-ups") + " pending";
  }
  return text;
}

std::string outcome_text(const PastInvocation& one) {
  if (one.end) return one.end->variant;
  if (one.began_at_ms == 0) return "is queued";
  std::string attempt = one.attempts > 1 ? ", attempt " + std::to_string(one.attempts) : "";
  switch (one.kind) {
    case PastInvocation::Kind::timer:
      return "waits until " + utc_text(one.due_ms);
    case PastInvocation::Kind::request:
      return "waits for an answer";
    default:
      return one.due_ms != 0 ? "is tried again at " + utc_text(one.due_ms) : "runs" + attempt;
  }
}

std::string call_text(const PastInvocation& one) { return one.action + (one.end ? " => " : " ") + outcome_text(one); }

Style style_of(const PastInvocation& one) {
  if (!one.end) return Style::accent;
  if (one.end->variant == "ok") return Style::good;
  return one.end->variant.starts_with("engine.") ? Style::bad : Style::warning;
}

std::vector<Wait> waits_of(const History& history) {
  std::vector<bool> busy(history.invocations.size());
  std::vector<size_t> open = history.open();
  for (size_t at : open) {
    if (auto above = history.invocations[at].beneath) busy[*above] = true;
  }
  std::vector<Wait> waits;
  for (size_t at : open) {
    const PastInvocation& one = history.invocations[at];
    if (busy[at]) continue;
    std::string text = call_text(one);
    if (const auto* name = one.input.if_contains("name"); one.kind == PastInvocation::Kind::timer && name != nullptr) {
      if (name->is_string()) text = "Timer/wait " + value_text(*name) + " " + outcome_text(one);
    }
    if (one.kind == PastInvocation::Kind::request) text += " from outside, since " + utc_text(one.began_at_ms);
    if (one.due_ms != 0 && !one.note.empty()) text += ": " + one.note;
    waits.push_back({at, text});
  }
  return waits;
}

std::vector<std::string> awaiting_texts(const FlowView& flow, size_t invocation) {
  std::vector<std::string> texts;
  auto found = flow.awaited_by.find(invocation);
  if (found == flow.awaited_by.end()) return texts;
  for (const engine::NearMiss& each : found->second) texts.push_back(each.sync + " waits for " + each.missing);
  return texts;
}

// The engine says in the flow's row what it holds for a failure: not every outcome other than ok that no sync matched
// is one.
std::optional<size_t> failure_of(const FlowView& flow) {
  if (flow.row.status == store::FlowStatus::settled_ok) return std::nullopt;
  std::string told = engine::summary_text(flow.row, "failure");
  if (told.empty()) {
    return flow.row.status == store::FlowStatus::settled_failed ? flow.history.first_failure() : std::nullopt;
  }
  std::optional<size_t> first;
  for (size_t i = 0; i < flow.history.invocations.size(); ++i) {
    const PastInvocation& one = flow.history.invocations[i];
    if (!one.end || call_text(one) != told) continue;
    if (!first || one.ended_seq < flow.history.invocations[*first].ended_seq) first = i;
  }
  return first;
}

std::vector<std::string> last_lines_of(const History& history) {
  for (const PastInvocation& each : history.invocations) {
    const json::value* said = each.end ? each.end->fields.if_contains("lastLines") : nullptr;
    if (said == nullptr || !said->is_array() || said->get_array().empty()) continue;
    std::vector<std::string> lines;
    for (const json::value& line : said->get_array()) {
      if (line.is_string()) lines.emplace_back(line.get_string());
    }
    return lines;
  }
  return {};
}

std::string value_text(const json::value& value) {
  if (const auto* text = value.if_string()) return "\"" + std::string(text->data(), text->size()) + "\"";
  return write(value);
}

std::string fields_text(const json::object& fields) {
  std::string text;
  for (const auto& field : fields) {
    if (!text.empty()) text += ", ";
    text += std::string(field.key().data(), field.key().size()) + ": " + value_text(field.value());
  }
  return text;
}

std::string undoes_text(const PastInvocation& one) {
  size_t gap = one.undoes.rfind(' ');
  auto id = Ulid::parse(std::string_view(one.undoes).substr(gap == std::string::npos ? 0 : gap + 1));
  return "undoes " + (id ? one.undoes.substr(0, gap) + " (" + short_id(*id) + ")" : one.undoes);
}

std::string answerer_text(const History& history, const PastInvocation& one) {
  constexpr std::string_view kOther = "answer:";
  if (auto firing = history.answered_by(one.id)) return history.firings[*firing].sync;
  if (one.by.starts_with(kOther)) return "flow " + one.by.substr(kOther.size());
  return "the engine";  // Flow/undo, when all is undone or it is stuck
}

std::string record_text(const History& history, const engine::RecordId& id) {
  auto at = history.find(id.invocation);
  if (!at) return "a record of another flow (" + short_id(id.invocation) + ")";
  const PastInvocation& one = history.invocations[*at];
  return one.action + " => " + (id.kind == engine::RecordKind::request ? "requested" : outcome_text(one)) + " (" +
         short_id(one.id) + ")";
}

}  // namespace sluice::host
