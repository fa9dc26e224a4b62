// Why a value is what it is: what wrote it, and where the parameters in that come from.
#include <set>

#include "render/cel/syntax.h"
#include "render/component/component.h"
#include "render/component/scope.h"

namespace sluice::component {
namespace {

std::string text_of(const json::value& object, std::string_view pointer) {
  boost::system::error_code failed;
  const auto* found = object.find_pointer(pointer, failed);
  return found && !failed && found->is_string() ? std::string(found->as_string()) : "";
}

// The parameters that an expression names: "/resources/cpu" of parameters.resources.cpu.
void gather(const cel::Node& node, std::set<std::string>& pointers) {
  std::string pointer;
  const cel::Node* place = &node;
  while (place->what == cel::Syntax::select) {
    pointer = "/" + place->text + pointer;
    place = &place->parts[0];
  }
  if (place->what == cel::Syntax::name && (place->text == "parameters" || place->text == "spec") && !pointer.empty()) {
    pointers.insert(pointer);
    return;
  }
  for (const auto& part : node.parts) gather(part, pointers);
}

}  // namespace

Result<Explained> explain(const RenderedComponent& rendered, std::string_view object, std::string_view pointer) {
  for (const auto& each : rendered.objects) {
    const auto name = text_of(each.object, "/kind") + "/" + text_of(each.object, "/metadata/name");
    if (name != object && text_of(each.object, "/kind") != object) continue;
    boost::system::error_code failed;
    const auto* found = each.object.find_pointer(pointer, failed);
    if (!found || failed) {
      return Error{.code = Code::not_found, .message = "there is nothing at " + std::string(pointer) + " of " + name};
    }
    Explained made{.value = *found};
    for (const auto& written : each.written) {
      const bool within =
          pointer.starts_with(written.pointer) || std::string_view(written.pointer).starts_with(pointer);
      if (within) made.written.push_back(&written);
    }
    if (!made.written.empty()) {
      const auto& last = *made.written.back();
      std::set<std::string> pointers;
      const auto expressions = expressions_of(last.text);
      for (const auto& expression : expressions ? *expressions : std::vector<std::string>{}) {
        if (const auto parsed = cel::parse(expression)) gather((*parsed)->root, pointers);
      }
      for (const auto& each_pointer : pointers) {
        std::string shown = "parameters";
        for (const char letter : each_pointer) shown += letter == '/' ? '.' : letter;
        made.inputs.push_back({shown, last.parameters->origins(each_pointer)});
      }
    }
    return made;
  }
  return Error{.code = Code::not_found, .message = "there is no object " + std::string(object)};
}

}  // namespace sluice::component
