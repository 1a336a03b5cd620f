"""Gym's multiple choice server, which gives half a point or no verdict where the answer asks for it.

Tests use it for what `mcqa` never does: rewards between 0 and 1, and rewards that are no measurement.
"""

from __future__ import annotations

from resources_servers.mcqa.app import MCQAResourcesServer, MCQAVerifyRequest, MCQAVerifyResponse


class FlaggedQuizServer(MCQAResourcesServer):
    async def verify(self, body: MCQAVerifyRequest) -> MCQAVerifyResponse:
        verdict = await super().verify(body)
        text = body.response.output_text
        if "[half]" in text:
            verdict.reward = 0.5
        if "[no verdict]" in text:
            verdict.mask_sample = True
            verdict.failure_kind = "verifier_error"
            verdict.failure_reason = "the answer asked for no verdict"
        return verdict


if __name__ == "__main__":
    FlaggedQuizServer.run_webserver()
