"""Completion in the real shells: each is given a command line and asked what could follow."""

import contextlib
import os
import pty
import subprocess

import pytest

# A command line, and the words that complete it.
CASES = [
    ("sluice hel", {"help"}),
    ("sluice comp", {"completion"}),
    ("sluice completion ", {"bash", "zsh", "fish", "names"}),
    ("sluice completion names rev", {"revisions"}),
    ("sluice completion z", {"zsh"}),
    ("sluice help exit", {"exit-codes"}),
    ("sluice help gl", {"glossary"}),
    ("sluice -o json help hom", {"home"}),
    ("sluice --output json completion f", {"fish"}),
    ("sluice --no-color completion b", {"bash"}),
    ("sluice --output ", {"table", "json", "yaml"}),
    ("sluice --output j", {"json"}),
    ("sluice -o y", {"yaml"}),
    ("sluice help --output t", {"table"}),
    ("sluice kit show --output d", {"dot"}),
    ("sluice kit check --output d", set()),
    ("sluice --ver", {"--version", "--verbose"}),
    ("sluice completion --qui", {"--quiet"}),
    ("sluice bundles ver", {"verify"}),
    ("sluice init --listen u", {"unix"}),
    ("sluice frobnicate", set()),
]


@pytest.fixture(scope="module")
def scripts(sluice, tmp_path_factory):
    """The three scripts as files, in an empty home."""
    folder = tmp_path_factory.mktemp("completion")
    for shell in ("bash", "zsh", "fish"):
        done = subprocess.run([sluice, "completion", shell], capture_output=True, check=True)
        (folder / shell).write_bytes(done.stdout)
    return folder


def ask(command, folder, **variables):
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb", "LANG": "C.UTF-8",
        "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder), **variables,
    }
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder, timeout=60,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    return done


BASH = r"""
source ./bash
COMP_LINE=$LINE COMP_POINT=${#LINE}
# Words as readline cuts them: at blanks, and around "=".
read -ra COMP_WORDS <<<"${LINE//=/ = }"
case $LINE in *' ') COMP_WORDS+=('') ;; *=) ;; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_sluice
printf '%s\n' "${COMPREPLY[@]}"
"""


def bash(line, folder):
    return set(ask(["bash", "--norc", "-c", BASH], folder, LINE=line).stdout.split())


# A zsh in a pseudoterminal, with the real completion system; compadd also writes down what it matched.
ZSH = r"""
zmodload zsh/zpty
zpty z zsh -f -i
function send { zpty -w z "$1" }
send 'PROMPT= PS2= TERM=dumb; stty -echo; autoload -Uz compinit; compinit -u -D; source ./zsh'
send 'compadd() { if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi; local -a found; builtin compadd -O found "$@"; print -rl -- $found >> found; builtin compadd "$@" }'
send 'finish() { print -r -- done > finished; zle kill-whole-line }; zle -N finish'
send 'complete-all() { zle list-choices; : > finished }; zle -N complete-all; bindkey "^T" complete-all'
send ': > ready'
for i in {1..600}; do [[ -e ready ]] && break; sleep 0.05; done
zpty -w -n z "$LINE"$'\C-t'
for i in {1..600}; do [[ -e finished ]] && break; sleep 0.05; done
zpty -d z
[[ -e finished ]]
"""


def zsh(line, folder):
    for name in ("found", "ready", "finished"):
        (folder / name).unlink(missing_ok=True)
    ask(["zsh", "-f", "-c", ZSH], folder, LINE=line)
    found = folder / "found"
    return set(found.read_text().split()) if found.exists() else set()


def fish(line, folder):
    out = ask(["fish", "--no-config", "-c", 'source ./fish; complete -C "$LINE"'], folder, LINE=line).stdout
    return {row.split("\t")[0] for row in out.splitlines()}


@pytest.mark.parametrize("shell", [bash, zsh, fish], ids=lambda shell: shell.__name__)
@pytest.mark.parametrize("line, words", CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_shell_offers_the_words_that_fit(shell, line, words, scripts):
    assert shell(line, scripts) == words


@pytest.mark.parametrize("shell", [bash, zsh, fish], ids=lambda shell: shell.__name__)
def test_an_option_joined_to_its_value_is_completed(shell, scripts):
    found = {word.removeprefix("--output=") for word in shell("sluice --output=y", scripts)}
    assert found == {"yaml"}


def test_bash_completes_as_a_person_types(scripts):
    """An interactive bash in a pseudoterminal, which cuts the words itself, runs the lines that Tab completed."""
    main, end = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "HOME": str(scripts), "TERM": "dumb", "PS1": ""}
    typed = "source ./bash; sluice() { printf '<%s>' \"$@\" >> typed; }\nsluice --output=y\t comp\tzs\t\nexit\n"
    with subprocess.Popen(["bash", "--norc", "--noprofile", "-i"], stdin=end, stdout=end, stderr=end, env=environment,
                          cwd=scripts, start_new_session=True) as shell:
        os.close(end)
        os.write(main, typed.encode())
        with contextlib.suppress(OSError):  # the end of the other side
            while os.read(main, 65536):
                pass
        shell.wait(timeout=60)
    os.close(main)
    assert (scripts / "typed").read_text() == "<--output=yaml><completion><zsh>"


def test_scripts_are_accepted_by_their_shells(scripts):
    for command in (["bash", "-n", "bash"], ["zsh", "-n", "zsh"], ["fish", "--no-execute", "fish"]):
        done = ask(command, scripts)
        assert done.stderr == ""


def test_making_a_script_touches_nothing(sluice, tmp_path):
    for shell in ("bash", "zsh", "fish"):
        subprocess.run([sluice, "completion", shell], env={"HOME": str(tmp_path)}, check=True, capture_output=True)
    assert list(tmp_path.iterdir()) == []
