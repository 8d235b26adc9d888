"""The evaluation from end to end, over table models: it says no, finds lies, and keeps a schema.

Figures of time are there and mean nothing on models of this size: nothing here depends on them.
"""

import dataclasses
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from engines import DRAFT, TARGET, LetterTokenizer

from voiceagent.cli import main
from voiceagent.config import Decoding
from voiceagent.core.errors import VoiceAgentError
from voiceagent.core.history import Message, Role
from voiceagent.decoding.engine import Engine, EngineError
from voiceagent.decoding.generation import Request
from voiceagent.evaluation.churn_page import churn_page
from voiceagent.evaluation.drifted import inject_drift
from voiceagent.evaluation.lab import PLAIN, Lab, Setting
from voiceagent.evaluation.lineage import lineage
from voiceagent.evaluation.load import plan_arrivals, run_load
from voiceagent.evaluation.measure import Runs, figures
from voiceagent.evaluation.page import speculation_page
from voiceagent.evaluation.prompts import DATA, PromptSet
from voiceagent.evaluation.speculation import Plan, compare, default_settings, evaluate
from voiceagent.evaluation.sweep import Limits, sweep
from voiceagent.evaluation.tables import summary
from voiceagent.evaluation.thresholds import Thresholds
from voiceagent.evaluation.verdict import Answer, Verdict
from voiceagent.weights.manifest import Manifest

CONFIG = Decoding(context_tokens=2048, cache_tokens=65536, max_tokens=20, threads=1)
LIMITS = Thresholds.load(DATA / "thresholds.toml")
PROMPTS = PromptSet.load().quick().first(2)
MODEL = Setting.parse("model:3")


@pytest.fixture
def lab() -> Iterator[Lab]:
    """Two tables, the draft's like the target's; replies of 24 tokens."""
    with Lab(
        target=TARGET,
        tokenizer=LetterTokenizer(),
        draft=DRAFT,
        config=CONFIG,
        max_tokens=24,
        memory_added_mb=0.1,
    ) as made:
        yield made


def plan(candidate: Setting, **changes: Any) -> Plan:
    """A small one."""
    values: dict[str, Any] = {
        "others": (Setting.parse("ngram:auto"), Setting.parse("model:1")),
        "sessions": (1, 2),
        "requests": 3,
        "think_s": 0.01,
        "drift_replies": 4,
        "sabotage_prompts": 5,
        "variant_prompts": 2,
    }
    return Plan(candidate=candidate, **values | changes)


@pytest.fixture(scope="module")
def judged() -> tuple[dict[str, Any], Verdict]:
    """One whole evaluation of the draft model at K = 3."""
    with Lab(
        target=TARGET,
        tokenizer=LetterTokenizer(),
        draft=DRAFT,
        config=CONFIG,
        max_tokens=24,
        memory_added_mb=0.1,
    ) as made:
        chosen = plan(MODEL)
        report, verdict = evaluate(made, PROMPTS, chosen, LIMITS)
        report["lineage"] = lineage(
            preset=Manifest.load().preset("tiny"),
            tokenizer=made.tokenizer,
            config=dataclasses.asdict(CONFIG),
            plan=dataclasses.asdict(chosen),
            prompts=PROMPTS.digest,
            thresholds=LIMITS.digest,
        )
    return report, verdict


def test_the_report_keeps_its_schema(judged: tuple[dict[str, Any], Verdict]) -> None:
    """As it is written, after a way through JSON."""
    schema = json.loads((DATA / "speculation.schema.json").read_text())
    report = json.loads(json.dumps(judged[0]))
    jsonschema.validate(report, schema)
    assert list(report)[:3] == ["schema", "decision", "questions"]


def test_every_figure_is_there(judged: tuple[dict[str, Any], Verdict]) -> None:
    """Both baselines, all populations, sub-populations, both levels of load."""
    report, _ = judged
    assert {"plain", "draft alone", "model:3", "ngram:auto", "model:1"} == set(report["settings"])
    assert sum(each["prompts"] for each in report["populations"].values()) == 10
    assert sum(each["prompts"] for each in report["groups"].values()) == 10
    assert set(report["load"]["sessions"]) == {"1", "2"}
    assert report["settings"]["plain"]["all"]["algorithm"]["tokens_per_round"] == 1.0
    assert report["settings"]["model:3"]["all"]["algorithm"]["tokens_per_round"] > 1.0
    assert report["calibration"]["decided"] > 0
    assert report["variants"]["little_memory"]["refused"] > 0
    assert report["surfaces"]["voice"]["shown"]["churn"] == 1.0


def test_every_honest_setting_is_exact_and_the_lossy_one_is_found_out(
    judged: tuple[dict[str, Any], Verdict],
) -> None:
    """No unexplained difference anywhere but under sabotage."""
    report, _ = judged
    for name, found in report["exactness"].items():
        assert found["equal"] == found["replies"], name
    assert report["sabotage"]["drafted"] > 0
    assert report["sabotage"]["caught"] is True


def test_the_page_stands_alone(judged: tuple[dict[str, Any], Verdict]) -> None:
    """Nothing is fetched, nothing runs, and what a model said is escaped."""
    report = dict(judged[0])
    report["failed_replies"] = [
        {
            "prompt": "x",
            "group": "g",
            "severity": "minor",
            "failed": ["any"],
            "reply": "<script>alert(1)</script>",
            "plain_was_right": False,
        }
    ]
    page = speculation_page(report)
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "src=" not in page
    assert "Seven questions" in page


def test_the_summary_says_the_answer_first(judged: tuple[dict[str, Any], Verdict]) -> None:
    """And the finding that would reverse it last."""
    report, verdict = judged
    lines = summary(report)
    assert lines[0].startswith(str(verdict.answer))
    assert verdict.reversal in lines[-1]


def test_a_misleading_drafter_is_not_adopted(lab: Lab) -> None:
    """An adversary in the drafter's place: exact all the same, worth nothing, status 4."""
    report, verdict = evaluate(
        lab,
        PROMPTS.first(1),
        plan(Setting.parse("misleading:4"), others=(), drift_replies=0, sabotage_prompts=0),
        LIMITS,
    )
    assert (verdict.answer, verdict.exit_status) == (Answer.REJECT, 4)
    found = report["settings"]["misleading:4"]["all"]
    assert found["algorithm"]["tokens_per_round"] < 1.4
    assert report["exactness"]["misleading:4"]["unexplained"] == 0


def test_sabotage_fails_the_verdict(lab: Lab) -> None:
    """A candidate that changes the output is refused whatever its speed."""
    lossy = dataclasses.replace(MODEL, name="lossy", acceptance="lossy")
    _, verdict = evaluate(
        lab,
        PROMPTS.first(1),
        plan(lossy, others=(), drift_replies=0, sabotage_prompts=0, sessions=(1,)),
        LIMITS,
    )
    assert verdict.exit_status == 4
    failed = [each.name for each in verdict.checks if not each.passed]
    assert "unexplained_differences_max" in failed


def test_only_the_evaluation_may_be_lossy() -> None:
    """An engine of the product refuses the rule."""
    with Engine(TARGET, LetterTokenizer(), config=CONFIG, draft=DRAFT) as engine:
        request = Request(messages=(Message(Role.USER, "abc"),), acceptance="lossy")
        with pytest.raises(EngineError, match="lossy changes the output"):
            engine.submit(request, on_event=lambda event: None)


def test_an_injected_drift_sets_off_the_alarm_and_changes_no_word(
    lab: Lab, caplog: pytest.LogCaptureFixture
) -> None:
    """Acceptance falls to nothing in mid-conversation (K is fixed: no machine's speed decides)."""
    lab.draft = TARGET  # a drafter that is always right, until it is not
    with caplog.at_level(logging.WARNING):
        found = inject_drift(lab, PROMPTS.prompts[:8], acceptance=0.0, window=2)
    assert found["equal_to_plain"]
    assert (found["acceptance_before"], found["acceptance_after"]) == (1.0, 0.0)
    assert found["alarm_after_rounds"] is not None
    assert caplog.text.count("speculation alarm: ") == 1


def test_a_drift_is_held_again_from_the_same_beginning(lab: Lab) -> None:
    """Conversations have other lucks, repetitions the same: their rounds are told apart by K."""
    lab.draft = TARGET
    found = inject_drift(
        lab, PROMPTS.prompts[:4], acceptance=0.0, window=2, conversations=2, repeats=2
    )
    assert (found["conversations"], found["repeats"]) == (2, 2)
    assert len(found["fell_back_after_rounds_each"]) == len(found["alarm_after_rounds_each"]) == 4
    assert found["reply_time_over_plain"]["replies"] == 2 * 2
    assert 0 < found["draft_share_later_replies"]["worst"] < 1
    assert not lab.drift.active


def test_arrivals_are_the_same_for_everybody() -> None:
    """From the seed alone; more sessions come sooner."""
    few = plan_arrivals(PROMPTS.prompts, sessions=1, requests=20, think_s=6, seed=1)
    again = plan_arrivals(PROMPTS.prompts, sessions=1, requests=20, think_s=6, seed=1)
    many = plan_arrivals(PROMPTS.prompts, sessions=8, requests=20, think_s=6, seed=1)
    assert few == again
    assert many[-1].at_s == pytest.approx(few[-1].at_s / 8)
    assert all(8 <= each.max_tokens <= 64 for each in few)


def test_a_refused_request_is_a_failure_under_load(lab: Lab) -> None:
    """Prompts beyond the context are counted, and cost nobody else anything."""
    lab.config = dataclasses.replace(CONFIG, context_tokens=100, cache_tokens=400)
    long = [each for each in PromptSet.load().prompts if each.group == "long_context"]
    arrivals = plan_arrivals([long[0]], sessions=8, requests=2, think_s=0.01, seed=1)
    found = run_load(lab, PLAIN, arrivals)
    assert (found["requests"], found["failures"]) == (2, 2)


def test_differences_that_rounding_explains_are_near_ties(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two likeliest tokens closer than the threshold may change places; others may not."""
    lossy = dataclasses.replace(MODEL, name="lossy", acceptance="lossy")
    runs = Runs(lab.run(each, setting) for each in PROMPTS.prompts for setting in (PLAIN, lossy))
    pairs = runs.pairs("lossy")
    assert compare(lab, pairs, LIMITS)["unexplained"] > 0
    monkeypatch.setattr(Lab, "gap", lambda self, prompt, at: 0.01)
    found = compare(lab, pairs, LIMITS)
    assert (found["unexplained"], found["near_ties"]) == (0, found["replies"] - found["equal"])


def test_figures_count_from_the_rounds(lab: Lab) -> None:
    """Accepted of drafted, and tokens, add up to what the runs hold."""
    runs = Runs(lab.run(each, setting) for each in PROMPTS.prompts for setting in (PLAIN, MODEL))
    found = figures(runs.pairs(MODEL.name))
    rounds = [each for run in runs.of(MODEL.name) for each in run.rounds]
    assert found["algorithm"]["drafted"] == sum(len(each.drafted) for each in rounds)
    assert found["algorithm"]["accepted"] == sum(each.accepted for each in rounds)
    assert found["quality"]["equal_to_plain"] == len(PROMPTS.prompts)


def test_the_sweep_derives_every_surface_from_one_recording(lab: Lab) -> None:
    """Churn in text is 1 under both gated protocols; in tokens it meets the closed form."""
    found = sweep(
        lab,
        PROMPTS.prompts,
        drafter="model",
        limits=Limits(),
        windows=(1, 4),
        temperatures=(0.0, 0.7),
    )
    assert [(each["temperature"], each["window"]) for each in found["settings"]] == [
        *((0.0, 0), (0.0, 1), (0.0, 4)),
        *((0.7, 0), (0.7, 1), (0.7, 4)),
    ]
    for row in found["settings"]:
        for name, shown in row["surfaces"].items():
            assert name.endswith("token_push") or shown["churn"] == 1.0
        if row["window"]:
            assert row["tokens"]["churn"] == pytest.approx(
                row["tokens"]["churn_by_position"], rel=0.25
            )
    assert len(found["recommended"]) == 12
    page = churn_page(found)
    assert "What is usual today" in page
    assert "<script" not in page


def test_the_command_sweeps_the_tiny_preset(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without traces it decodes itself; the page and the last line hold the report."""
    page = tmp_path / "churn.html"
    given = [
        *("eval", "churn", "--preset", "tiny", "--windows", "2", "--temperatures", "0"),
        *("--prompts", "1", "--max-tokens", "8", "--html", str(page), "--json"),
        *("--thresholds", str(DATA / "thresholds.toml")),
    ]
    assert main(given) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert [each["window"] for each in told["settings"]] == [0, 2]
    assert told["limits"]["churn_max"] == LIMITS.surfaces["chat"].churn_max
    assert "Recommended K" in page.read_text()


def test_default_settings_have_both_baselines_of_a_drafter(lab: Lab) -> None:
    """N-grams, the draft model at several K and by choice, both together, and sampled."""
    names = {each.name for each in default_settings(lab)}
    assert {"ngram:auto", "model:1", "model:4", "model:auto", "best:auto"} <= names
    lab.draft = None
    assert {each.drafter for each in default_settings(lab)} == {"ngram"}


def test_a_shadow_is_counted_and_changes_nothing() -> None:
    """With decoding.trial the same tokens come out, and both drafters' guesses are compared."""

    def say(config: Decoding) -> tuple[Engine, tuple[int, ...]]:
        with Lab(
            target=TARGET, tokenizer=LetterTokenizer(), draft=DRAFT, config=config, max_tokens=24
        ) as made:
            run = made.run(PROMPTS.prompts[0], Setting(name="own", drafter="model", window=3))
            return made.engine, run.tokens

    engine, shadowed = say(dataclasses.replace(CONFIG, trial="ngram"))
    assert shadowed == say(CONFIG)[1]
    assert engine.comparison.used.decided > 0
    assert engine.comparison.candidate.decided <= engine.comparison.used.decided


def test_a_canary_takes_its_share_of_an_engine() -> None:
    """Every second reply is drafted by the candidate, by its records."""
    from voiceagent.decoding.completion import complete

    config = dataclasses.replace(CONFIG, trial="ngram", trial_share=0.5, window=2)
    with Engine(TARGET, LetterTokenizer(), config=config, draft=DRAFT) as engine:
        names = []
        for _ in range(4):
            done = complete(engine, engine.request([Message(Role.USER, "abcabcabc")]))
            names.append(done.rounds[-1].drafter)
        assert names == ["model", "ngram", "model", "ngram"]
        assert engine.canary is not None


def test_new_weights_are_tried_beside_the_draft_model() -> None:
    """A draft model of no preset guesses in shadow, as a canary, and can be judged."""
    shadow = dataclasses.replace(CONFIG, trial="file", trial_file="new.gguf", trial_file_sha256="0")
    with Lab(
        target=TARGET,
        tokenizer=LetterTokenizer(),
        draft=DRAFT,
        candidate=TARGET,  # always right
        candidate_memory_mb=7.0,
        config=shadow,
        max_tokens=24,
    ) as made:
        made.run(PROMPTS.prompts[0], Setting(name="own", drafter="model", window=3))
        compared = made.engine.comparison
        assert compared.candidate.share == 1.0
        assert compared.used.share is not None
        assert compared.used.share < 1.0
        judged_run = made.run(PROMPTS.prompts[0], Setting.parse("file:3"))
        assert not any(each.rejected for each in judged_run.rounds)
        assert {each.drafter for each in judged_run.rounds} == {"file"}
        assert made.memory_of(Setting.parse("file:3")) == 7.0
        assert made.memory_of(Setting.parse("ngram:auto")) == 0.0


def test_a_trial_of_an_unknown_drafter_is_refused() -> None:
    """Before anything is promised to anybody."""
    with pytest.raises(EngineError, match=r"decoding\.trial"):
        Engine(
            TARGET, LetterTokenizer(), config=dataclasses.replace(CONFIG, trial="model"), draft=None
        )


def test_a_plan_can_be_run_again_from_its_report(judged: tuple[dict[str, Any], Verdict]) -> None:
    """Settings, levels of load and seeds come back from JSON as they were."""
    from voiceagent.commands._eval_speculation import _plan_again

    lineage_again = json.loads(json.dumps(judged[0]["lineage"]))
    lineage_again["plan"] |= {"ids": [], "max_tokens": 24}
    with Lab(target=TARGET, tokenizer=LetterTokenizer(), draft=None, config=CONFIG) as made:
        assert _plan_again(lineage_again, made) == plan(MODEL)
        assert made.max_tokens == 24
    assert Decoding(**lineage_again["configuration"]) == CONFIG


def test_the_command_judges_the_tiny_preset(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A few prompts are no evidence: do not adopt, with a report and a page all the same."""
    report, page = tmp_path / "report.json", tmp_path / "report.html"
    given = [
        *("eval", "speculation", "--preset", "tiny", "--prompts", "1", "--max-tokens", "8"),
        *("--sessions", "1", "--requests", "1", "--json"),
        *("--thresholds", str(DATA / "thresholds.toml")),
        *("--report", str(report), "--html", str(page)),
    ]
    assert main(given) == 4
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told == json.loads(report.read_text())
    jsonschema.validate(told, json.loads((DATA / "speculation.schema.json").read_text()))
    assert told["verdict"]["answer"] == "do not adopt"
    assert told["lineage"]["weights"]["target"]
    assert "do not adopt" in page.read_text()


def test_an_unknown_candidate_is_an_error_and_no_verdict(lab: Lab) -> None:
    """Not a setting whose replies all fail."""
    with pytest.raises(EngineError, match="no drafter 'oracle'"):
        evaluate(lab, PROMPTS, plan(Setting.parse("oracle:4")), LIMITS)
    with pytest.raises(VoiceAgentError, match="DRAFTER:K"):
        Setting.parse("model:four")
    assert Setting.parse("model") == Setting.parse("model:auto")


def test_two_reports_say_why_they_differ(
    judged: tuple[dict[str, Any], Verdict], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lineage first, then the figures; a file that is no report is refused."""
    one = json.loads(json.dumps(judged[0]))
    other = json.loads(json.dumps(judged[0]))
    other["lineage"]["libraries"]["torch"] = "9.9"
    other["settings"]["model:3"]["all"]["engine"]["speedup_median"] = 9.0
    paths = [tmp_path / "one.json", tmp_path / "other.json"]
    for path, report in zip(paths, (one, other), strict=True):
        path.write_text(json.dumps(report))
    assert main(["eval", "compare", *map(str, paths)]) == 0
    printed = capsys.readouterr().out
    assert "libraries.torch" in printed
    assert "model:3.engine.speedup_median" in printed
    paths[0].write_text("{}")
    assert main(["eval", "compare", *map(str, paths)]) == 1
