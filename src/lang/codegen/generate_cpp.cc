// The header and the source, from top to bottom as a reader meets them. Types come from lang/codegen/cpp_types.h, the
// State from lang/codegen/generate_state.h.
#include "lang/codegen/generate_cpp.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "lang/check/relations.h"
#include "lang/codegen/cpp_names.h"
#include "lang/codegen/cpp_types.h"
#include "lang/codegen/generate_state.h"
#include "lang/run/contract.h"

namespace sluice::lang {
namespace {

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// The names that stand for something in a struct with these members: their own, and those of their types.
void add_names_used(const std::vector<CppMember>& members, std::set<std::string>& used) {
  auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (const CppMember& member : members) {
    used.insert(member.name);
    for (size_t at = 0; at < member.type.size(); at++) {
      size_t end = at;
      while (end < member.type.size() && is_part(member.type[end])) end++;
      used.insert(member.type.substr(at, end - at));
      at = end;
    }
  }
}

// An action's struct with its variants, and their descriptions.
Result<std::string> action_struct(const Action& action, CppTypes& types) {
  const std::string& type = types.action_of(action);
  auto params = types.members(action.params, type);
  if (!params) return params.error();
  // A variant's struct must not hide what the action's struct means by the name.
  std::set<std::string> taken{type, type + "Work", "Result", "Variant", "Begun", "Performed", "Outcome", "Ended"};
  add_names_used(*params, taken);
  std::vector<std::vector<CppMember>> all_fields;
  for (const Variant& variant : action.variants) {
    auto fields = types.members(variant.fields, type + type_word(variant.name));
    if (!fields) return fields.error();
    add_names_used(*fields, taken);
    all_fields.push_back(*std::move(fields));
  }
  std::string body;
  std::string described = cpp_describe(type, *params);
  std::vector<std::string> structs, enumerators, names;
  for (size_t i = 0; i < action.variants.size(); i++) {
    const Variant& variant = action.variants[i];
    const std::vector<CppMember>& fields = all_fields[i];
    std::string name = type_name(type_word(variant.name));
    while (!taken.insert(name).second) name += "_";
    body += "\n" + comment(variant.prose, 2) + "  struct " + name + " {\n" + cpp_members(fields, 4);
    body += "\n    static constexpr std::string_view kVariant = " + cpp_string(variant.name) + ";\n";
    body += "    bool operator==(const " + name + "&) const = default;\n  };\n";
    described += cpp_describe(type + "::" + name, fields);
    structs.push_back(name);
    enumerators.push_back(member_name(variant.name));
    names.push_back(cpp_string(variant.name));
  }
  body += "\n  using Result = lang::OneOf<" + join(structs) + ">;\n";
  body += "  enum class Variant { " + join(enumerators) + " };\n";
  bool engine_may_end = action.runs == Runs::effect || action.is_answered();
  if (engine_may_end) {
    std::string work = action.is_answered() ? "lang::Opened" : type + "Work";
    body += "\n  // What begin gives back: the action is open, or has ended.\n";
    body += "  using Begun = lang::OneOf<" + join(structs) + ", " + work + ">;\n";
    if (action.runs == Runs::effect) {
      body += "  // What perform gives back: how it ended, or that nothing was done and it wants to be called again.\n";
      body += "  using Performed = lang::OneOf<" + join(structs) + ", lang::Again>;\n";
    }
    body += "  // What finish is given and gives back: a variant, or that the engine ended the action.\n";
    body += "  using Outcome = lang::OneOf<" + join(structs) + ", lang::EngineEnd>;\n";
    body += "  enum class Ended { " + join(enumerators) + ", engine };\n";
  }
  body += "\n  static constexpr std::string_view kAction = " + cpp_string(action.name) + ";\n";
  body += "  static constexpr std::array<std::string_view, " + std::to_string(names.size()) + "> kVariants{" +
          join(names) + "};\n";
  body += "  bool operator==(const " + type + "&) const = default;\n";
  std::string text = "\n" + comment(action.description, 0);
  text += "struct " + type + " {\n" + cpp_members(*params, 2) + body + "};\n" + described;
  text += "inline " + type + "::Variant variant_of(const " + type + "::Result& result) {\n";
  text += "  return static_cast<" + type + "::Variant>(result.index());\n}\n";
  if (engine_may_end) {
    text += "inline " + type + "::Ended ended_of(const " + type + "::Outcome& outcome) {\n";
    text += "  return static_cast<" + type + "::Ended>(outcome.index());\n}\n";
  }
  return text;
}

// `ship` in `begin_ship`.
std::string handler_stem(const Action& action) {
  std::string name = snake_case(action.name);
  return name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
}

std::string handler_declarations(const Concept& spec, const CppTypes& types) {
  std::string text;
  for (const Action& action : spec.actions) {
    const std::string& type = types.action_of(action);
    std::string name = handler_stem(action);
    if (action.runs == Runs::pure || action.runs == Runs::query) {
      text += "  static " + type + "::Result " + function_name(action.name) + "(const " + type + "& ask, " +
              (action.runs == Runs::query ? "const " : "") + "State& state);\n";
      continue;
    }
    text += "  static " + type + "::Begun begin_" + name + "(const " + type + "& ask, State& state);\n";
    if (action.runs == Runs::effect) {
      text += "  static " + type + "::Performed perform_" + name + "(const " + type + "Work& work, Effect& effect);\n";
    }
    if (action.runs == Runs::effect && action.retry == Retry::probe) {
      text += "  static lang::Probed<" + type + "::Result> probe_" + name + "(const " + type +
              "Work& work, Effect& effect);\n";
    }
    text += "  static " + type + "::Outcome finish_" + name + "(const " + type + "& ask, const " + type +
            "::Outcome& outcome, State& state);\n";
  }
  return text;
}

// As lang/run/bind.h and the enumeration spell it.
std::string binder_name(Runs runs) {
  std::string name(name_of(runs));
  std::ranges::replace(name, ' ', '_');
  return name;
}

std::string bound_action(const Action& action, const CppTypes& types) {
  const std::string& type = types.action_of(action);
  auto handler = [&](const std::string& part) { return "&" + types.handlers() + "::" + part + handler_stem(action); };
  std::string deadline = std::to_string(action.deadline_s);
  switch (action.runs) {
    case Runs::pure:
    case Runs::query:
      return "lang::bind::" + binder_name(action.runs) + "<" + type + ", State>(&" + types.handlers() +
             "::" + function_name(action.name) + ")";
    case Runs::answered:
    case Runs::answered_outside:
      return "lang::bind::answered<" + type + ", State>(lang::Runs::" + binder_name(action.runs) + ", " + deadline +
             ", " + handler("begin_") + ", " + handler("finish_") + ")";
    case Runs::effect:
      break;
  }
  std::string parts = handler("begin_") + ", " + handler("perform_") + ", " + handler("finish_");
  std::string arguments = "<" + type + ", " + type + "Work, State>(";
  if (action.retry == Retry::probe) {
    return "lang::bind::probed_effect" + arguments + deadline + ", " + parts + ", " + handler("probe_") + ")";
  }
  return "lang::bind::effect" + arguments + "lang::Retry::" + (action.retry == Retry::safe ? "safe" : "never") + ", " +
         deadline + ", " + parts + ")";
}

std::string binding_definition(const Concept& spec, const CppOptions& options, const CppTypes& types,
                               const StateText& state) {
  std::string text = "\nconst lang::ConceptBinding& " + options.stem + "_binding() {\n";
  text += "  static const lang::ConceptBinding kBinding{\n";
  text += "      .name = " + cpp_string(spec.name) + ",\n";
  text += "      .version = " + std::to_string(spec.version.value_or(0)) + ",\n";
  text += "      .parallel = " + std::to_string(spec.parallel) + ",\n";
  text += "      .contract = {\n";
  for (const std::string& line : contract_of(spec)) text += "          " + cpp_string(line) + ",\n";
  text += "      },\n";
  text += "      .relations = {\n" + state.relations + "      },\n";
  text += "      .actions = {\n";
  for (const Action& action : spec.actions) text += "          " + bound_action(action, types) + ",\n";
  return text + "      }};\n  return kBinding;\n}\n";
}

}  // namespace

Result<void> check_options(const CppOptions& options) {
  if (!is_namespace(options.ns)) {
    return Error{.code = Code::usage,
                 .message = "--namespace: \"" + options.ns + "\" is no namespace that C++ can have",
                 .next = "write names with `::` between them, none a C++ word or macro: sluice::deploy::rollout"};
  }
  if (!is_identifier(options.stem)) {
    return Error{.code = Code::usage,
                 .message = "--stem: \"" + options.stem + "\" is no name that C++ can have",
                 .next = "write letters, digits and underscores, a letter first: " + function_name(options.stem)};
  }
  return {};
}

Result<CppFiles> generate_cpp(const Concept& spec, const CppOptions& options) {
  CppTypes types(spec);
  auto state = generate_state(spec, types, options.handlers);
  if (!state) return state.error();
  std::string actions;
  std::string works;
  for (const Action& action : spec.actions) {
    auto text = action_struct(action, types);
    if (!text) return text.error();
    actions += *text;
    if (action.runs == Runs::effect) works += "struct " + types.action_of(action) + "Work;\n";
  }

  std::string made = "// Made by conceptc from " + options.source + "; changes belong there.\n";
  std::string header = comment(spec.name + ": " + (spec.purpose.empty() ? "a concept." : spec.purpose), 0) + made;
  header +=
      "#pragma once\n\n#include <array>\n#include <compare>\n#include <cstdint>\n#include <map>\n"
      "#include <optional>\n#include <string>\n#include <string_view>\n#include <vector>\n\n"
      "#include \"base/json_fields.h\"\n#include \"lang/run/handler.h\"\n#include \"lang/run/state.h\"\n";
  std::string open = "\nnamespace " + options.ns + " {\n";
  std::string close = "\n}  // namespace " + options.ns + "\n";
  header +=
      open + "\nnamespace lang = ::sluice::lang;\nusing Effect = lang::Attempt;\n" + types.ids() + types.enumerations();
  if (std::string scalars = types.scalars(options.ns); !scalars.empty()) {
    header += close + "\nnamespace sluice {\n" + scalars + "\n}  // namespace sluice\n" + open;
  }
  header += types.records() + state->records + "\n// ---- actions and their variants\n";
  if (!works.empty()) header += "\n// What perform is given; " + options.work_header + " defines them.\n" + works;
  header += actions + "\n" + state->declaration;
  header += "\n// The handlers, which " + options.stem + ".cc defines.\nstruct " + types.handlers() + " {\n" +
            handler_declarations(spec, types) + "};\n";
  header += "\n// The same for the engine: lang/run/binding.h.\nconst lang::ConceptBinding& " + options.stem +
            "_binding();\n" + close;

  std::string source = "// The state and the binding of " + spec.name + ".\n" + made;
  source += "#include \"" + options.stem + ".gen.h\"\n\n";
  if (!works.empty()) source += "#include \"" + options.work_header + "\"\n";
  source += "#include \"lang/run/bind.h\"\n#include \"lang/check/relations.h\"\n" + open + state->definition +
            binding_definition(spec, options, types, *state) + close;
  return CppFiles{.header = std::move(header), .source = std::move(source)};
}

}  // namespace sluice::lang
