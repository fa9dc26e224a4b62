// Trees of source as trees of blocks, in canonical order.
#include "lang/format/format.h"

#include "lang/format/layout.h"
#include "lang/format/print.h"
#include "lang/syntax/text.h"

namespace sluice::lang {
namespace {

using Blanks = Block::Blanks;

Block line(Mark anchor, std::string head, std::vector<Mark> items = {}) {
  return {.anchor = anchor, .head = std::move(head), .items = std::move(items)};
}

Block prose(Mark anchor, std::string head, std::string text) {
  return {.shape = Block::Shape::prose, .anchor = anchor, .head = std::move(head), .text = std::move(text)};
}

// ---- where the items of the lists stood, in the order in which print.h writes them; none: it has no lists

template <typename Node>
void add_marks(std::vector<Mark>& marks, const std::vector<Node>& nodes) {
  for (const Node& node : nodes) marks.push_back(node.at);
}

std::vector<Mark> marks_of(const Pattern& pattern) {
  std::vector<Mark> marks;
  if (!pattern.other_actions.empty()) marks.push_back(pattern.action.at);  // `{a, b}` is one item
  add_marks(marks, pattern.input);
  if (!pattern.other_variants.empty()) marks.push_back(pattern.variant.at);
  add_marks(marks, pattern.output);
  return marks;
}

// The key and the first field are one item.
std::vector<Mark> marks_of(const Query& query) {
  std::vector<Mark> marks;
  add_marks(marks, query.fields);
  if (query.key && marks.empty()) marks.emplace_back();
  if (query.key) marks[0] = query.key->at;
  return marks;
}

std::vector<Mark> marks_of(const Condition& condition) {
  bool query = condition.kind == Condition::Kind::query || condition.kind == Condition::Kind::no;
  return query ? marks_of(condition.query) : std::vector<Mark>{};
}

std::vector<Mark> marks_of(const Effect& effect) {
  std::vector<Mark> marks;
  if (!effect.candidates.empty()) marks.push_back(effect.candidates[0].at);
  add_marks(marks, effect.arguments);
  return marks;
}

std::vector<Mark> marks_of(const Step& step) {
  std::vector<Mark> marks;
  if (step.condition) return marks;
  add_marks(marks, step.input);
  add_marks(marks, step.output);
  return marks;
}

std::vector<Mark> marks_of(const Type& type) {
  std::vector<Mark> marks;
  if (type.kind == Type::Kind::record) add_marks(marks, type.fields);
  if (type.kind != Type::Kind::record && !type.inner.empty()) return marks_of(type.inner.back());
  return marks;
}

template <typename Node>
std::vector<Mark> marks_of(const std::vector<Node>& nodes) {
  std::vector<Mark> marks;
  add_marks(marks, nodes);
  return marks;
}

template <typename Node>
Block compact(Mark anchor, std::string head, const std::vector<Node>& nodes) {
  Block block{.shape = Block::Shape::compact, .anchor = anchor, .head = std::move(head)};
  for (const auto& node : nodes) block.children.push_back(line(node.at, print(node), marks_of(node)));
  return block;
}

Block next_line(const Next& next, Dialect dialect) {
  return line(next.at, print(next, dialect), marks_of(next.arguments));
}

// ---------------------------------------------------------------------------------------------------------- sync

std::string sync_head(const Sync& sync) {
  std::string annotations;
  for (const auto& name : sync.annotations) {
    if (!annotations.empty()) annotations += ' ';
    annotations += name.text;
  }
  std::string variants;
  for (const auto& variant : sync.retry_variants) variants += (variants.empty() ? "" : ", ") + variant.text;
  if (!variants.empty()) annotations += " retry(" + variants + ")";
  return "sync " + sync.name.text + (annotations.empty() ? "" : " [" + annotations + "]");
}

Block rule(const Sync& sync) {
  Block block{.shape = Block::Shape::indented, .anchor = sync.at, .head = sync_head(sync)};
  if (!sync.purpose.empty()) block.children.push_back(line(sync.purpose_at, "purpose: " + quote(sync.purpose)));
  block.children.push_back(compact(sync.when_at, "when", sync.when));
  if (!sync.where.empty()) block.children.push_back(compact(sync.where_at, "where", sync.where));
  block.children.push_back(compact(sync.then_at, "then", sync.then));
  return block;
}

Block rule(const Guard& guard) {
  Block block{.shape = Block::Shape::indented, .anchor = guard.at, .head = "guard " + guard.name.text};
  if (!guard.purpose.empty()) block.children.push_back(line(guard.purpose_at, "purpose: " + quote(guard.purpose)));
  Block target{.shape = Block::Shape::compact, .anchor = guard.before_at, .head = guard.before ? "before" : "over"};
  target.children.push_back(guard.before ? line(guard.before->at, print(*guard.before, false), marks_of(*guard.before))
                                         : line(guard.over->at, print(*guard.over), marks_of(*guard.over)));
  block.children.push_back(std::move(target));
  if (!guard.where.empty()) block.children.push_back(compact(guard.where_at, "where", guard.where));
  block.children.push_back(compact(guard.require_at, "require", guard.require));
  block.children.push_back(line(guard.else_at,
                                "else " + std::string(guard.engine ? "engine." : "") + guard.variant.text +
                                    print(guard.arguments, Dialect::sync, "[", ";", "]"),
                                marks_of(guard.arguments)));
  for (const Next& next : guard.next) block.children.push_back(next_line(next, Dialect::sync));
  return block;
}

// ------------------------------------------------------------------------------------------------------- concept

std::string concept_head(const Concept& source) {
  std::string head = "concept " + source.name;
  std::string params;
  for (const auto& param : source.params) params += (params.empty() ? "" : ", ") + param.text;
  return params.empty() ? head : head + " [" + params + "]";
}

std::vector<Block> annotations(const Concept& source) {
  std::vector<Block> lines;
  if (source.version) lines.push_back(line(source.version_at, "@version(" + std::to_string(*source.version) + ")"));
  if (source.gate) lines.push_back(line(source.gate_at, "@gate"));
  if (!source.category.empty()) lines.push_back(line(source.category_at, "@category(" + quote(source.category) + ")"));
  if (!source.visibility.empty()) {
    lines.push_back(line(source.visibility_at, "@visibility(" + quote(source.visibility) + ")"));
  }
  return lines;
}

Block state_block(const Concept& source) {
  Block block{.shape = Block::Shape::braces, .anchor = source.state_at, .head = "state", .blanks = Blanks::kept};
  Block* group = nullptr;
  for (const auto& field : source.state) {
    Block component = line(field.at, field.name + ": " + print(field.type), marks_of(field.type));
    if (field.group.empty()) {
      group = nullptr;
      block.children.push_back(std::move(component));
      continue;
    }
    if (group == nullptr || group->head != field.group) {
      block.children.push_back(
          {.shape = Block::Shape::braces, .anchor = field.group_at, .head = field.group, .blanks = Blanks::kept});
      group = &block.children.back();
    }
    group->children.push_back(std::move(component));
  }
  return block;
}

std::string print_duration(int64_t seconds) {
  for (auto [unit, length] : {std::pair{'d', 86400}, {'h', 3600}, {'m', 60}}) {
    if (seconds % length == 0) return std::to_string(seconds / length) + unit;
  }
  return std::to_string(seconds) + "s";
}

std::string print_reversal(const Reversal& reversal) {
  std::string variants;
  for (const auto& variant : reversal.variants) variants += (variants.empty() ? "" : ", ") + variant.text;
  std::string text = "reversal: " + (reversal.action.empty() ? "none" : reversal.action);
  return variants.empty() ? text : text + " (" + variants + ")";
}

Block action_block(const Action& action) {
  Block block{.shape = Block::Shape::braces,
              .anchor = action.at,
              .head = "action " + action.name + "(" + print(action.params) + ")",
              .items = marks_of(action.params),
              .blanks = Blanks::kept};
  auto& clauses = block.children;
  if (!action.description.empty()) clauses.push_back(prose(action.description_at, "description", action.description));
  if (action.right_at) clauses.push_back(line(*action.right_at, "right: " + action.right));
  if (action.impact_at) clauses.push_back(line(*action.impact_at, "effect: " + std::string(name_of(action.impact))));
  if (action.runs_at) clauses.push_back(line(*action.runs_at, "runs: " + std::string(name_of(action.runs))));
  if (action.retry_at) clauses.push_back(line(*action.retry_at, "retry: " + std::string(name_of(action.retry))));
  if (action.deadline_at) {
    clauses.push_back(line(*action.deadline_at, "deadline: " + print_duration(action.deadline_s)));
  }
  if (action.callers_at) clauses.push_back(line(*action.callers_at, "callers: syncs"));
  if (action.reversal) clauses.push_back(line(action.reversal->at, print_reversal(*action.reversal)));
  for (const auto& variant : action.variants) {
    std::string head = "-> " + variant.name;
    if (!variant.fields.empty()) head += "(" + print(variant.fields) + ")";
    if (variant.code) head += " @code(" + variant.code->text + ")";
    clauses.push_back(prose(variant.at, head, variant.prose));
    clauses.back().items = marks_of(variant.fields);
    if (variant.code) clauses.back().items.push_back(variant.code->at);
    for (const Next& next : variant.next) clauses.push_back(next_line(next, Dialect::field));
  }
  for (const auto& fixture : action.fixtures) {
    clauses.push_back(line(fixture.at, print(fixture), marks_of(fixture.input)));
  }
  return block;
}

Block provides_block(const Provides& provides) {
  Block block{.shape = Block::Shape::braces,
              .anchor = provides.at,
              .head = "provides " + provides.concept_.text,
              .blanks = Blanks::kept};
  for (const ProvidedAction& each : provides.actions) {
    std::string head = each.action.text + " -> " + each.target.text;
    if (!each.arguments.empty()) head += " " + print(each.arguments, Dialect::field, "[", ";", "]");
    Block action = line(each.at, head, marks_of(each.arguments));
    if (!each.at_once) {
      action.shape = Block::Shape::braces;
      for (const ProvidedVariant& mapping : each.variants) {
        action.children.push_back(line(mapping.at, print(mapping), marks_of(mapping.fields)));
      }
    }
    block.children.push_back(std::move(action));
  }
  return block;
}

std::string invariant_head(const Invariant& invariant) {
  static constexpr std::string_view kNames[] = {"example",    "forall",   "always", "never",
                                                "eventually", "scenario", "action"};
  std::string head(kNames[static_cast<size_t>(invariant.kind)]);
  if (invariant.kind == Invariant::Kind::contract) return head + " " + invariant.action;
  return invariant.name.empty() ? head : head + " " + quote(invariant.name);
}

// `word a`, `and b`, …
void add_sequence(Block& block, std::string_view word, const std::vector<Step>& steps) {
  for (const auto& step : steps) {
    block.children.push_back(
        line(step.at, std::string(&step == steps.data() ? word : "and") + " " + print(step), marks_of(step)));
  }
}

Block invariant_block(const Invariant& invariant) {
  Block block{.shape = Block::Shape::braces, .anchor = invariant.at, .head = invariant_head(invariant)};
  auto& body = block.children;
  for (const auto& given : invariant.given) {
    std::string text = "given " + given.variable + " in " + print_value(given.in, Dialect::invariant);
    if (given.where) text += " where " + print_condition(*given.where, Dialect::invariant);
    body.push_back(line(given.at, text));
  }
  for (const auto& fixture : invariant.fixtures) {
    body.push_back(line(fixture.at, print(fixture), marks_of(fixture.input)));
  }
  if (invariant.kind == Invariant::Kind::scenario) {
    if (!invariant.before.empty()) body.push_back(compact(invariant.before_at, "given", invariant.before));
    if (!invariant.after.empty()) body.push_back(compact(invariant.after_at, "when", invariant.after));
    if (!invariant.then.empty()) body.push_back(compact(invariant.then_at, "then", invariant.then));
  } else {
    add_sequence(block, "after", invariant.after);
    add_sequence(block, "then", invariant.then);
  }
  for (const auto& condition : invariant.conditions) {
    body.push_back(line(condition.at, print_condition(condition, Dialect::invariant)));
  }
  for (const auto& clause : invariant.clauses) {
    std::string head = clause.requires_ ? "requires" : clause.variant.empty() ? "ensures" : "ensures " + clause.variant;
    body.push_back(line(clause.at, head + ": " + print_condition(clause.condition, Dialect::invariant)));
  }
  if (const auto& settlement = invariant.settlement; settlement.at) {
    std::string text = "settlement: ";
    if (settlement.kind == "sync") {
      text += "sync";
    } else if (settlement.kind == "async-eventually") {
      text += quote(settlement.kind) + " { timeoutMs: " + std::to_string(settlement.timeout_ms) + " }";
    } else {
      text += quote(settlement.kind) + " { anchor: " + quote(settlement.anchor) + " }";
    }
    body.push_back(line(*settlement.at, text));
  }
  return block;
}

}  // namespace

std::string format(const Concept& source) {
  Block block{
      .shape = Block::Shape::braces, .anchor = source.at, .head = concept_head(source), .blanks = Blanks::always};
  auto& sections = block.children;
  if (!source.purpose.empty()) sections.push_back(prose(source.purpose_at, "purpose", source.purpose));
  if (source.parallel_at) sections.push_back(line(*source.parallel_at, "parallel: " + std::to_string(source.parallel)));
  if (!source.kind.empty()) sections.push_back(line(source.kind_at, "kind: " + quote(source.kind)));
  if (source.routed_by) sections.push_back(line(source.routed_by_at, "routed by: " + source.routed_by->text));
  if (!source.state.empty()) sections.push_back(state_block(source));
  if (!source.actions.empty()) {
    Block actions{
        .shape = Block::Shape::braces, .anchor = source.actions_at, .head = "actions", .blanks = Blanks::kept};
    for (const auto& action : source.actions) actions.children.push_back(action_block(action));
    sections.push_back(std::move(actions));
  }
  for (const Provides& provides : source.provides) sections.push_back(provides_block(provides));
  if (!source.capabilities.empty()) {
    Block capabilities{.shape = Block::Shape::braces, .anchor = source.capabilities_at, .head = "capabilities"};
    for (const auto& name : source.capabilities)
      capabilities.children.push_back(line(name.at, "requires " + name.text));
    sections.push_back(std::move(capabilities));
  }
  for (const auto& invariant : source.invariants) sections.push_back(invariant_block(invariant));
  Block root{.shape = Block::Shape::indented, .children = annotations(source), .blanks = Blanks::kept};
  block.joins_above = !root.children.empty();
  for (size_t i = 1; i < root.children.size(); ++i) root.children[i].joins_above = true;
  root.children.push_back(std::move(block));
  return lay_out(std::move(root), source.comments, source.blank_lines);
}

std::string format(const SyncFile& source) {
  Block root{.shape = Block::Shape::indented, .blanks = Blanks::kept};
  for (const auto& one : source.rules) {
    root.children.push_back(std::visit([](const auto& written) { return rule(written); }, one));
  }
  return lay_out(std::move(root), source.comments, source.blank_lines);
}

}  // namespace sluice::lang
