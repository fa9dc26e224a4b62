// A view is a named, typed answer that is composed from several concepts' committed state at one moment. It is a
// function over two described structs (base/json_fields.h), what is asked and what is answered; everything else about
// it, its JSON, its schemas and its documentation, follows from these:
//
//   struct SplitQuery { std::string environment; std::string deployment; };
//   Result<SplitView> read_split(const lang::Reading& reading, const SplitQuery& query);
//
//   View view = make_view("traffic", "Which revision gets which share", read_split);
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/document.h"
#include "base/json_reader.h"
#include "base/json_schema.h"
#include "base/json_writer.h"
#include "base/result.h"
#include "lang/run/handler.h"

namespace sluice::lang {

// What a view is read from: one committed moment, and the tools of the program for what stands beside it (files,
// processes, routers).
struct Reading {
  const Snapshot& rows;
  const Tools& tools;
  uint64_t position = 0;  // of the journal at that moment
  int64_t now_ms = 0;
};

// What everybody may know of a view.
struct ViewWords {
  std::string name;     // "traffic"
  std::string summary;  // one line, no full stop
  std::function<json::value()> query_schema;
  std::function<json::value()> schema;
  bool no_copy = false;  // it compares the store with files beside it, which may be newer than a copy of the store
};

// `From` is what it is read from: a Reading, or one that has more.
template <class From>
struct ViewFrom : ViewWords {
  // What is asked is checked against the query's type: what it does not know is `invalid`.
  std::function<Result<json::value>(const From& reading, const json::object& query)> read;
};
using View = ViewFrom<Reading>;

template <class From, class Query, class Answer>
ViewFrom<From> make_view(std::string name, std::string summary,
                         Result<Answer> (*read_answer)(const From&, const Query&)) {
  ViewFrom<From> view;
  const std::string id = "urn:sluice:view:" + name;
  view.name = name;
  view.summary = summary;
  view.query_schema = [id, name] { return json_schema<Query>("What is asked of the view " + name, id + ":query"); };
  view.schema = [id, summary] { return json_schema<Answer>(summary, id); };
  view.read = [read_answer](const From& reading, const json::object& given) -> Result<json::value> {
    auto query = sluice::read<Query>(json::value(given));
    if (!query) return query.error();
    auto answer = read_answer(reading, *query);
    if (!answer) return answer.error();
    return to_json(*answer);
  };
  return view;
}

// What a URL's parameters ask of a view: text, or numbers and truths where the query has such a field; elements of a
// list stand between commas.
Result<json::object> query_of_texts(const ViewWords& view,
                                    const std::vector<std::pair<std::string, std::string>>& given);
// The same turned around: what parameters say this.
std::vector<std::pair<std::string, std::string>> texts_of_query(const json::object& query);

}  // namespace sluice::lang
