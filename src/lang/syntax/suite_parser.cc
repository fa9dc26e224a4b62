// A walk over the document's tree. Nodes carry their marks, so that everything in the suite knows where it stood.
#include "lang/syntax/suite_parser.h"

#include <algorithm>
#include <boost/json.hpp>
#include <functional>
#include <initializer_list>

#include "base/nearest.h"
#include "base/yaml.h"
#include "lang/syntax/lexer.h"
#include "lang/syntax/text.h"

namespace sluice::lang {
namespace {

constexpr size_t kMaxPath = 4'096;

// A value with its place; `key` is its name in the object around it.
struct Node {
  std::string key;
  const json::value* value = nullptr;
  At at;
  std::vector<Node> children;
};

Node make_node(std::string key, const json::value& value, const std::vector<Mark>& marks, size_t& index) {
  Node node{.key = std::move(key), .value = &value};
  if (index < marks.size()) node.at = {marks[index]};
  ++index;
  if (const auto* object = value.if_object()) {
    for (const auto& member : *object) {
      node.children.push_back(make_node(std::string(member.key()), member.value(), marks, index));
    }
  } else if (const auto* array = value.if_array()) {
    for (const auto& element : *array) node.children.push_back(make_node("", element, marks, index));
  }
  return node;
}

std::string kind_of(const json::value& value) {
  switch (value.kind()) {
    case json::kind::object:
      return "a map";
    case json::kind::array:
      return "a list";
    case json::kind::string:
      return "a string";
    case json::kind::bool_:
      return "true or false";
    case json::kind::null:
      return "nothing";
    default:
      return "a number";
  }
}

class SuiteParser {
 public:
  SuiteParser(std::string file, Diagnostics& found) : file_(std::move(file)), found_(found) { suite_.file = file_; }

  Suite parse(const Node& root) {
    if (!is_map(root)) return std::move(suite_);
    bool named = false;
    walk(root, {{"suite", [&](const Node& node) { named = parse_name(node, named); }},
                {"kit", [&](const Node& node) { named = parse_name(node, named); }},
                {"concepts", [&](const Node& node) { parse_concepts(node, suite_.concepts); }},
                {"syncs", [&](const Node& node) { parse_syncs(node); }},
                {"guards", [&](const Node& node) { read_paths(node, suite_.guards); }},
                {"uses", [&](const Node& node) { parse_uses(node); }},
                {"scope", [&](const Node& node) { parse_scope(node); }},
                {"overrides", [&](const Node& node) { parse_overrides(node); }},
                {"disable", [&](const Node& node) { read_names(node, suite_.disable); }},
                {"dependencies", [&](const Node& node) { read_names(node, suite_.dependencies); }},
                {"rights", [&](const Node& node) { read_names(node, suite_.rights); }},
                {"limits", [&](const Node& node) { parse_limits(node); }},
                {"infrastructure", [](const Node&) {}},
                {"chainConfigs", [](const Node&) {}}});
    if (!named) report(root, "the suite has no name", "begin with `suite:` and its `name:`", "suite-name");
    return std::move(suite_);
  }

 private:
  struct Key {
    std::string_view name;
    std::function<void(const Node&)> read;
  };

  void report(const Node& node, std::string text, std::string hint, std::string rule = "suite-value") {
    uint32_t length = std::max(1u, count_code_points(node.key));
    found_.add({.file = file_,
                .mark = node.at,
                .length = length,
                .text = std::move(text),
                .hint = std::move(hint),
                .rule = std::move(rule)});
  }

  std::string name_of(const Node& node) { return node.key.empty() ? "" : "`" + node.key + "`: "; }

  void expected(const Node& node, std::string_view what, std::string hint = "") {
    if (hint.empty()) hint = "write " + std::string(what);
    report(node, name_of(node) + "expected " + std::string(what) + ", found " + kind_of(*node.value), std::move(hint));
  }

  bool is_map(const Node& node) {
    if (!node.value->is_object()) expected(node, "a map");
    return node.value->is_object();
  }

  bool is_list(const Node& node) {
    if (!node.value->is_array()) expected(node, "a list");
    return node.value->is_array();
  }

  // Gives each member to its reader; a member that has none is an error.
  void walk(const Node& map, std::initializer_list<Key> keys) {
    for (const auto& member : map.children) {
      auto key = std::ranges::find(keys, member.key, &Key::name);
      if (key != keys.end()) {
        key->read(member);
        continue;
      }
      std::vector<std::string_view> names;
      std::string list;
      for (const auto& known : keys) {
        names.push_back(known.name);
        list += (list.empty() ? "" : ", ") + std::string(known.name);
      }
      auto near = nearest(member.key, names);
      report(member, "unknown key `" + member.key + "`", near ? "write `" + *near + "`" : "the keys are " + list,
             "unknown-key");
    }
  }

  void read(const Node& node, std::string& into) {
    if (!node.value->is_string()) {
      bool scalar = !node.value->is_structured() && !node.value->is_null();
      return expected(node, "a string", scalar ? "put it in quotes" : "");
    }
    into = node.value->as_string();
    if (into.empty()) report(node, name_of(node) + "may not be empty", "write a name or a path, or leave it out");
  }

  // A path, or a way of a scope.
  void read_path(const Node& node, std::string& into) {
    read(node, into);
    if (into.size() <= kMaxPath) return;
    report(node, "a path has at most 4,096 characters", "shorten it");
    into.clear();
    too_long_ = true;
  }

  // A name that is written here; false if it is none.
  bool read_name(const Node& node, std::string& into) {
    size_t before = found_.errors();
    read(node, into);
    if (found_.errors() > before || is_rule_name(into)) return found_.errors() == before;
    report(node, std::string(kRuleName), "write one such as `SendParcel` or `order-ref`");
    into.clear();
    return false;
  }

  // The key of a member, as a name; false if it is none.
  bool is_named(const Node& member) {
    if (is_rule_name(member.key)) return true;
    report(member, std::string(kRuleName), "write one such as `SendParcel` or `order-ref`");
    return false;
  }

  void read(const Node& node, bool& into) {
    if (!node.value->is_bool()) return expected(node, "true or false");
    into = node.value->as_bool();
  }

  void read_names(const Node& list, std::vector<Name>& into) {
    if (!is_list(list)) return;
    for (const auto& item : list.children) {
      into.push_back({.at = item.at});
      if (!read_name(item, into.back().text)) into.pop_back();
    }
  }

  void read_paths(const Node& list, std::vector<Name>& into) {
    if (!is_list(list)) return;
    for (const auto& item : list.children) {
      into.push_back({.at = item.at});
      read_path(item, into.back().text);
      if (into.back().text.empty()) into.pop_back();
    }
  }

  bool parse_name(const Node& node, bool named) {
    if (named) report(node, "a second name of the suite", "keep one of `suite:` and `kit:`", "suite-name");
    if (!is_map(node)) return true;
    walk(node, {{"name", [&](const Node& value) { read_kit_name(value); }},
                {"version", [&](const Node& value) { read(value, suite_.version); }},
                {"description", [&](const Node& value) { read(value, suite_.description); }}});
    if (suite_.name.empty()) report(node, "the suite has no name", "write `name:`", "suite-name");
    return true;
  }

  void read_kit_name(const Node& node) {
    read(node, suite_.name);
    if (suite_.name.empty() || is_kit_name(suite_.name)) return;
    report(node, std::string(kKitName), "write one such as `order-desk`", "suite-name");
  }

  void parse_params(const Node& node, SuiteConcept& entry) {
    if (!is_map(node)) return;
    for (const auto& member : node.children) {
      SuiteConcept::Param param{.at = member.at, .name = member.key};
      if (!is_named(member) || !is_map(member)) continue;
      bool told = false;
      walk(member, {{"as", [&](const Node& value) { told = !read_name(value, param.as); }},
                    {"description", [&](const Node& value) { read(value, param.description); }}});
      if (told) continue;
      if (param.as.empty()) report(member, "parameter `" + member.key + "` has no tag", "write `{ as: tag }`");
      entry.params.push_back(std::move(param));
    }
  }

  void parse_concepts(const Node& node, std::vector<SuiteConcept>& into) {
    if (!is_map(node)) return;
    for (const auto& member : node.children) {
      SuiteConcept entry{.at = member.at, .name = member.key};
      if (!is_named(member) || !is_map(member)) continue;
      too_long_ = false;
      walk(member, {{"spec", [&](const Node& value) { read_path(value, entry.spec); }},
                    {"params", [&](const Node& value) { parse_params(value, entry); }},
                    {"optional", [&](const Node& value) { read(value, entry.optional); }}});
      if (too_long_) continue;
      if (entry.spec.empty()) {
        report(member, "concept `" + member.key + "` has no file", "write `spec: ./concepts/….concept`");
      }
      into.push_back(std::move(entry));
    }
  }

  void parse_sync_list(const Node& list, Tier tier, std::vector<SuiteSync>& into) {
    if (!is_list(list)) return;
    for (const auto& item : list.children) {
      SuiteSync entry{.at = item.at, .tier = tier};
      bool named = true;
      too_long_ = false;
      if (item.value->is_string()) {
        read_path(item, entry.path);
      } else if (is_map(item)) {
        walk(item, {{"path", [&](const Node& value) { read_path(value, entry.path); }},
                    {"name", [&](const Node& value) { read_name(value, entry.name); }},
                    {"sync", [&](const Node& value) { named = read_name(value, entry.sync); }},
                    {"description", [&](const Node& value) { read(value, entry.description); }}});
        if (!named || too_long_) continue;
        if (entry.path.empty()) report(item, "the sync has no file", "write `path: ./syncs/….sync`");
      }
      into.push_back(std::move(entry));
    }
  }

  void parse_syncs(const Node& node) {
    if (!is_map(node)) return;
    walk(node, {{"required", [&](const Node& list) { parse_sync_list(list, Tier::required, suite_.syncs); }},
                {"recommended", [&](const Node& list) { parse_sync_list(list, Tier::recommended, suite_.syncs); }},
                {"integration", [&](const Node& list) { parse_sync_list(list, Tier::integration, suite_.syncs); }}});
  }

  void parse_uses(const Node& node) {
    if (!is_list(node)) return;
    for (const auto& item : node.children) {
      SuiteUse use{.at = item.at};
      if (!is_map(item)) continue;
      bool named = true;
      walk(item, {{"suite",
                   [&](const Node& value) {
                     read(value, use.suite);
                     named = use.suite.size() <= kMaxIdentifier;
                     if (!named) report(value, std::string(kKitName), "write one such as `order-desk`");
                     use.at = value.at;
                   }},
                  {"optional", [&](const Node& value) { read(value, use.optional); }},
                  {"concepts", [&](const Node& value) { parse_used_concepts(value, use.concepts); }},
                  // What binds this suite to another is active only when that one is there.
                  {"syncs", [&](const Node& value) { parse_sync_list(value, Tier::integration, use.syncs); }}});
      if (!named) continue;
      if (use.suite.empty()) report(item, "the suite that is used has no name", "write `suite:`");
      suite_.uses.push_back(std::move(use));
    }
  }

  void parse_used_concepts(const Node& node, std::vector<SuiteConcept>& into) {
    if (!is_list(node)) return;
    for (const auto& item : node.children) {
      SuiteConcept entry{.at = item.at};
      if (!is_map(item)) continue;
      bool named = true;
      walk(item, {{"name", [&](const Node& value) { named = read_name(value, entry.name); }},
                  {"params", [&](const Node& value) { parse_params(value, entry); }}});
      if (!named) continue;
      if (entry.name.empty()) report(item, "the concept has no name", "write `name:`");
      into.push_back(std::move(entry));
    }
  }

  void parse_scope(const Node& node) {
    if (!is_map(node)) return;
    for (const auto& member : node.children) {
      std::vector<Name> paths;
      if (!is_named(member)) continue;
      if (member.value->is_array()) {
        read_paths(member, paths);
      } else {
        read_path(member, paths.emplace_back(Name{.at = member.at}).text);
      }
      for (Name& each : paths) {
        if (each.text.empty()) continue;
        suite_.scopes.push_back({.at = member.at, .concept_ = member.key, .path = std::move(each.text)});
      }
    }
  }

  void parse_overrides(const Node& node) {
    if (!is_map(node)) return;
    for (const auto& member : node.children) {
      SuiteOverride entry{.name = {member.at, member.key}};
      if (is_named(member)) read_path(member, entry.path);
      if (!entry.path.empty()) suite_.overrides.push_back(std::move(entry));
    }
  }

  void parse_limits(const Node& node) {
    if (!is_map(node)) return;
    walk(node, {{"cascade", [&](const Node& value) {
                   const auto* number = value.value->if_int64();
                   if (number == nullptr || *number < 1) {
                     return report(value, "`cascade`: expected a whole number from 1", "write `cascade: 100000`");
                   }
                   suite_.cascade_limit = *number;
                 }}});
  }

  std::string file_;
  Diagnostics& found_;
  Suite suite_;
  bool too_long_ = false;  // a path of the entry, which is told
};

}  // namespace

bool is_kit_name(std::string_view name) {
  bool characters =
      std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
  return !name.empty() && name.size() <= 64 && characters && name[0] >= 'a' && name[0] <= 'z';
}

bool is_rule_name(std::string_view name) {
  auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  bool characters =
      std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; });
  return !name.empty() && name.size() <= kMaxIdentifier && characters && is_letter(name[0]);
}

std::optional<Suite> parse_suite(const Document& document, Diagnostics& found) {
  size_t index = 0;
  Node root = make_node("", document.root, document.marks, index);
  return SuiteParser(document.file, found).parse(root);
}

std::optional<Suite> parse_suite(std::string_view text, const std::string& file, Diagnostics& found) {
  if (!check_source(text, file, found)) return std::nullopt;
  auto document = parse_yaml(text, file);
  if (!document) {
    const Error& error = document.error();
    Diagnostic fault{.file = file, .mark = {1, 1}, .text = error.message, .hint = error.next, .rule = "yaml"};
    if (fault.hint.empty()) fault.hint = "write it as YAML: `key: value`, lists as `- item`, two blanks a level";
    if (error.position) fault.mark = {error.position->line, error.position->column};
    found.add(std::move(fault));
    return std::nullopt;
  }
  return parse_suite(*document, found);
}

std::optional<Suite> load_suite(const std::string& path, Diagnostics& found) {
  auto text = read_source(path);
  if (!text) {
    found.add(unreadable(path, text.error()));
    return std::nullopt;
  }
  return parse_suite(*text, path, found);
}

}  // namespace sluice::lang
