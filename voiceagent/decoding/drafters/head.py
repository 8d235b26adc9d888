"""Drafts with a small head over the target's hidden states, in the manner of EAGLE.

The target has already worked out what its last token means: its hidden state there (a feature).
One linear layer guesses the next feature from that feature and the token that followed it, and the
target's own output layer turns the guess into logits; so the head drafts on, feature by feature
(Li et al. 2024, arXiv 2401.15077, without its transformer layer). A wrong feature costs time only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from voiceagent.decoding.choice import Choice, Chooser
from voiceagent.decoding.drafters.base import Proposal
from voiceagent.decoding.sampling import Context

if TYPE_CHECKING:
    from voiceagent.decoding.model import CausalModel


@dataclass(frozen=True, eq=False)
class FeatureHead:
    """The head's weights, and the two ends of the target that it borrows.

    Attributes:
        weight: float32 (features + width, features).
        embed: a token's embedding, float32 (width,).
        score: the target's output layer: logits, float32 (vocabulary,), of a feature (features,)
            as ``last_hidden`` has it.
    """

    weight: Tensor
    embed: Callable[[int], Tensor]
    score: Callable[[Tensor], Tensor]

    def follow(self, feature: Tensor, token: int) -> Tensor:
        """The feature (features,) guessed at ``token``, which follows ``feature``."""
        return torch.cat([feature, self.embed(token)]) @ self.weight

    @classmethod
    def fit(
        cls,
        target: "CausalModel",
        texts: Sequence[Sequence[int]],
        *,
        embed: Callable[[int], Tensor],
        score: Callable[[Tensor], Tensor],
        ridge: float = 1e-3,
    ) -> "FeatureHead":
        """The weights that guess the target's features on ``texts`` (token ids) best.

        Least squares with ``ridge`` times the mean square of the inputs on the diagonal.
        """
        inputs, outputs = [], []
        for text in texts:
            target.forward(torch.tensor(text, dtype=torch.int64), target.new_cache(len(text)))
            features = target.last_hidden.cpu().double()
            embedded = torch.stack([embed(token) for token in text[1:]]).double()
            inputs.append(torch.cat([features[:-1], embedded], dim=1))
            outputs.append(features[1:])
        seen, wanted = torch.cat(inputs), torch.cat(outputs)
        square = seen.T @ seen
        square += ridge * square.diagonal().mean() * torch.eye(len(square), dtype=torch.float64)
        return cls(torch.linalg.solve(square, seen.T @ wanted).float(), embed, score)


class HeadDrafter:
    """Guesses feature by feature from the last one that the target worked out itself."""

    name = "head"

    def __init__(self, head: FeatureHead) -> None:
        self._head = head
        self._ids: list[int] = []
        self._prompt_length = 0
        self._chooser: Chooser | None = None
        self._feature: Tensor | None = None

    def begin(self, prompt: Sequence[int], *, chooser: Chooser) -> None:
        """Nothing is known before the target has read the prompt."""
        self._ids, self._prompt_length = list(prompt), len(prompt)
        self._chooser, self._feature = chooser, None

    def observe(self, hidden: Tensor) -> None:
        """Keeps the feature that the last emitted token was chosen from."""
        self._feature = hidden[-1].cpu().clone()

    def propose(self, count: int) -> Proposal:
        """Draws up to ``count`` tokens; nothing before the first round."""
        if self._feature is None or self._chooser is None:
            return Proposal()
        feature, context = self._feature, Context(self._ids, self._prompt_length)
        choices: list[Choice] = []
        probabilities: list[float] = []
        while len(choices) < count:
            feature = self._head.follow(feature, (context.block or context.ids)[-1])
            logits = self._head.score(feature)
            choice = self._chooser.choose(logits, context)
            choices.append(choice)
            probabilities.append(self._chooser.probability(choice.token, choice, logits))
            context = context.then(choice.token)
            if choice.token in self._chooser.sampler.eos_ids:
                break
        return Proposal(
            tuple(choice.token for choice in choices),
            tuple(choice.law for choice in choices),
            tuple(probabilities),
        )

    def accept(self, emitted: Sequence[int]) -> None:
        """The last emitted token is what the next guess starts from."""
        self._ids.extend(emitted)
