// The scripts for a table with nouns, in a real bash and a real fish; tests/cli asks all three shells about the
// program.
#include "cli/completion.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>

#include "base/testing_folder.h"
#include "cli/testing_commands.h"

namespace sluice::cli {
namespace completion_test {

using Words = std::set<std::string>;

// The words that a shell's command prints, one a line.
Words answer(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  Words words;
  std::string line;
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) {
    if (c != '\n') {
      line += static_cast<char>(c);
      continue;
    }
    if (!line.empty()) words.insert(line.substr(0, line.find('\t')));
    line.clear();
  }
  EXPECT_EQ(pclose(pipe), 0);
  return words;
}

class Completion : public testing::Test {
 protected:
  Completion() {
    std::ofstream(folder_.path("bash")) << bash_completion(testing_commands());
    std::ofstream(folder_.path("fish")) << fish_completion(testing_commands());
    std::ofstream(folder_.path("zsh")) << zsh_completion(testing_commands());
    std::ofstream(folder_.path("a-file")) << "x";
  }

  Words bash(const std::string& line) {
    return answer("cd " + folder_.path() + " && bash --norc -c 'source ./bash; read -ra COMP_WORDS <<<\"" + line +
                  "\"; case \"" + line + "\" in *\" \") COMP_WORDS+=(\"\") ;; esac; " +
                  "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sluice; printf \"%s\\n\" \"${COMPREPLY[@]}\"'");
  }
  Words fish(const std::string& line) {
    return answer("cd " + folder_.path() +
                  " && HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD fish --no-config -c '" +
                  "source ./fish; complete -C \"" + line + "\"'");
  }
  void expect(const std::string& line, const Words& words) {
    EXPECT_EQ(bash(line), words) << "bash: " << line;
    EXPECT_EQ(fish(line), words) << "fish: " << line;
  }

  TestingFolder folder_;
};

TEST_F(Completion, OffersNounsThenVerbs) {
  expect("sluice g", {"gate"});
  expect("sluice gate ", {"open", "check", "close"});
  expect("sluice gate -q c", {"check", "close"});
  expect("sluice gate check ", {});
  expect("sluice gate bogus ", {});
}

TEST_F(Completion, OffersTheOptionsOfTheCommandAndTheirValues) {
  expect("sluice gate open --fo", {"--force"});
  expect("sluice gate check --fo", {});
  expect("sluice gate open --color ", {"red", "green"});
  expect("sluice gate open --color red --color g", {"green"});
  expect("sluice gate open -o j", {"json"});
  expect("sluice gate open --wait ", {});
}

TEST_F(Completion, OffersFilesWhereAPathIsWanted) {
  expect("sluice gate open north a-f", {"a-file"});
  expect("sluice gate open --key a-f", {"a-file"});
  expect("sluice gate check a-f", {});
}

TEST_F(Completion, OffersWhatHelpExplains) {
  expect("sluice help ga", {"gate"});
  expect("sluice help gate o", {"open"});
  expect("sluice help home ", {});
}

TEST_F(Completion, ForZshNamesEveryPath) {
  std::string script = zsh_completion(testing_commands());
  for (const char* part : {"#compdef sluice\n", "('gate:0')\n      offers=('open:Open a gate' 'check:Check all gates'",
                           "'gate open'':--color') offers=('red' 'green') ;;", "('help gate:0')\n"}) {
    EXPECT_NE(script.find(part), std::string::npos) << part << script;
  }
}

}  // namespace completion_test
}  // namespace sluice::cli
