"""Opens the lab of a preset, and weighs what the draft model adds to the process."""

from dataclasses import replace
from pathlib import Path

import torch

from voiceagent.config import Decoding, cache_directory
from voiceagent.decoding.loading import load_candidate, load_models, machine_preset
from voiceagent.decoding.model import CausalModel
from voiceagent.evaluation.lab import Lab
from voiceagent.weights.manifest import Manifest, Preset
from voiceagent.weights.store import Store

_PAGES = Path("/proc/self/statm")
_PAGE_BYTES = 4096
_MEGABYTE = 1 << 20
_POSITIONS = 16


def open_lab(preset: str | None, *, config: Decoding, max_tokens: int) -> tuple[Lab, Preset]:
    """The models of a preset, target first, so that the draft's memory can be told from it.

    Raises:
        VoiceAgentError: files are missing or damaged; the message says what to do.
    """
    chosen = Manifest.load().preset(preset or machine_preset())
    store = Store(cache_directory())
    files = dict(chosen.files)
    drafts = files.pop("draft", ())
    usual = replace(config, trial=None, trial_file=None, trial_file_sha256=None)
    target = load_models(usual, preset=replace(chosen, files=files), store=store)
    _touch(target.target)
    before_draft_mb = resident_mb()
    draft = None
    if drafts:
        as_target = replace(chosen, files={"target": drafts})
        draft = load_models(usual, preset=as_target, store=store).target
        _touch(draft)
    after_draft_mb = resident_mb()
    candidate = load_candidate(config, store=store)
    if candidate is not None:
        _touch(candidate)
    lab = Lab(
        target=target.target,
        tokenizer=target.tokenizer,
        draft=draft,
        config=config,
        max_tokens=max_tokens,
        memory_added_mb=_added(before_draft_mb, after_draft_mb),
        candidate=candidate,
        candidate_memory_mb=_added(after_draft_mb, resident_mb()),
    )
    return lab, chosen


def _added(before_mb: float | None, after_mb: float | None) -> float | None:
    return None if before_mb is None or after_mb is None else after_mb - before_mb


def _touch(model: CausalModel) -> None:
    """Reads every weight once: what lies in a mapped file counts only then."""
    with torch.inference_mode():
        model.forward(torch.zeros(1, dtype=torch.int64), model.new_cache(_POSITIONS))


def resident_mb() -> float | None:
    """Memory of this process that is in use; None where the system does not say."""
    try:
        pages = int(_PAGES.read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * _PAGE_BYTES / _MEGABYTE
