"""The form in which the gpu preset comes: a tiny repository made here, loaded and decoded."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer as Backend
from tokenizers import decoders, pre_tokenizers
from tokenizers.models import BPE
from transformers import Qwen2Config, Qwen2ForCausalLM

from voiceagent.config import Decoding
from voiceagent.core.history import Message, Role
from voiceagent.decoding.completion import complete
from voiceagent.decoding.engine import Engine
from voiceagent.decoding.errors import EngineError
from voiceagent.decoding.hub_models import load_hub_model, load_hub_tokenizer
from voiceagent.decoding.sampling import Sampling

TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MESSAGES = (Message(Role.USER, "hello <|im_end|> hello hello"),)


def make_repository(folder: Path, *, seed: int, layers: int) -> Path:
    """A random model of the Qwen family over single bytes and two control tokens."""
    folder.mkdir()
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Backend(BPE({letter: index for index, letter in enumerate(letters)}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    backend.save(str(folder / "tokenizer.json"))
    settings = {"chat_template": TEMPLATE, "bos_token": None, "add_bos_token": False}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    torch.manual_seed(seed)
    config = Qwen2Config(
        vocab_size=264,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        initializer_range=0.5,
    )
    model = Qwen2ForCausalLM(config)
    model.generation_config.eos_token_id = [257]
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The target."""
    return make_repository(tmp_path_factory.mktemp("hub") / "target", seed=1, layers=2)


@pytest.fixture(scope="module")
def engine(repository: Path) -> Iterator[Engine]:
    """Target and draft as they are loaded for the gpu preset, on the CPU."""
    draft = make_repository(repository.parent / "draft", seed=2, layers=1)
    with Engine(
        load_hub_model(repository, device="cpu"),
        load_hub_tokenizer(repository),
        config=Decoding(context_tokens=200, max_tokens=24, threads=1),
        draft=load_hub_model(draft, device="cpu"),
    ) as opened:
        yield opened


def test_text_never_becomes_control_tokens(repository: Path) -> None:
    """The template's marks are control tokens; the same letters from a user are letters."""
    tokenizer = load_hub_tokenizer(repository)
    assert tokenizer.vocabulary_size == 258
    assert tokenizer.eos_ids == {257}
    assert 257 not in tokenizer.encode("<|im_end|>")
    rendered = tokenizer.render(MESSAGES)
    assert rendered.count(257) == 1
    assert tokenizer.decode(rendered) == f"user\n{MESSAGES[0].content}\nassistant\n"


def test_the_draft_model_changes_nothing(engine: Engine) -> None:
    """Greedy and sampled replies are plain decoding's; padding columns are never sampled."""
    drafted = rejected = 0
    for seed in range(6):
        sampling = Sampling(temperature=seed / 3, seed=seed, logit_bias={257: -50.0})
        replies = [
            complete(
                engine,
                engine.request(MESSAGES, drafter=drafter, window=3, sampling=sampling),
            )
            for drafter in ("none", "model", "ngram")
        ]
        assert len({reply.tokens for reply in replies}) == 1
        assert max(replies[0].tokens) < 258
        assert len(replies[0].tokens) == 24
        drafted += sum(reply.figures()["drafted"] for reply in replies)
        rejected += sum(reply.figures()["rejected"] for reply in replies)
    assert min(drafted, rejected) > 0


def test_what_is_no_repository_is_named(tmp_path: Path) -> None:
    """One line with the folder in it."""
    with pytest.raises(EngineError, match=str(tmp_path)):
        load_hub_tokenizer(tmp_path)
    with pytest.raises(EngineError, match=str(tmp_path)):
        load_hub_model(tmp_path, device="cpu")
