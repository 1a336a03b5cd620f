"""A tokenizer without a download: one token a byte, so every text comes back as it was."""

from __future__ import annotations

from collections.abc import Sequence

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast


def byte_tokenizer(chat_template: str, pieces: Sequence[str] = ()) -> PreTrainedTokenizerFast:
    """Bytes, an end, a pad, and one token for each of `pieces`, which are whole answers."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={byte: number for number, byte in enumerate(alphabet)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    inner.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<eos>", pad_token="<pad>", clean_up_tokenization_spaces=False
    )
    made.add_tokens([AddedToken(piece, normalized=False, special=False) for piece in pieces])
    made.chat_template = chat_template
    return made
