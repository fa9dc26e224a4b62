// Fills the placeholders of a YAML template with values.
//
//   image: ${image.repository}:${image.tag:latest}     a path into the values, with a default
//   replicas: ${replicas|int:2}                        a type: int, bool, json or string
//   first: ${hosts[0]}                                 an element of a list
//   script: echo $${HOME}                              the text ${HOME}
//
// Only the text of scalars is filled in, never keys. A placeholder that is a whole scalar without quotes keeps the JSON
// type of its value; an integer as its default is an integer. Everything else becomes a string: text in quotes or in a
// block, text around a placeholder, and what Kubernetes wants as strings whatever they look like (names, labels,
// annotations, data, values of variables, commands and arguments). A value that is null counts as missing. A map or a
// list is refused unless the placeholder says |json. The text of a value is never looked at again.
//
// A value {"$secret": "text"} stands for its text, and the text is reported as a secret.
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "base/result.h"

namespace sluice::rendering {

struct TemplateFile {
  std::string path;  // from the template's folder: "base/deployment.yaml"
  std::string text;
};

struct Fault {
  Position position;
  std::string message;

  bool operator==(const Fault&) const = default;
};

// "a.yaml:3:7: missing value for placeholder `name`", one a line.
std::string to_string(const std::vector<Fault>& faults);

struct FilledDocument {
  Position begin;
  json::value root;
  bool is_complete = true;  // none of its placeholders has a fault
};

struct Filled {
  std::vector<FilledDocument> documents;  // without those that are empty
  std::set<std::string> secrets;
  std::vector<Fault> faults;  // all of them; without faults the documents are complete
};

Filled fill(const std::vector<TemplateFile>& files, const json::value& values);

}  // namespace sluice::rendering
