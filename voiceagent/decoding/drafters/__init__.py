"""Drafters: what guesses the target's next tokens."""

from voiceagent.decoding.drafters.base import Drafter, Observer, Proposal, Stepwise
from voiceagent.decoding.drafters.best import BestDrafter
from voiceagent.decoding.drafters.draft_model import DraftModel
from voiceagent.decoding.drafters.head import FeatureHead, HeadDrafter
from voiceagent.decoding.drafters.ngram import NgramDrafter
from voiceagent.decoding.drafters.none import NoDrafter

__all__ = [
    "BestDrafter",
    "DraftModel",
    "Drafter",
    "FeatureHead",
    "HeadDrafter",
    "NgramDrafter",
    "NoDrafter",
    "Observer",
    "Proposal",
    "Stepwise",
]
