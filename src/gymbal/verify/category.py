"""The verdicts of the comparator, by the texts that Gym writes into a rollout."""

from __future__ import annotations

from enum import StrEnum


class Category(StrEnum):
    """Why a response got its reward. The values are Gym's own texts: rollouts hold them.

    Those about F1, list items and tool schemas come with options of Gym's main branch alone.
    """

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
    LIST_F1_LOW = "The F1 score for a list argument is below the threshold"
    LIST_F1_PARTIAL = "The F1 score for a list argument is a partial match"
    LIST_GUARDRAIL_FAILED = "The list argument F1 match failed strong-match guardrails"
    LIST_ITEM_MALFORMED = "A list argument in a tool call does not conform to the expected schema"
    TOOL_NOT_DECLARED = "No declared tool schema was found for the tool call"
    TOOL_SCHEMA_BROKEN = "The tool call arguments do not conform to the declared tool schema"
    VALUE_DIFFERS = "An argument value in a tool call is different than the expected value"
    CALL_MATCHES = "A tool call that matches the expected tool call was found"
    CALL_COUNT_DIFFERS = "The number of tool calls in a batch is different than expected"
    BATCH_MATCHES = "A tool-call batch that matches the expected tool calls was found"
