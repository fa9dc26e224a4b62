// What was asked for is checked; what was not is passed on.
#include "bundle/manifest/answers.h"

#include <algorithm>
#include <boost/json.hpp>

namespace sluice::bundle {

Result<json::object> complete_answers(const Manifest& manifest, json::object given) {
  json::object asked;
  std::vector<Question> questions = manifest.config;
  for (Question& each : questions) {
    if (each.secret) each.required = false;  // its answer is among the secrets
    if (const json::value* answer = given.if_contains(each.name.text)) asked[each.name.text] = *answer;
  }
  auto complete = complete_answers(Questions(questions), std::move(asked));
  if (!complete) return complete;
  for (auto& each : *complete) given[each.key()] = each.value();
  return given;
}

}  // namespace sluice::bundle
