// One walk over the tree: names become slots, calls become functions, and each node gives its type.
#include "render/cel/check.h"

#include <algorithm>

namespace sluice::cel {
namespace {

// Thrown inside this file alone, as in the parser.
struct Refusal {
  Error error;
};

class Checker {
 public:
  Checker(Expression& expression, const Environment& environment, TypePool& types, Checking checking)
      : text_(expression.text),
        constants_(expression.constants),
        environment_(environment),
        types_(types),
        strict_(checking == Checking::strict),
        slots_(environment.variables()) {}

  Checked run(Node& root) {
    const Type* type = of(root);
    return {.type = bindings_.resolve(type, types_, true), .slots = slots_};
  }

 private:
  struct Local {
    std::string name;
    const Type* type;
    size_t slot;
  };

  // Strictly an error; else the node fails when it is evaluated.
  const Type* refuse(Node& node, std::string message) {
    if (strict_) {
      throw Refusal{{.code = Code::invalid, .message = std::move(message), .position = place_of(text_, node.offset)}};
    }
    node.what = Syntax::constant;
    node.constant = constants_.fault(message, node.offset);
    node.parts.clear();
    return types_.dynamic();
  }
  // A type that does not fit: lenient checking leaves it to the evaluation.
  const Type* mismatch(const Node& node, std::string message) {
    if (strict_) {
      throw Refusal{{.code = Code::invalid, .message = std::move(message), .position = place_of(text_, node.offset)}};
    }
    return types_.dynamic();
  }

  std::string shown(const Type* type) { return to_string(*bindings_.resolve(type, types_, true)); }

  const Type* of(Node& node) {
    switch (node.what) {
      case Syntax::constant:
        return of_constant(node.constant);
      case Syntax::name:
        return of_name(node);
      case Syntax::select:
        return of_select(node);
      case Syntax::index:
        return of_index(node);
      case Syntax::call:
        return of_call(node);
      case Syntax::list:
        return of_list(node);
      case Syntax::map:
        return of_map(node);
      case Syntax::conditional:
        return of_conditional(node);
      case Syntax::every:
      case Syntax::some:
        for (auto& part : node.parts) want(part, TypeKind::boolean);
        return types_.basic(TypeKind::boolean);
      case Syntax::loop:
        return of_loop(node);
      case Syntax::optional_map:
        return of_optional_map(node);
      case Syntax::bind:
        return of_bind(node);
    }
    return types_.dynamic();
  }

  const Type* of_constant(const Value& value) {
    const auto kind = runtime_type(value.kind)->kind;
    return types_.basic(kind);
  }

  void want(Node& node, TypeKind wanted) {
    const Type* type = of(node);
    if (bindings_.assignable(types_.basic(wanted), type)) return;
    mismatch(node, "expected " + to_string(*types_.basic(wanted)) + ", found " + shown(type));
  }

  const Type* fresh() { return types_.parameter("T"); }

  // --- names ------------------------------------------------------------------------------------------------

  const Local* local(std::string_view name) const {
    const auto found =
        std::find_if(locals_.rbegin(), locals_.rend(), [&](const Local& each) { return each.name == name; });
    return found == locals_.rend() ? nullptr : &*found;
  }

  // "a.b.c" of a chain of plain selects of a name; empty if the node is none.
  static std::string path_of(const Node& node) {
    if (node.what == Syntax::name) return node.text;
    if (node.what != Syntax::select || node.optional || node.test || node.slot >= 0) return "";
    const auto before = path_of(node.parts[0]);
    return before.empty() ? "" : before + "." + node.text;
  }
  static const Node& root_of(const Node& node) { return node.what == Syntax::name ? node : root_of(node.parts[0]); }

  // The names that `name` may be short for, the innermost first.
  std::vector<std::string> candidates(const std::string& name, bool absolute) const {
    std::vector<std::string> all;
    if (!absolute) {
      for (auto container = environment_.container(); !container.empty();) {
        all.push_back(container + "." + name);
        const auto dot = container.rfind('.');
        container = dot == std::string::npos ? "" : container.substr(0, dot);
      }
    }
    all.push_back(name);
    return all;
  }

  int32_t variable(const std::string& name, bool absolute) const {
    for (const auto& each : candidates(name, absolute)) {
      if (const auto found = environment_.variable(each); found >= 0) return found;
    }
    return -1;
  }

  // bool, int, list…: a type is a value too.
  const Type* type_named(Node& node, const std::string& name) {
    static constexpr Kind kKinds[] = {
        Kind::null, Kind::boolean, Kind::integer, Kind::unsigned_integer, Kind::real,     Kind::string,  Kind::bytes,
        Kind::list, Kind::map,     Kind::type,    Kind::timestamp,        Kind::duration, Kind::optional};
    for (const auto kind : kKinds) {
      if (cel::name_of(kind) != name) continue;
      node.what = Syntax::constant;
      node.constant = Value::of(runtime_type(kind));
      node.parts.clear();
      return types_.type(runtime_type(kind));
    }
    return nullptr;
  }

  const Type* of_name(Node& node) {
    if (const auto* found = node.absolute ? nullptr : local(node.text)) {
      node.slot = static_cast<int32_t>(found->slot);
      return found->type;
    }
    node.slot = variable(node.text, node.absolute);
    if (node.slot >= 0) return environment_.type_of(node.slot);
    if (const Type* type = type_named(node, node.text)) return type;
    return refuse(node, "there is no '" + node.text + "' here");
  }

  const Type* of_select(Node& node) {
    if (!node.test && !node.optional) {
      const auto path = path_of(node);
      if (!path.empty() && !(local(root_of(node).text) && !root_of(node).absolute)) {
        const int32_t found = variable(path, root_of(node).absolute);
        if (found >= 0) {
          node.slot = found;
          node.parts.clear();
          return environment_.type_of(found);
        }
        if (const Type* type = type_named(node, path)) return type;
      }
    }
    const Type* target = bindings_.resolve(of(node.parts[0]), types_, false);
    bool within_optional = false;
    if (target->kind == TypeKind::optional) {
      within_optional = true;
      target = bindings_.resolve(target->inner[0], types_, false);
    }
    const Type* field = field_of(node, *target);
    if (node.test) return types_.basic(TypeKind::boolean);
    return within_optional || node.optional ? types_.optional(field) : field;
  }

  const Type* field_of(const Node& node, const Type& target) {
    switch (target.kind) {
      case TypeKind::dynamic:
      case TypeKind::parameter:
        return types_.dynamic();
      case TypeKind::map:
        return target.inner[1];
      case TypeKind::object: {
        if (const auto found = target.fields.find(node.text); found != target.fields.end()) return found->second;
        if (target.other_fields) return target.other_fields;
        std::string known;
        for (const auto& [name, type] : target.fields) known += (known.empty() ? "" : ", ") + name;
        return mismatch(node, "there is no '" + node.text + "' here" + (known.empty() ? "" : "; there are " + known));
      }
      default:
        return mismatch(node, "a value of type " + shown(&target) + " has no fields");
    }
  }

  const Type* of_index(Node& node) {
    const Type* target = bindings_.resolve(of(node.parts[0]), types_, false);
    const Type* index = of(node.parts[1]);
    bool within_optional = false;
    if (target->kind == TypeKind::optional) {
      within_optional = true;
      target = bindings_.resolve(target->inner[0], types_, false);
    }
    const Type* item = types_.dynamic();
    if (target->kind == TypeKind::list) {
      item = target->inner[0];
      if (!bindings_.assignable(types_.basic(TypeKind::integer), index)) {
        mismatch(node.parts[1], "the index of a list is an int, not " + shown(index));
      }
    } else if (target->kind == TypeKind::map) {
      item = target->inner[1];
      if (!bindings_.assignable(target->inner[0], index)) {
        mismatch(node.parts[1], "the keys of this map are " + shown(target->inner[0]) + ", not " + shown(index));
      }
    } else if (target->kind == TypeKind::object) {
      if (node.parts[1].what == Syntax::constant && node.parts[1].constant.is(Kind::string)) {
        Node named{
            .what = Syntax::select, .offset = node.parts[1].offset, .text = std::string(node.parts[1].constant.text)};
        item = field_of(named, *target);
      }
    } else if (target->kind != TypeKind::dynamic && target->kind != TypeKind::parameter) {
      mismatch(node, "a value of type " + shown(target) + " has no index");
    }
    return within_optional || node.optional ? types_.optional(item) : item;
  }

  // --- calls ------------------------------------------------------------------------------------------------

  const Function* function(const std::string& name) const {
    for (const auto& each : candidates(name, false)) {
      if (const auto* found = environment_.function(each)) return found;
    }
    return nullptr;
  }

  const Type* of_call(Node& node) {
    if (node.receiver) {
      // math.ceil(x): what stands before the dot is a part of the name.
      const auto path = path_of(node.parts[0]);
      if (!path.empty() && !local(root_of(node.parts[0]).text)) {
        if (function(path + "." + node.text)) {
          node.text = path + "." + node.text;
          node.receiver = false;
          node.parts.erase(node.parts.begin());
        }
      }
    }
    if (node.receiver && node.text == "sortBy" && node.parts.size() == 3) spell_out_sort(node);
    if ((node.text == "math.greatest" || node.text == "math.least") && node.parts.size() > 2) gather(node);
    node.function = function(node.text);
    if (!node.function) return refuse(node, "there is no function '" + node.text + "'");

    std::vector<const Type*> given;
    for (auto& part : node.parts) given.push_back(of(part));
    const Type* result = nullptr;
    for (const auto& overload : node.function->overloads) {
      if (overload.receiver != node.receiver || overload.parameters.size() != given.size()) continue;
      std::unordered_map<const Type*, const Type*> renamed;
      std::vector<const Type*> wanted;
      for (const Type* parameter : overload.parameters) wanted.push_back(rename(parameter, renamed));
      const Type* made = rename(overload.result, renamed);
      if (!bindings_.assignable(wanted, given)) continue;
      made = bindings_.resolve(made, types_, false);
      if (!result) {
        result = made;
      } else if (to_string(*result) != to_string(*made)) {
        result = types_.dynamic();
      }
    }
    if (result) return result;
    std::string shapes;
    for (const Type* type : given) shapes += (shapes.empty() ? "" : ", ") + shown(type);
    return mismatch(node, "no '" + plain_name(node.text) + "' takes (" + shapes + ")");
  }

  static std::string plain_name(std::string name) {
    if (name == "@in") return "in";
    std::erase(name, '_');
    return name.empty() || name.find_first_not_of("+-*/%<>=!") != std::string::npos ? name : name;
  }

  // list.sortBy(e, key): the keys become a list beside the elements.
  void spell_out_sort(Node& node) {
    if (node.parts[1].what != Syntax::name) return;
    Node keys{.what = Syntax::loop, .offset = node.offset, .text = "map"};
    keys.loop = Loop::transform_list;
    keys.first = node.parts[1].text;
    keys.parts.push_back(node.parts[0]);
    keys.parts.push_back(std::move(node.parts[2]));
    node.text = "@sortBy";
    node.parts.resize(1);
    node.parts.push_back(std::move(keys));
  }

  void gather(Node& node) {
    Node list{.what = Syntax::list, .offset = node.offset};
    list.spread.assign(node.parts.size(), false);
    list.parts = std::move(node.parts);
    node.parts.clear();
    node.parts.push_back(std::move(list));
  }

  // A signature with parameters of its own for this call.
  const Type* rename(const Type* type, std::unordered_map<const Type*, const Type*>& renamed) {
    if (type->kind == TypeKind::parameter) {
      auto& own = renamed[type];
      if (!own) own = types_.parameter(type->name);
      return own;
    }
    if (type->inner.empty()) return type;
    Type made{.kind = type->kind, .name = type->name};
    for (const Type* inner : type->inner) made.inner.push_back(rename(inner, renamed));
    return types_.make(std::move(made));
  }

  // --- literals ---------------------------------------------------------------------------------------------

  // What `?e` puts into a list or map.
  const Type* unwrapped(const Node& node, const Type* type) {
    const Type* inner = fresh();
    if (bindings_.assignable(types_.optional(inner), type)) return bindings_.resolve(inner, types_, false);
    return mismatch(node, "expected an optional behind '?', found " + shown(type));
  }

  const Type* of_list(Node& node) {
    const Type* item = nullptr;
    for (size_t index = 0; index < node.parts.size(); ++index) {
      const Type* type = of(node.parts[index]);
      if (node.spread[index]) type = unwrapped(node.parts[index], type);
      item = item ? bindings_.join(item, type, types_) : type;
    }
    return types_.list(item ? item : fresh());
  }

  const Type* of_map(Node& node) {
    const Type *key = nullptr, *value = nullptr;
    for (size_t index = 0; index < node.parts.size(); index += 2) {
      const Type* key_type = of(node.parts[index]);
      const Type* value_type = of(node.parts[index + 1]);
      if (node.spread[index / 2]) value_type = unwrapped(node.parts[index + 1], value_type);
      key = key ? bindings_.join(key, key_type, types_) : key_type;
      value = value ? bindings_.join(value, value_type, types_) : value_type;
    }
    return types_.map(key ? key : fresh(), value ? value : fresh());
  }

  const Type* of_conditional(Node& node) {
    want(node.parts[0], TypeKind::boolean);
    const Type* yes = of(node.parts[1]);
    const Type* no = of(node.parts[2]);
    const Type* either = fresh();
    if (!bindings_.assignable({either, either}, {yes, no})) {
      return mismatch(node, "both sides of ':' have one type, not " + shown(yes) + " and " + shown(no));
    }
    return bindings_.resolve(either, types_, false);
  }

  // --- macros -----------------------------------------------------------------------------------------------

  size_t add_local(std::string name, const Type* type) {
    locals_.push_back({std::move(name), type, slots_});
    return slots_++;
  }

  const Type* of_loop(Node& node) {
    const Type* range = bindings_.resolve(of(node.parts[0]), types_, false);
    const Type *first = types_.dynamic(), *second = types_.dynamic();
    const bool two = !node.second.empty();
    if (range->kind == TypeKind::list) {
      first = two ? types_.basic(TypeKind::integer) : range->inner[0];
      second = range->inner[0];
    } else if (range->kind == TypeKind::map) {
      first = range->inner[0];
      second = range->inner[1];
    } else if (range->kind == TypeKind::object) {
      first = types_.basic(TypeKind::string);
    } else if (range->kind != TypeKind::dynamic && range->kind != TypeKind::parameter) {
      mismatch(node, "'" + node.text + "' goes through a list or a map, not " + shown(range));
    }
    node.slot = static_cast<int32_t>(add_local(node.first, first));
    if (two) add_local(node.second, second);
    if (node.conditional) want(node.parts[1], TypeKind::boolean);
    const Type* made = nullptr;
    if (node.parts.size() > (node.conditional ? 2u : 1u)) made = of(node.parts.back());
    locals_.resize(locals_.size() - (two ? 2 : 1));

    switch (node.loop) {
      case Loop::filter:
        return types_.list(first);
      case Loop::transform_list:
        return types_.list(made);
      case Loop::transform_map:
        return types_.map(first, made);
      case Loop::transform_entry: {
        const Type* entry = bindings_.resolve(made, types_, false);
        if (entry->kind == TypeKind::map || entry->kind == TypeKind::dynamic) return entry;
        return mismatch(node, "transformMapEntry makes maps of one entry, not " + shown(made));
      }
      default:
        return types_.basic(TypeKind::boolean);
    }
  }

  const Type* of_optional_map(Node& node) {
    const Type* inner = unwrapped(node.parts[0], of(node.parts[0]));
    node.slot = static_cast<int32_t>(add_local(node.first, inner));
    const Type* made = of(node.parts[1]);
    locals_.pop_back();
    if (!node.optional) return types_.optional(made);
    return types_.optional(unwrapped(node.parts[1], made));
  }

  const Type* of_bind(Node& node) {
    const Type* type = of(node.parts[0]);
    node.slot = static_cast<int32_t>(add_local(node.first, type));
    const Type* made = of(node.parts[1]);
    locals_.pop_back();
    return made;
  }

  std::string_view text_;
  Arena& constants_;
  const Environment& environment_;
  TypePool& types_;
  bool strict_;
  size_t slots_;
  std::vector<Local> locals_;
  Bindings bindings_;
};

}  // namespace

Result<Checked> check(Expression& expression, const Environment& environment, TypePool& types, Checking checking) {
  try {
    return Checker(expression, environment, types, checking).run(expression.root);
  } catch (const Refusal& refusal) {
    return refusal.error;
  }
}

}  // namespace sluice::cel
