// One question after the other.
#include "bundle/manifest/answers.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"

namespace sluice::bundle {
Result<json::object> complete_answers(const Manifest& manifest, json::object given) {
  for (const Question& question : manifest.config) {
    const std::string& name = question.name.text;
    auto wrong = [&](std::string message) {
      return Error{.code = Code::invalid, .message = std::move(message), .path = "/" + name};
    };
    const json::value* answer = given.if_contains(name);
    if (answer == nullptr) {
      if (!question.default_) return wrong("there is no answer to: " + question.question);
      given[name] = *question.default_;
      continue;
    }
    if (!is_of(question.type, *answer)) {
      return wrong("expected " + std::string(boost::describe::enum_to_string(question.type, "")) + ", not " +
                   write(*answer));
    }
    if (!question.choices.empty() && std::ranges::find(question.choices, *answer) == question.choices.end()) {
      return wrong(write(*answer) + " is none of the choices");
    }
  }
  return given;
}

}  // namespace sluice::bundle
