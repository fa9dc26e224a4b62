// sluice completion: the scripts that make shells complete sluice's words.
#include "cli/all_commands.h"
#include "cli/completion.h"
#include "cli/context.h"

namespace sluice::cli {
namespace completion_commands {

Result<Code> completion(Context& context) {
  std::string shell = context.given.text("shell");
  context.output.print_text(shell == "bash"  ? bash_completion(context.commands)
                            : shell == "zsh" ? zsh_completion(context.commands)
                                             : fish_completion(context.commands));
  return Code::ok;
}

}  // namespace completion_commands

void add_completion_commands(Commands& commands) {
  using namespace completion_commands;
  commands.add({.name = "completion",
                .group = Group::learn,
                .summary = "Print the script that completes commands in a shell",
                .details = "bash: add to ~/.bashrc: source <(sluice completion bash)\n"
                           "zsh: add to ~/.zshrc, after compinit: source <(sluice completion zsh)\n"
                           "fish: sluice completion fish > ~/.config/fish/completions/sluice.fish",
                .args = {{.name = "shell", .help = "the shell", .choices = {"bash", "zsh", "fish"}}},
                .example = "sluice completion bash",
                .run = completion});
}

}  // namespace sluice::cli
