// The answers with which packs were set up: plain values in files that bindings refer to. They are the second of the
// three kinds of config: the operator's own are in Config, and so is what the deployer finds out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"
#include "base/document.h"
#include "base/result.h"
#include "deploy/views/doctor.h"
#include "lang/run/handler.h"

namespace sluice::deploy::views {

// A binding that refers to answers.
struct PackAnswers {
  std::string slot;
  std::string kind;
  std::string file;
};
std::vector<PackAnswers> pack_answers(const lang::Snapshot& snapshot, const std::string& environment);

// A YAML or JSON object of texts, numbers and truth values, each under its name.
Result<Document> read_answers(Disk& disk, const std::string& file);

// Those of the pack that serves a slot; none of one that has no answers.
struct SlotAnswers {
  json::object values;

  // Empty if there is no such answer.
  std::string text(std::string_view name) const;
};
Result<SlotAnswers> answers_of_slot(const lang::Snapshot& snapshot, Disk& disk, const std::string& environment,
                                    std::string_view slot);

// What is wrong with them, if anything is.
std::optional<Finding> examine_answers(Disk& disk, const std::string& environment, const PackAnswers& answers);

}  // namespace sluice::deploy::views
