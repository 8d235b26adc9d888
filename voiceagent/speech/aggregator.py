"""The committer as a pipecat text aggregator, for any pipecat bot.

    tts = SomeTTSService(..., skip_text_types=["silent"])
    processor = LLMTextProcessor(text_aggregator=CommitAggregator(language="de"))
    pipeline = Pipeline([..., llm, processor, tts, ...])

It cuts as ``voiceagent segment`` does. It takes whatever text it is given for verified: in a bot
without a ledger that is the caller's promise.
"""

from collections.abc import AsyncIterator

from pipecat.utils.text.base_text_aggregator import Aggregation, BaseTextAggregator, TextType

from voiceagent.core.committer import Commit, Committer
from voiceagent.core.kinds import Kind
from voiceagent.core.policy import Policy


class CommitAggregator(BaseTextAggregator):
    """Cuts a bot's replies at boundaries that no later text can move.

    What is not for the ear (thinking, code, JSON, tool calls) comes out with the type ``silent``,
    all else as a sentence: name ``silent`` in the speech service's ``skip_text_types``, and it
    reaches the context without being said.

    Args:
        language: BCP 47 tag of the replies.
        policy: where to cut; by default the first segment early at a clause, then sentences.
    """

    def __init__(self, *, language: str = "en", policy: Policy | None = None) -> None:
        super().__init__(language=language)
        self._policy = Policy.voice() if policy is None else policy
        self._waiting = ""
        self._committer = self._new_committer()

    @property
    def text(self) -> Aggregation:
        """What waits for a boundary."""
        return Aggregation(text=self._waiting.strip(), type=TextType.SENTENCE)

    def set_language(self, language: str | None) -> None:
        """Chooses the rules for the replies that begin from now on."""
        super().set_language(language)
        if not self._waiting:
            self._begin()

    async def aggregate(self, text: str) -> AsyncIterator[Aggregation]:
        """Takes the next text, however it is chopped, and yields what is certain."""
        self._waiting += text
        self._committer.verify(text)
        for commit in self._committer.commits():
            self._waiting = self._waiting[len(commit.text) :]
            if commit.text.strip():
                yield _aggregation(commit)

    async def flush(self) -> Aggregation | None:
        """The end of a reply: what is left of it, in one piece."""
        self._committer.end()
        left = [commit for commit in self._committer.commits() if commit.text.strip()]
        self._begin()
        if not left:
            return None
        spoken = [commit for commit in left if commit.kind is not Kind.SILENT]
        text = "".join(commit.text for commit in spoken or left)
        return Aggregation(text=text.strip(), type=_aggregation((spoken or left)[0]).type)

    async def handle_interruption(self) -> None:
        """What was not handed over is forgotten."""
        self._begin()

    async def reset(self) -> None:
        """The next text begins a reply."""
        self._begin()

    def _begin(self) -> None:
        self._waiting = ""
        self._committer = self._new_committer()

    def _new_committer(self) -> Committer:
        return Committer(reply="", epoch=0, language=self.language, policy=self._policy)


def _aggregation(commit: Commit) -> Aggregation:
    silent = commit.kind is Kind.SILENT
    return Aggregation(
        text=commit.text.strip(), type=str(Kind.SILENT) if silent else TextType.SENTENCE
    )
