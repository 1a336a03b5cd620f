"""Shell words: what `sh` would take for one word, and where a command ends."""

from __future__ import annotations

import pytest

from gymbal.io.shell_words import command_words, is_operator, shell_words


def test_words_are_split_as_a_shell_does() -> None:
    text = "cd 'a b'; gym eval run --model \"x\" '' 2>&1|tee log # end"
    words = ["cd", "a b", ";", "gym", "eval", "run", "--model", "x", "", "2", ">&", "1", "|", "tee", "log"]
    assert shell_words(text) == [*words, "#", "end"]


def test_words_with_open_quotes_are_an_error() -> None:
    with pytest.raises(ValueError, match="quotation"):
        shell_words("echo 'x")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["bash", "-c", "cd x; ls 'y z'"], ["bash", "-c", "cd", "x", ";", "ls", "y z"]),
        (["echo", "a;b", "it's fine"], ["echo", "a;b", "it's fine"]),
    ],
)
def test_command_words_open_the_text_that_a_shell_is_given(command: list[str], words: list[str]) -> None:
    assert list(command_words(command)) == words


@pytest.mark.parametrize(("word", "is_end"), [(";", True), (">&", True), ("", False), ("a;", False)])
def test_operator_ends_a_command_and_an_empty_word_does_not(word: str, is_end: bool) -> None:
    assert is_operator(word) is is_end
