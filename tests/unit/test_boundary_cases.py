"""Running text and rules of other projects, streamed character by character, as promised."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEAST = {"en": (0.995, 0.995), "de": (0.97, 0.98), "es": (0.98, 0.985), "zh": (0.99, 0.995)}
"""Precision and recall of sentence ends in running text."""


@pytest.fixture(scope="module")
def figures():
    """The last line of the benchmark, our committer alone."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "bench_boundaries", "--systems", "ours"],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])["systems"]["ours"]


@pytest.mark.cases
@pytest.mark.parametrize("language", LEAST)
def test_sentences_of_running_text_are_found(figures, language):
    """Hardly a cut too many, hardly one too few, in each of the four languages."""
    precision, recall = LEAST[language]
    measured = figures["running_text"][language]
    assert measured["precision"] >= precision
    assert measured["recall"] >= recall


@pytest.mark.cases
def test_rules_that_speech_can_meet_are_kept(figures):
    """Every English rule that is no list inside a line, and 95 % of those of other languages."""
    rules = figures["golden_rules"]
    assert rules["English"][0] == rules["English"][1]
    assert rules["other languages"][0] >= 0.95 * rules["other languages"][1]


@pytest.mark.cases
def test_hard_cases_are_all_right(figures):
    """Sentences, clauses and structures, in every language of the hard cases."""
    assert figures["boundaries"]
    assert all(right == all_of_them for right, all_of_them in figures["boundaries"].values())
