// Examples fit their schemas, whichever way these say what a text is.
#include "api/openapi_examples.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "base/json.h"

namespace sluice::api {
namespace openapi_examples_test {

TEST(OpenApiExamples, TimesAreTimesByFormatPatternAndName) {
  boost::json::object document = parse_json(R"({"components": {"schemas": {}, "responses": {}, "parameters": {
        "Since": {"name": "since", "schema": {"type": "string", "format": "date-time"}},
        "Until": {"name": "until", "schema": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}"}},
        "Ended": {"name": "endedAt", "schema": {"type": "string"}},
        "Word": {"name": "word", "schema": {"type": "string", "pattern": "^[a-z]+$"}}}}, "paths": {}})")
                                     .value()
                                     .root.as_object();
  add_examples(document);
  for (const char* name : {"Since", "Until", "Ended"}) {
    EXPECT_EQ(document["components"].at("parameters").at(name).at("example"), "2026-03-01T09:30:00.125Z") << name;
  }
  EXPECT_EQ(document["components"].at("parameters").at("Word").at("example"), "text");
}

}  // namespace openapi_examples_test
}  // namespace sluice::api
