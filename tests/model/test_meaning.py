"""The target model, asked whether two texts say the same, where counting words misleads."""

import pytest

from voiceagent.config import cache_directory
from voiceagent.core.severity import Severity, judge
from voiceagent.decoding.kv_cache import CacheFull
from voiceagent.decoding.model import load_model
from voiceagent.decoding.tokenizer import Tokenizer
from voiceagent.evaluation.meaning import MAX_TOKENS, MeaningJudge
from voiceagent.weights.manifest import Manifest
from voiceagent.weights.store import Store

TURNED = "The door is locked.", "The door isn't locked."
SAME = "He started the company when he was young.", "He founded the firm in his youth."


@pytest.fixture(scope="module")
def meaning() -> MeaningJudge:
    store = Store(cache_directory())
    file = Manifest.load().preset("cpu").files["target"][0]
    model = load_model(store, file, threads=2, device="cpu")
    return MeaningJudge(model, Tokenizer.load(store, file))


def test_meaning_tells_what_strings_do_not(meaning: MeaningJudge) -> None:
    """One word turned around is far in meaning and near in letters; other words are the reverse."""
    far = judge(*TURNED, meaning=meaning.distance)
    near = judge(*SAME, meaning=meaning.distance)
    assert far.meaning_distance is not None
    assert near.meaning_distance is not None
    assert far.meaning_distance > near.meaning_distance
    assert far.string_distance < near.string_distance
    assert (far.severity, near.severity) == (Severity.INVERSION, Severity.REWORDING)


def test_the_distance_is_the_same_in_both_directions(meaning: MeaningJudge) -> None:
    """The model is asked both ways round, whatever it was asked before."""
    one, other = TURNED
    assert meaning.distance(one, other) == pytest.approx(meaning.distance(other, one), abs=1e-4)


def test_texts_that_do_not_fit_are_refused(meaning: MeaningJudge) -> None:
    """And the judge can be asked again."""
    with pytest.raises(CacheFull):
        meaning.distance("word " * MAX_TOKENS, "word")
    assert 0 <= meaning.distance(*TURNED) <= 1
