// Asks for settings: what packs and bundles want to know (bundle/manifest/question.h), from a file of answers, and of
// the person at a terminal for what is still open.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "bundle/manifest/question.h"
#include "cli/command_door.h"
#include "cli/context.h"

namespace sluice::cli {

struct Asking {
  bundle::Questions questions;
  std::string what;    // who asks, for the first line: "acme.telemetry.file@1.0.0"
  json::object given;  // what is known already
  // Keeps the answer to a secret question, and gives the reference that stands for it.
  std::function<Result<std::string>(const std::string& name, const std::string& value)> keep_secret = {};
};

// All answers, with defaults. A person is asked one question after the other: an empty line takes the default, `<` goes
// back to the question before, `?` shows what it is for, and an answer that does not fit is asked for again. Where
// nobody can be asked, an open question is an error that names it.
Result<json::object> ask(Context& context, Asking asking);

// What is wrong with answers, before anything is done with them: one that nobody asked for, or that does not fit. What
// is found out later, runtime://…, and what is taken away, null, fits.
Result<void> check_answers(bundle::Questions questions, const json::object& answers);

// Takes the values of secret questions out of the answers and has `keep` keep them, unless one of the answers does not
// fit: then nothing is kept.
using KeepAnswer = std::function<Result<std::string>(const bundle::Question& question, const std::string& value)>;
Result<void> keep_secret_answers(bundle::Questions questions, json::object& answers, const KeepAnswer& keep);

// Why the answer to a secret question is not taken from the command line; `name` is that of the secret.
Error secret_on_command_line(const std::string& question, const std::string& environment, const std::string& name);

// Puts a value into the secrets of an environment, wherever its secrets pack keeps them, and gives the reference that
// stands for it from now on: secret://ENV/NAME.
Result<std::string> keep_secret(CommandDoor& door, const std::string& environment, const std::string& name,
                                const std::string& value);

// As people read them: each question with its type, its choices and its default.
std::string questions_table(bundle::Questions questions, const Terminal& terminal);

}  // namespace sluice::cli
