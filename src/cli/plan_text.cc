// Signs and words say everything; colour only repeats it.
#include "cli/plan_text.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/tree.h"

namespace sluice::cli {
namespace {

using deploy::views::PlanDocument;
using deploy::views::PlanNodeDocument;

std::string seconds(int64_t ms) {
  const int64_t tenths = (ms + 50) / 100;
  if (tenths < 600) return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
  return std::to_string(ms / 60'000) + " min " + std::to_string(ms / 1'000 % 60) + " s";
}

// Digests are for machines; people compare their beginnings.
std::string shown(const std::string& value) {
  if (value.empty()) return "nothing";
  return value.starts_with("sha256:") && value.size() > 19 ? value.substr(0, 19) + "…" : value;
}

struct Sign {
  std::string text;
  Style style;
};

Sign sign_of(plan::ChangeSign sign) {
  switch (sign) {
    case plan::ChangeSign::create:
      return {"+", Style::good};
    case plan::ChangeSign::change:
      return {"~", Style::warning};
    case plan::ChangeSign::remove:
      return {"-", Style::bad};
    case plan::ChangeSign::keep:
      break;
  }
  return {"=", Style::faint};
}

Sign sign_of_status(const std::string& status) {
  if (status == "done") return {"✔", Style::good};
  if (status == "running" || status == "undoing") return {"◌", Style::accent};
  if (status == "undone") return {"↩", Style::warning};
  if (status == "waiting") return {"·", Style::faint};
  return {"✖", Style::bad};
}

std::string fitted(const std::string& line, const Terminal& terminal, size_t before) {
  return truncate_to_width(line, terminal.width > before + 4 ? terminal.width - before : 4);
}

void add_change(std::vector<TreeLine>& lines, const plan::Change& change, size_t depth) {
  const Sign sign = sign_of(change.sign);
  std::string text = sign.text + " " + change.component;
  if (change.sign == plan::ChangeSign::keep) text += " (no changes)";
  lines.push_back({depth, text, sign.style});
  for (const plan::FieldChange& each : change.fields) {
    std::string field = each.name + ": ";
    if (change.sign == plan::ChangeSign::create) field += shown(each.after);
    if (change.sign == plan::ChangeSign::remove) field += shown(each.before);
    if (change.sign == plan::ChangeSign::change) field += shown(each.before) + " → " + shown(each.after);
    lines.push_back({depth + 1, field, Style::plain});
  }
}

std::string count(int64_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

constexpr size_t kWaveNodes = 8;
constexpr size_t kLastLines = 8;  // of a program that did not start

void add_waves(std::vector<TreeLine>& lines, const PlanDocument& plan) {
  if (plan.nodes.empty()) return;
  lines.push_back({1, "Order", Style::heading});
  std::map<int64_t, std::vector<const PlanNodeDocument*>> waves;
  for (const PlanNodeDocument& each : plan.nodes) waves[each.wave].push_back(&each);
  for (const auto& [wave, nodes] : waves) {
    std::string text = std::to_string(wave + 1) + ".";
    for (size_t i = 0; i < nodes.size() && i < kWaveNodes; ++i) text += (i == 0 ? " " : ", ") + nodes[i]->node;
    if (nodes.size() > kWaveNodes) text += " and " + std::to_string(nodes.size() - kWaveNodes) + " more";
    lines.push_back({2, text, Style::plain});
  }
}

// " (5% → 25% → 100%)"
std::string steps_of(const PlanDocument& plan) {
  std::string all;
  for (const std::string& each : plan.steps) all += (all.empty() ? " (" : " → ") + each.substr(0, each.find(':'));
  return all.empty() ? "" : all + ")";
}

// All that a plan does to one target, in the order in which it begins.
struct Part {
  std::string target;
  std::string status;  // waiting, running, done, undone or failed
  size_t nodes = 0;
  size_t ended = 0;
  int64_t took_ms = 0;
  std::vector<const PlanNodeDocument*> shown;  // that run, or have failed
  bool left_out = false;
};

std::vector<Part> parts_of(const PlanDocument& plan) {
  std::vector<Part> parts;
  std::map<std::string, size_t> places;
  for (const PlanNodeDocument& each : plan.nodes) {
    auto [place, fresh] = places.try_emplace(each.target, parts.size());
    if (fresh) parts.push_back({.target = each.target, .status = each.status, .shown = {}});
    Part& part = parts[place->second];
    part.nodes++;
    if (each.took_ms) part.took_ms += *each.took_ms;
    const bool good = each.status == "done" || each.status == "undone" || each.status == "waiting";
    if (each.status == "done" || each.status == "undone") part.ended++;
    if (!good) part.shown.push_back(&each);
    if (!good && each.status != "running" && each.status != "undoing") {
      part.status = "failed";
    } else if (part.status != "failed" && part.status != each.status) {
      part.status = "running";  // some of it is done, the rest is still to come
    }
  }
  return parts;
}

std::string headline(const PlanDocument& plan) {
  return "Deploy plan " + plan.plan_id + ": " + plan.app + " " + plan.version + " in " + plan.environment_id;
}

}  // namespace

bool is_over(const PlanDocument& plan) {
  return plan.phase != "queued" && plan.phase != "running" && plan.phase != "broken" && plan.phase != "stopped" &&
         plan.phase != "undoing";
}

std::string plan_summary(const PlanDocument& plan) {
  const auto& sum = plan.summary;
  return std::to_string(sum.create) + " to create, " + std::to_string(sum.change) + " to change, " +
         std::to_string(sum.remove) + " to remove, " + std::to_string(sum.keep) + " unchanged; " +
         count(sum.nodes, "node") + " in " + count(sum.waves, "wave");
}

std::string plan_tree(const PlanDocument& plan, const Terminal& terminal) {
  std::vector<TreeLine> lines{{0, headline(plan), Style::heading}};
  std::map<std::string, std::vector<const plan::Change*>> kits;
  for (const plan::Change& each : plan.changes) kits[each.kit].push_back(&each);
  for (const auto& [kit, changes] : kits) {
    lines.push_back({1, kit.empty() ? "Components" : "Kit: " + kit, Style::heading});
    for (const plan::Change* each : changes) add_change(lines, *each, 2);
  }
  add_waves(lines, plan);
  if (plan.summary.nodes > 0) {
    if (!plan.strategy.empty()) lines.push_back({1, "Rollout: " + plan.strategy + steps_of(plan), Style::plain});
    lines.push_back({1, "Estimated duration: " + (plan.estimated_ms > 0 ? seconds(plan.estimated_ms) : "not known yet"),
                     Style::plain});
  }
  std::string text = render(lines, terminal);
  text += "\nValidation:\n";
  for (const char* each :
       {"Manifest and overlays", "Providers and bundles", "Transports", "No circular dependencies"}) {
    text += "  " + terminal.paint(Style::good, "✔") + " " + each + "\n";
  }
  for (const std::string& each : plan.warnings)
    text += "  " + terminal.paint(Style::warning, "!") + " " + printable(each) + "\n";
  if (plan.stale) text += "  " + terminal.paint(Style::bad, "✖") + " Stale: " + printable(*plan.stale) + "\n";
  return text + "\nPlan: " + plan_summary(plan) + ".\n";
}

std::string node_line(const PlanNodeDocument& node) {
  std::string text = sign_of_status(node.status).text + " " + node.node + " " + node.status;
  if (node.took_ms && node.over_at) text += " after " + seconds(*node.took_ms);
  if (node.trouble) text += ": " + printable(*node.trouble);
  if (node.note) text += ": " + printable(*node.note);
  return text;
}

std::string plan_progress(const PlanDocument& plan, const Terminal& terminal, size_t most_lines) {
  std::string text = terminal.paint(Style::heading, headline(plan)) + "  " + plan.phase;
  if (plan.waits_for) text += ", waits for " + *plan.waits_for;
  text += "\n";
  std::vector<Part> parts = parts_of(plan);
  // What runs and what has failed is always there; of the rest, what is done makes room first.
  std::map<std::string, size_t> left_out;
  size_t lines = 2;
  for (const Part& each : parts) lines += 1 + each.shown.size();
  for (const std::string status : {"done", "undone", "waiting"}) {
    for (Part& each : parts) {
      if (lines + (left_out.empty() ? 0 : 1) <= most_lines) break;
      if (each.status != status || each.left_out) continue;
      each.left_out = true;
      left_out[status]++;
      lines--;
    }
  }
  for (const Part& each : parts) {
    if (each.left_out) continue;
    const Sign sign = sign_of_status(each.status);
    std::string line = each.target;
    if (each.status == "running") {
      line += "  " + std::to_string(each.ended) + " of " + count(static_cast<int64_t>(each.nodes), "node");
    }
    if (each.took_ms > 0) line += "  " + seconds(each.took_ms);
    text += "  " + terminal.paint(sign.style, sign.text) + " " + fitted(line, terminal, 8) + "\n";
    for (size_t i = 0; i < each.shown.size(); ++i) {
      const PlanNodeDocument& node = *each.shown[i];
      const Sign state = sign_of_status(node.status);
      std::string told = node.kind;
      if (node.took_ms) told += "  " + seconds(*node.took_ms);
      if (node.trouble) told += "  " + printable(*node.trouble);
      if (node.note) told += "  " + printable(*node.note);
      text += "    " + std::string(i + 1 < each.shown.size() ? "├─ " : "└─ ") +
              terminal.paint(state.style, state.text) + " " + fitted(told, terminal, 12) + "\n";
    }
  }
  if (!left_out.empty()) {
    text += "  …";
    for (const auto& [status, number] : left_out) text += " " + std::to_string(number) + " " + status;
    text += "\n";
  }
  return text + "  " + std::to_string(plan.done) + " of " + count(plan.summary.nodes, "node") + " done\n";
}

std::string plan_end(const PlanDocument& plan, const Terminal& terminal) {
  std::string text;
  const bool good = plan.phase == "complete";
  text += terminal.paint(good ? Style::good : Style::bad, plan.phase) + "  " + plan.plan_id + ": " + plan.app + " " +
          plan.version + " in " + plan.environment_id + "\n";
  const bool told = std::ranges::any_of(plan.nodes, [&](const PlanNodeDocument& each) {
    return plan.reason && each.trouble && *plan.reason == each.node + ": " + *each.trouble;
  });
  if (!good && plan.reason && !told) text += "  " + printable(*plan.reason, true) + "\n";
  for (const PlanNodeDocument& each : plan.nodes) {
    if (each.status == "waiting") continue;
    text += "  " + node_line(each) + "\n";
    const size_t first = each.last_lines.size() > kLastLines ? each.last_lines.size() - kLastLines : 0;
    for (size_t i = first; i < each.last_lines.size(); ++i) {
      text += "      " + terminal.paint(Style::faint, printable(each.last_lines[i])) + "\n";
    }
  }
  return text;
}

plan::Graph graph_of(const PlanDocument& plan) {
  plan::GraphMaker maker;
  for (const PlanNodeDocument& each : plan.nodes) {
    maker.add(plan::kind_named(each.kind).value_or(plan::NodeKind::deploy_concept), each.target);
  }
  for (const PlanNodeDocument& each : plan.nodes) {
    for (int64_t next : each.after) maker.edge(static_cast<uint32_t>(each.place), static_cast<uint32_t>(next));
  }
  return std::move(maker).finish().graph.value_or(plan::Graph());
}

}  // namespace sluice::cli
