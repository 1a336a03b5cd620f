"""What the contents of items are made of, as the request model of Gym 0.7.0 takes it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

Status = Literal["in_progress", "completed", "incomplete"]
Phase = Literal["commentary", "final_answer"]
_Detail = Literal["low", "high", "auto", "original"]


class InputText(Struct, tag="input_text", frozen=True, gc=False):
    text: str


class InputImage(Struct, tag="input_image", frozen=True, gc=False):
    detail: _Detail
    image_url: str | None = None
    file_id: str | None = None


class InputFile(Struct, tag="input_file", frozen=True, gc=False):
    file_id: str | None = None


class InputVideo(Struct, tag="input_video", frozen=True, gc=False):
    video_url: str | dict[str, Any] | UnsetType = UNSET
    video: str | dict[str, Any] | UnsetType = UNSET

    def __post_init__(self) -> None:
        sources = [source for source in (self.video_url, self.video) if source is not UNSET]
        source = sources[0] if len(sources) == 1 else ""
        url = source.get("url") if isinstance(source, dict) else source
        if not isinstance(url, str) or not url.strip():
            raise ValueError("input_video needs one source: video_url or video with a URL")


class ResultImage(Struct, tag="input_image", frozen=True, gc=False):
    detail: _Detail | None = None
    image_url: str | None = None
    file_id: str | None = None


class _FileCitation(Struct, tag="file_citation", frozen=True, gc=False):
    file_id: str
    filename: str
    index: int


class _UrlCitation(Struct, tag="url_citation", frozen=True, gc=False):
    url: str
    title: str
    start_index: int
    end_index: int


class _ContainerFileCitation(Struct, tag="container_file_citation", frozen=True, gc=False):
    container_id: str
    file_id: str
    filename: str
    start_index: int
    end_index: int


class _FilePath(Struct, tag="file_path", frozen=True, gc=False):
    file_id: str
    index: int


class _TopLogprob(Struct, frozen=True, gc=False):
    token: str
    bytes: list[int]
    logprob: float


class _Logprob(Struct, frozen=True, gc=False):
    token: str
    bytes: list[int]
    logprob: float
    top_logprobs: list[_TopLogprob]


class OutputText(Struct, tag="output_text", frozen=True, gc=False):
    text: str
    annotations: list[_FileCitation | _UrlCitation | _ContainerFileCitation | _FilePath]
    logprobs: list[_Logprob] | None = None


class RefusalText(Struct, tag="refusal", frozen=True, gc=False):
    refusal: str


class SummaryText(Struct, frozen=True, gc=False):
    text: str
    type: Literal["summary_text"]


class ReasoningText(Struct, frozen=True, gc=False):
    text: str
    type: Literal["reasoning_text"]
