"""The verdicts of the comparator, by the texts that Gym writes into a rollout."""

from __future__ import annotations

from enum import StrEnum


class Category(StrEnum):
    """Why a response got its reward. The values are Gym's own texts: rollouts hold them."""

    NO_ACTION = "No tool call or chat message was found in the response"
    CALL_MISSING = "No tool call was found when one was expected"
    MESSAGE_MATCHES = "A chat message was found as expected"
    MESSAGE_MISSING = "A tool call was executed when a chat message was expected"
    TOOL_DIFFERS = "The tool in a tool call is not the expected tool"
    ARGUMENTS_UNDECODABLE = (
        "An error occurred when decoding the arguments string in a tool call as a JSON object"
    )
    VALUE_TYPE_DIFFERS = "The type of an argument value in a tool call is different than the expected type"
    OBJECT_KEYS_DIFFER = (
        "The keys in an object in an argument value in a tool call are different than "
        "the keys in the expected object"
    )
    LIST_LENGTH_DIFFERS = (
        "A list in an argument value in a tool call has a different length than the expected list"
    )
    VALUE_DIFFERS = "An argument value in a tool call is different than the expected value"
    CALL_MATCHES = "A tool call that matches the expected tool call was found"
    CALL_COUNT_DIFFERS = "The number of tool calls in a batch is different than expected"
    BATCH_MATCHES = "A tool-call batch that matches the expected tool calls was found"
