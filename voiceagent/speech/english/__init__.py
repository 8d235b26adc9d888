"""How written English is said: rules in the order in which they are applied.

Own rules, because they keep the way back from each spoken word to its source, which a finite-state
normalizer loses. wetext 0.1.8, the best light library measured, says 249 of the 330 sentences of
``spoken_en.jsonl`` right; it turns American dates around, drops the first word of "$1,925.21" and
fails with an assertion on a square bracket.
"""

from voiceagent.speech.english import (
    dates,
    electronic,
    formulas,
    marks,
    measures,
    money,
    names,
    particulars,
    quantities,
    streets,
    times,
)

BEFORE_MARKUP = (*formulas.RULES, *marks.EMOJI_RULES)
"""Applied before Markdown is taken away."""

RULES = (
    *particulars.RULES,
    *electronic.RULES,
    *times.RULES,
    *names.BEFORE_NUMBER_RULES,
    *streets.RULES,
    *dates.RULES,
    *money.RULES,
    *measures.RULES,
    *quantities.RULES,
    *names.RULES,
    *quantities.PLAIN_NUMBER_RULES,
    *marks.RULES,
)
