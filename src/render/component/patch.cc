// A path becomes the pointers that it selects; then each of them is changed.
#include "render/component/patch.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"

namespace sluice::component {
namespace {

constexpr size_t kMostPlaces = 65'536;

Error unpatchable(std::string message) { return {.code = Code::invalid, .message = std::move(message)}; }

// One step of a path: a field (or an index, which is told by what it is applied to), `[*]`, or a filter.
struct Step {
  enum class What { member, every, filter } what = What::member;
  std::string name;                // of a member
  std::vector<std::string> field;  // of a filter: @.a.b
  std::string wanted;              // of a filter
};

std::string unescaped(std::string_view text) {
  std::string made;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '~' && at + 1 < text.size() && (text[at + 1] == '0' || text[at + 1] == '1')) {
      made += text[++at] == '0' ? '~' : '/';
    } else {
      made += text[at];
    }
  }
  return made;
}

std::string token_of(std::string_view text) {
  std::string made;
  for (const char each : text) made += each == '~' ? "~0" : each == '/' ? "~1" : std::string(1, each);
  return made;
}

// "[?(@.name=='app')]", behind its bracket.
Result<Step> take_filter(std::string_view& rest) {
  Step step{.what = Step::What::filter};
  rest.remove_prefix(std::string_view("?(@").size());
  while (rest.starts_with('.')) {
    rest.remove_prefix(1);
    const size_t end = std::min(rest.find_first_of(".= "), rest.size());
    step.field.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (!rest.starts_with("==")) return unpatchable("a filter compares by ==, as in [?(@.name=='app')]");
  rest.remove_prefix(2);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (rest.starts_with('\'') || rest.starts_with('"')) {
    const size_t end = rest.find(rest.front(), 1);
    if (end == std::string_view::npos) return unpatchable("the text in a filter has no end");
    step.wanted = unescaped(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
  } else {
    const size_t end = std::min(rest.find(')'), rest.size());
    step.wanted = rest.substr(0, end);
    rest.remove_prefix(end);
  }
  if (!rest.starts_with(")]")) return unpatchable("a filter ends with )]");
  rest.remove_prefix(2);
  return step;
}

Result<std::vector<Step>> steps_of(std::string_view path) {
  if (!path.starts_with('/')) return unpatchable("a path begins with /");
  std::vector<Step> steps;
  auto rest = path;
  while (!rest.empty()) {
    if (rest.starts_with('/')) {
      rest.remove_prefix(1);
      const size_t end = std::min(rest.find_first_of("/["), rest.size());
      steps.push_back({.name = unescaped(rest.substr(0, end))});
      rest.remove_prefix(end);
      if (steps.back().name.empty() && rest.starts_with('[')) steps.pop_back();
      continue;
    }
    rest.remove_prefix(1);  // the bracket
    if (rest.starts_with("?(@")) {
      auto step = take_filter(rest);
      if (!step) return step.error();
      steps.push_back(std::move(*step));
    } else {
      const size_t end = rest.find(']');
      if (end == std::string_view::npos) return unpatchable("a bracket in the path is not closed");
      const auto inner = rest.substr(0, end);
      steps.push_back({.what = inner == "*" ? Step::What::every : Step::What::member, .name = std::string(inner)});
      rest.remove_prefix(end + 1);
    }
    if (!rest.empty() && rest.front() != '/' && rest.front() != '[') return unpatchable("expected / behind a bracket");
  }
  return steps;
}

std::string compared_text(const json::value& value) {
  return value.is_string() ? std::string(value.as_string()) : json::serialize(value);
}

bool selects(const Step& step, const json::value& item) {
  const json::value* place = &item;
  for (const auto& name : step.field) {
    const auto* object = place->if_object();
    place = object ? object->if_contains(name) : nullptr;
    if (!place) return false;
  }
  return compared_text(*place) == step.wanted;
}

std::optional<size_t> item_index(const std::string& name) {
  size_t index = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), index);
  if (name.empty() || read.ec != std::errc{} || read.ptr != name.data() + name.size()) return std::nullopt;
  if (name.size() > 1 && name[0] == '0') return std::nullopt;
  return index;
}

class Patcher {
 public:
  Patcher(PatchOp op, std::string_view path, const json::value& value) : op_(op), path_(path), value_(value) {}

  Result<std::vector<PatchedPlace>> run(json::value& object) {
    auto steps = steps_of(path_);
    if (!steps) return located(steps.error());
    if (steps->back().what != Step::What::member && op_ == PatchOp::add) {
      return located(unpatchable("add names a field or a place in a list at its end"));
    }
    steps_ = std::move(*steps);
    json::value changed = object;
    if (auto failed = walk(changed, 0, ""); !failed) return failed.error();
    object = std::move(changed);
    return std::move(places_);
  }

 private:
  Error located(Error error) const {
    error.message = std::string(path_) + ": " + error.message;
    return error;
  }
  Error stop(const std::string& place, std::string message) const {
    return located(unpatchable((place.empty() ? "" : "at " + place + ": ") + std::move(message)));
  }

  Result<void> walk(json::value& node, size_t at, const std::string& place) {
    if (places_.size() > kMostPlaces) return stop(place, "this selects more than 65,536 places");
    const auto& step = steps_[at];
    const bool last = at + 1 == steps_.size();
    if (step.what != Step::What::member) {
      auto* items = node.if_array();
      if (!items) return stop(place, "a filter or [*] wants a list");
      std::vector<size_t> chosen;
      for (size_t index = 0; index < items->size(); ++index) {
        if (step.what == Step::What::every || selects(step, (*items)[index])) chosen.push_back(index);
      }
      if (chosen.empty())
        return stop(place, step.what == Step::What::every ? "the list is empty" : "no item fits the filter");
      std::reverse(chosen.begin(), chosen.end());  // so that a removal moves nothing that is still to come
      for (const size_t index : chosen) {
        const auto inner = place + "/" + std::to_string(index);
        auto done = last ? change_item(*items, index, inner) : walk((*items)[index], at + 1, inner);
        if (!done) return done;
      }
      return {};
    }
    const auto inner = place + "/" + token_of(step.name);
    if (last) return change(node, step.name, inner, place);
    if (auto* object = node.if_object()) {
      if (!object->contains(step.name)) {
        if (op_ == PatchOp::remove) return {};
        if (op_ == PatchOp::replace) return stop(inner, "there is nothing to replace");
        const auto& next = steps_[at + 1];
        if (next.what != Step::What::member || item_index(next.name)) {
          return stop(inner, "there is no list here; a new one begins with /-");
        }
        (*object)[step.name] = next.name == "-" ? json::value(json::array{}) : json::value(json::object{});
      }
      return walk((*object)[step.name], at + 1, inner);
    }
    if (auto* items = node.if_array()) {
      const auto index = item_index(step.name);
      if (!index || *index >= items->size())
        return stop(inner, "the list has " + std::to_string(items->size()) + " items");
      return walk((*items)[*index], at + 1, inner);
    }
    return stop(place, "there is neither a map nor a list here");
  }

  Result<void> change(json::value& node, const std::string& name, const std::string& inner, const std::string& place) {
    if (auto* object = node.if_object()) {
      auto* there = object->if_contains(name);
      const std::optional<json::value> before = there ? std::optional(*there) : std::nullopt;
      switch (op_) {
        case PatchOp::add:
          (*object)[name] = value_;
          break;
        case PatchOp::replace:
          if (!there) return stop(inner, "there is nothing to replace");
          *there = value_;
          break;
        case PatchOp::remove:
          if (!there) return {};
          object->stable_erase(name);
          break;
        case PatchOp::mergeShallow:
          if (!there) (*object)[name] = json::object{};
          if (auto merged = merge((*object)[name], inner); !merged) return merged;
          break;
      }
      places_.push_back({inner, before});
      return {};
    }
    auto* items = node.if_array();
    if (!items) return stop(place, "there is neither a map nor a list here");
    if (name == "-") {
      if (op_ != PatchOp::add) return stop(inner, "only add goes behind the last item");
      items->push_back(value_);
      places_.push_back({place + "/" + std::to_string(items->size() - 1), std::nullopt});
      return {};
    }
    const auto index = item_index(name);
    const size_t most = op_ == PatchOp::add ? items->size() : items->size() - 1;
    if (!index || items->size() + (op_ == PatchOp::add) == 0 || *index > most) {
      return stop(inner, "the list has " + std::to_string(items->size()) + " items");
    }
    if (op_ == PatchOp::add) {
      items->insert(items->begin() + *index, value_);
      places_.push_back({inner, std::nullopt});
      return {};
    }
    return change_item(*items, *index, inner);
  }

  Result<void> change_item(json::array& items, size_t index, const std::string& inner) {
    if (index >= items.size()) return stop(inner, "the list has " + std::to_string(items.size()) + " items");
    const json::value before = items[index];
    if (op_ == PatchOp::remove) {
      items.erase(items.begin() + static_cast<long>(index));
    } else if (op_ == PatchOp::replace) {
      items[index] = value_;
    } else if (auto merged = merge(items[index], inner); !merged) {
      return merged;
    }
    places_.push_back({inner, before});
    return {};
  }

  Result<void> merge(json::value& into, const std::string& place) {
    const auto* fields = value_.if_object();
    if (!fields) return stop(place, "mergeShallow wants a map as its value");
    auto* object = into.if_object();
    if (!object) return stop(place, "mergeShallow wants a map, and there is none");
    for (const auto& [name, value] : *fields) (*object)[name] = value;
    return {};
  }

  PatchOp op_;
  std::string_view path_;
  const json::value& value_;
  std::vector<Step> steps_;
  std::vector<PatchedPlace> places_;
};

}  // namespace

Result<std::vector<PatchedPlace>> apply_patch(json::value& object, PatchOp op, std::string_view path,
                                              const json::value& value) {
  return Patcher(op, path, value).run(object);
}

}  // namespace sluice::component
