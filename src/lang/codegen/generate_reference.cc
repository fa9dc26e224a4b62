// The page from top to bottom.
#include "lang/codegen/generate_reference.h"

#include "base/json.h"
#include "lang/codegen/cpp_names.h"

namespace sluice::lang {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '|' || c == '<' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string code(std::string_view text) {
  // In a table a bar ends the cell even between back quotes.
  std::string result = "`";
  for (char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result + "`";
}

std::string fields_text(const std::vector<FieldDecl>& fields) {
  std::string text;
  for (const FieldDecl& field : fields) {
    text += (text.empty() ? "" : ", ") + field.name + ": " + type_text(field.type[0]);
  }
  return text;
}

std::string runs_text(const Action& action) {
  switch (action.runs) {
    case Runs::pure:
      return "Runs inside the step.";
    case Runs::query:
      return "Reads; is not journaled.";
    case Runs::answered:
      return "Is answered by what its syncs do; `ok` means done.";
    case Runs::answered_outside:
      return "Is answered from outside and may stay open.";
    case Runs::effect:
      break;
  }
  std::string retry = action.retry == Retry::safe    ? "may be repeated"
                      : action.retry == Retry::probe ? "is probed before it is repeated"
                                                     : "is never repeated by itself";
  return "Touches the world; " + retry + ". Deadline " + std::to_string(action.deadline_s) + " s.";
}

std::string value_text(const Expr& expr) {
  switch (expr.op) {
    case Expr::Op::fixture:
      return "$" + expr.name + "." + expr.keys[0];
    case Expr::Op::list: {
      std::string text;
      for (const Expr& part : expr.args) text += (text.empty() ? "" : ", ") + value_text(part);
      return "[" + text + "]";
    }
    case Expr::Op::record: {
      std::string text;
      for (size_t i = 0; i < expr.args.size(); i++) {
        text += (text.empty() ? "" : ", ") + expr.keys[i] + ": " + value_text(expr.args[i]);
      }
      return "{ " + text + " }";
    }
    default:
      return write(expr.value);
  }
}

std::string fixture_text(const Fixture& fixture) {
  std::string input;
  for (const Argument& argument : fixture.input) {
    input += (input.empty() ? "" : ", ") + argument.name + ": " + value_text(argument.value);
  }
  std::string text = "- " + code(fixture.name) + ": " + code("{ " + input + " }");
  for (const Name& before : fixture.after)
    text += (&before == &fixture.after[0] ? " after " : ", ") + code(before.text);
  return text + " → " + code(fixture.variant) + "\n";
}

std::string action_text(const Action& action) {
  std::string text = "\n### " + action.name + "\n\n`" + action.name + "(" + fields_text(action.params) + ")`\n\n";
  if (!action.description.empty()) text += escaped(one_line(action.description)) + "\n\n";
  text += runs_text(action);
  if (action.right_at) text += " Needs the right " + code(action.right) + ".";
  if (action.impact_at) text += " Effect: " + std::string(name_of(action.impact)) + ".";
  if (action.callers == Callers::syncs) text += " Called by syncs alone.";
  if (action.reversal && !action.reversal->action.empty()) text += " Undone by `" + action.reversal->action + "`.";
  text += "\n\n| outcome | fields | meaning |\n|---|---|---|\n";
  for (const Variant& variant : action.variants) {
    std::string fields = fields_text(variant.fields);
    text += "| " + code(variant.name) + " | " + (fields.empty() ? "" : code(fields)) + " | " +
            escaped(one_line(variant.prose));
    if (variant.code) text += " Exit code of " + code(variant.code->text) + ".";
    text += " |\n";
  }
  if (!action.fixtures.empty()) text += "\nFixtures:\n\n";
  for (const Fixture& fixture : action.fixtures) text += fixture_text(fixture);
  return text;
}

std::string invariant_text(const Invariant& invariant) {
  switch (invariant.kind) {
    case Invariant::Kind::example:
      return "an example of how actions follow each other";
    case Invariant::Kind::forall:
      return "holds for every value that the fixtures give";
    case Invariant::Kind::always:
      return "holds after every action";
    case Invariant::Kind::never:
      return "never holds after an action";
    case Invariant::Kind::contract:
      return "a contract: what the action requires and ensures";
    case Invariant::Kind::eventually:
      return "comes to hold; needs syncs and a clock, so kit tests run it";
    case Invariant::Kind::scenario:
      return "a scenario; needs syncs and a clock, so kit tests run it";
  }
  return {};
}

}  // namespace

std::string type_text(const Type& type) {
  switch (type.kind) {
    case Type::Kind::primitive:
    case Type::Kind::named:
      return type.name;
    case Type::Kind::set:
      return "set " + type_text(type.inner[0]);
    case Type::Kind::list:
      return "list " + type_text(type.inner[0]);
    case Type::Kind::option:
      return "option " + type_text(type.inner[0]);
    case Type::Kind::record:
      return "{ " + fields_text(type.fields) + " }";
    case Type::Kind::names:
    case Type::Kind::literals: {
      std::string text;
      for (const std::string& literal : type.literals) text += (text.empty() ? "\"" : " | \"") + literal + "\"";
      return text;
    }
    case Type::Kind::mapping:
      return type_text(type.inner[0]) + " -> " + type_text(type.inner[1]);
  }
  return {};
}

std::string generate_reference(const Concept& spec) {
  std::string text = "# " + spec.name + "\n\n";
  if (!spec.purpose.empty()) text += escaped(one_line(spec.purpose)) + "\n\n";
  if (spec.version) text += "Version " + std::to_string(*spec.version) + ".\n\n";
  text += "## Actions\n";
  for (const Action& action : spec.actions) text += action_text(action);
  text += "\n## State\n\n| field | type |\n|---|---|\n";
  for (const StateField& field : spec.state)
    text += "| " + code(field.name) + " | " + code(type_text(field.type)) + " |\n";
  if (!spec.invariants.empty()) text += "\n## Invariants\n\n";
  for (const Invariant& invariant : spec.invariants) {
    std::string name = invariant.kind == Invariant::Kind::contract ? invariant.action : invariant.name;
    text += "- " + (name.empty() ? "" : "**" + escaped(name) + "**: ") + invariant_text(invariant) + ".\n";
  }
  return text;
}

}  // namespace sluice::lang
