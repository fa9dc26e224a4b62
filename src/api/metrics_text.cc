// https://prometheus.io/docs/instrumenting/exposition_formats/ describes the format.
#include "api/metrics_text.h"

#include <boost/json.hpp>
#include <cstdio>

namespace sluice::api {
namespace {

// Backslash, quote and line end are escaped in a label's value.
std::string escaped(std::string_view text) {
  std::string made;
  for (char c : text) {
    if (c == '\n') {
      made += "\\n";
    } else {
      if (c == '\\' || c == '"') made += '\\';
      made += c;
    }
  }
  return made;
}

std::string number_text(const boost::json::value& value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value.to_number<double>());
  return text;
}

}  // namespace

std::string metrics_text(const boost::json::array& families) {
  std::string text;
  for (const auto& family : families) {
    const std::string name(family.at("name").as_string());
    text += "# HELP " + name + " " + std::string(family.at("help").as_string()) + "\n";
    text += "# TYPE " + name + " " + std::string(family.at("type").as_string()) + "\n";
    for (const auto& sample : family.at("samples").as_array()) {
      std::string labels;
      for (const auto& label : sample.at("labels").as_object()) {
        labels +=
            (labels.empty() ? "" : ",") + std::string(label.key()) + "=\"" + escaped(label.value().as_string()) + "\"";
      }
      text += name + (labels.empty() ? "" : "{" + labels + "}") + " " + number_text(sample.at("value")) + "\n";
    }
  }
  return text;
}

}  // namespace sluice::api
