"""Drafters: what guesses the target's next tokens."""

from voiceagent.decoding.drafters.base import Drafter, Observer, Proposal, Stepwise
from voiceagent.decoding.drafters.draft_model import DraftModel
from voiceagent.decoding.drafters.ngram import NgramDrafter
from voiceagent.decoding.drafters.none import NoDrafter

__all__ = [
    "DraftModel",
    "Drafter",
    "NgramDrafter",
    "NoDrafter",
    "Observer",
    "Proposal",
    "Stepwise",
]
