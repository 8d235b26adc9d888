"""How written German is said: rules in the order in which they are applied.

Numbers, dates, times, money, measures, ordinals (with the ending that the word before asks for),
abbreviations and addresses. Not: Roman numerals other than those of rulers and centuries, and cases
that only a parse of the sentence tells.
"""

from voiceagent.speech.german import dates, quantities, words

BEFORE_MARKUP = dates.BEFORE_MARKUP
"""Applied before Markdown is taken away."""

RULES = (
    *words.ADDRESS_RULES,
    *quantities.VULGAR_FRACTION_RULES,
    *dates.RULES,
    *words.RULES,
    *quantities.RULES,
    *quantities.PLAIN_NUMBER_RULES,
    *words.MARK_RULES,
)
