"""The corrected kit checks clean, and each of the mutations below, one slip of the hand in one file, is caught where it
was made. A mutation's position is that of `^` in its new text or, where the slip is felt elsewhere in the file, in the
text that is given last."""

import json
import shutil
import subprocess

import pytest

LOST_ANSWER = """sync NodeDeployed [eager]
  when {
    Runtime/deploy: [] => ok[]
    caused by DeployPlan/run: [ kind: "deploy-concept" ] => requested as ?node
  }
  then { answer ?node => ok[] }

"""

# file, old text, new text with ^ before the character that the message must point at, severity, part of the message,
# and where ^ is not in the new text, a text of the mutated file with it
MUTATIONS = [
    # a dropped bind
    ("syncs/core.sync", "where { DeployPlan.components: { ?p concept: ?c; runtimeType: ?type; config: ?config } }\n  then { Runtime/provision: [ concept: ?c; runtimeType: ?type; config: ?config ] }",
     "where { DeployPlan.components: { ?p concept: ?c; runtimeType: ?type } }\n  then { Runtime/provision: [ concept: ?c; runtimeType: ?type; config: ^?config ] }",
     "error", "`?config` in then is not bound"),
    ("syncs/core.sync", "Artifact/build: [] => compilationError[ reason: ?why ]",
     "Artifact/build: [] => compilationError[ concept: ?why2 ]", "error", "`?why` in then is not bound",
     "failed[ reason: ^?why ] }\n\nsync NodeDeployed"),
    ("syncs/core.sync", "  where { each(?next as { node: ?n, run: ?run }) }\n", "", "error", "`?n` in then is not bound",
     "then { DeployPlan/undo: [ plan: ?p; node: ^?n; run: ?run ] }\n\nsync RollbackDone"),
    # a request without its name
    ("syncs/core.sync", "caused by DeployPlan/execute: [] => requested as ?x\n  }\n  then { answer ?x => ok[] }",
     "caused by DeployPlan/execute: [] => requested\n  }\n  then { answer ^?x => ok[] }", "error", "`?x` in then is not bound"),
    # a renamed field, argument, action, concept
    ("syncs/core.sync", "Runtime/deploy: [ instance: ?i; artifact: ?a; version: ?v ]",
     "Runtime/deploy: [ instance: ?i; ^artefact: ?a; version: ?v ]", "error", "did you mean `artifact`"),
    ("syncs/migration.sync", "Migration/plan: [] => incompatible[ reason: ?why ]",
     "Migration/plan: [] => incompatible[ ^reasons: ?why ]", "error", "did you mean `reason`"),
    ("syncs/delivery.sync", "then { Rollout/judge: [ rollout: ?r; step: ?s ] }\n\nsync PauseWhenUnpublished",
     "then { Rollout/^judg: [ rollout: ?r; step: ?s ] }\n\nsync PauseWhenUnpublished", "error", "did you mean `judge`"),
    ("syncs/observability.sync", "when { DeployPlan/rollback: [ plan: ?p ] => ok[] }",
     "when { ^DeployPlans/rollback: [ plan: ?p ] => ok[] }", "error", "did you mean `DeployPlan`"),
    ("syncs/delivery.sync", "where { Rollout: { ?r pauseSeconds: ?p } }", "where { Rollout: { ?r ^pauseSecond: ?p } }",
     "error", "did you mean `pauseSeconds`"),
    ("syncs/core.sync", "where { DeployPlan.frontier: { ?p node: ?n; kind: ?k; target: ?t } }",
     "where { DeployPlan.^frontiers: { ?p node: ?n; kind: ?k; target: ?t } }", "error", "did you mean `frontier`"),
    # a swapped variant
    ("syncs/delivery.sync", "Telemetry/analyze: [] => insufficientData[]", "Telemetry/analyze: [] => ^insuficientData[]",
     "error", "did you mean `insufficientData`"),
    ("syncs/delivery.sync", "then { answer ?j => unhealthy[ reason: ?why ] }\n\nsync RollbackOnFailure",
     "then { answer ?j => ^unwell[ reason: ?why ] }\n\nsync RollbackOnFailure", "error", "`unwell`"),
    ("syncs/delivery.sync", "Health/checkKit: [] => degraded[]", "Health/checkKit: [] => ok[]", "warning",
     "is never answered after `Health/checkKit` => `degraded`", "then { ^Health/checkKit: [ kit: ?k"),
    # a wrong type
    ("syncs/delivery.sync", 'Timer/wait: [ name: "soak"; seconds: 60 ]', 'Timer/wait: [ name: "soak"; seconds: ^"60" ]',
     "error", "Int"),
    ("syncs/delivery.sync", "Traffic/set: [ deployment: ?d; entries: ?e ] }\n\nsync PublishTraffic",
     "Traffic/set: [ deployment: ?d; entries: ^?d ] }\n\nsync PublishTraffic", "error", "entries"),
    ("syncs/migration.sync", "Migration/plan: [ concept: ?c; fromVersion: ?from; toVersion: ?to ]",
     "Migration/plan: [ concept: ?c; fromVersion: ^?c; toVersion: ?to ]", "error", "fromVersion"),
    ("syncs/delivery.sync", 'filter(?strategy != "immediate")', "filter(?strategy != ^7)", "error", "String"),
    # an argument left out, one too many
    ("syncs/promotion.sync", "DeployPlan/plan: [ manifest: ?manifest; environment: ?name ]",
     "DeployPlan/^plan: [ manifest: ?manifest ]", "error", "environment"),
    # how rules are put together
    ("syncs/delivery.sync", "    Health/checkKit: [] => ok[]\n    caused by Rollout/judge: [ rollout: ?r ] => requested\n",
     "    Health/checkKit: [] => ok[]\n    ^Rollout/judge: [ rollout: ?r ] => requested\n", "warning", "share no variable"),
    ("syncs/core.sync", "sync PlanBroken [eager]", "sync ^PlanComplete [eager]", "error", "PlanComplete"),
    ("syncs/guards.sync", "else invalidStrategy[", "else ^invalidStrategie[", "error", "did you mean `invalidStrategy`"),
    ("syncs/guards.sync", 'status: "running" }', '^state: "running" }', "error", "`state`"),
    ("syncs/core.sync", "sync NextNodes [eager] [loop]", "sync ^NextNodes [eager]", "warning", "an endless cascade"),
    # a severed join: the query's key, and the variable that two patterns share
    ("syncs/delivery.sync", "where { Rollout: { ?r kit: ?k; environment: ?env } }\n  then { Health/checkKit",
     "where { ^Rollout: { kit: ?k; environment: ?env } }\n  then { Health/checkKit", "warning", "every row"),
    # a lost answer: the sync that gave it is gone
    ("syncs/core.sync", LOST_ANSWER, "", "warning", "is never answered after `Runtime/deploy` => `ok`",
     "then { ^Runtime/deploy: [ instance: ?i; artifact: ?a; version: ?v ] }"),
    # a changed literal: of a step, of a pattern, of the request that a pattern speaks of
    ("syncs/delivery.sync", 'then { Timer/wait: [ name: "soak"; seconds: ?p ] }',
     'then { ^Timer/wait: [ name: "soaks"; seconds: ?p ] }', "warning",
     'is never answered after `Timer/wait: [ name: "soaks" ]` => `ok`'),
    ("syncs/delivery.sync", 'Timer/wait: [ name: "soak" ] => ok[]', 'Timer/wait: [ name: "soaks" ] => ok[]', "warning",
     'is never answered after `Timer/wait: [ name: "soak" ]` => `ok`', 'then { ^Timer/wait: [ name: "soak"; seconds: ?p ] }'),
    ("syncs/core.sync", 'caused by DeployPlan/run: [ kind: "provision-storage" ]',
     'caused by ^DeployPlan/run: [ kind: "provision-storages" ]', "warning", "`NodeProvisioned` never fires"),
    # another request than the one that the work is beneath
    ("syncs/delivery.sync", "Telemetry/analyze: [] => insufficientData[]\n    caused by Rollout/judge",
     "Telemetry/analyze: [] => insufficientData[]\n    caused by DeployPlan/execute", "warning",
     "`Rollout/judge` is never answered after `Telemetry/analyze` => `insufficientData`", "then { ^Telemetry/analyze:"),
    # in a concept
    ("concepts/rollout.concept", "@code(rolled_back)", "@code(^rolledback)", "error", "did you mean `rolled_back`"),
    ("concepts/runtime.concept", "reversal: destroy", "reversal: ^destroi", "error", "did you mean `destroy`"),
    ("concepts/health.concept", "latencyMs: H -> Int", "latencyMs: H -> ^Integer", "error", "`Integer`"),
    ("concepts/traffic.concept", "generation: D -> Int", "entries: D -> Int", "error", "entries",
     "^entries: D -> list { revision"),
    # in the suite
    ("suite.yaml", "\nguards:", "\ndisable: [ ^ValidateBeforeExecute ]\n\nguards:", "error", "required"),
    ("suite.yaml", "spec: ./concepts/health.concept", "spec: ^./concepts/helth.concept", "error", "helth.concept"),
]


def check(sluice, folder, *options):
    run = subprocess.run([str(sluice), "kit", "check", str(folder), "--output", "json", *options],
                         capture_output=True, text=True, timeout=60)
    return run.returncode, json.loads(run.stdout)


def test_the_corrected_kit_checks_clean(sluice, root):
    code, report = check(sluice, root / "tests/lang/corrected", "--strict")
    assert (code, report["diagnostics"]) == (0, [])
    assert report["concepts"] == 19 and report["syncs"] > 100


def test_the_corrected_kit_keeps_the_names_of_the_seeds_syncs(root):
    def names(kit):
        return {line.split()[1] for path in (root / "tests/lang" / kit).rglob("*.sync")
                for line in path.read_text().splitlines() if line.startswith("sync ")}
    assert names("seed") - names("corrected") == set()


@pytest.mark.parametrize("mutation", MUTATIONS, ids=range(len(MUTATIONS)))
def test_a_mutation_is_caught_where_it_was_made(sluice, root, tmp_path, mutation):
    file, old, new, severity, text, *felt = mutation
    kit = tmp_path / "kit"
    shutil.copytree(root / "tests/lang/corrected", kit)
    path = kit / file
    before = path.read_text()
    assert before.count(old) >= 1, "the mutation no longer fits the kit"
    start = before.index(old)
    after = before[:start] + new.replace("^", "", 1) + before[start + len(old):]
    path.write_text(after)

    code, report = check(sluice, kit)
    found = [d for d in report["diagnostics"] if d["severity"] == severity and text in d["text"] + " " + d.get("hint", "")]
    assert found, report["diagnostics"]
    assert code == (1 if severity == "error" else 0)
    pointed = felt[0] if felt else new
    at = (after.index(pointed.replace("^", "", 1)) if felt else start) + pointed.index("^")
    place = (str(path), after[:at].count("\n") + 1, at - after[:at].rfind("\n"))
    assert place in [(d["file"], d["line"], d["column"]) for d in found]
