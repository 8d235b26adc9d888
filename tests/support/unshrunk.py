"""A pytest plugin for ``scripts/mutants``: any counterexample will do."""

from hypothesis import Phase, settings

settings.register_profile("unshrunk", phases=[Phase.explicit, Phase.generate])
settings.load_profile("unshrunk")
