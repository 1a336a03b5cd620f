"""A parts desk: five tools over a small stock room, and a verifier that reads what was really booked.

A rollout scores 1 when the session's reservations and orders are exactly the expected ones, in any order, and
the model ended with a message of its own; else 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fastapi import FastAPI, Request
from nemo_gym.base_resources_server import (
    BaseResourcesServerConfig,
    BaseRunRequest,
    BaseSeedSessionRequest,
    BaseSeedSessionResponse,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)
from nemo_gym.server_utils import SESSION_ID_KEY
from pydantic import BaseModel, Field


class Part(NamedTuple):
    name: str
    on_hand: int
    shelf: str
    unit_price: float
    pack_size: int
    lead_days: int


CATALOGUE = {
    "P-101": Part("hex bolt M6x20", 240, "A1", 0.12, 50, 2),
    "P-102": Part("ball bearing 6204", 9, "A4", 6.80, 5, 4),
    "P-103": Part("drive belt A42", 3, "B2", 14.50, 1, 6),
    "P-104": Part("seal ring 30 mm", 6, "B3", 0.95, 10, 3),
    "P-105": Part("proximity switch NPN", 0, "C1", 21.00, 2, 9),
    "P-106": Part("fuse 4 A", 60, "C2", 0.40, 20, 1),
}
"""The stock at the start of every session; a booking changes only the session's own copy."""


class Booking(BaseModel):
    part_id: str
    quantity: int
    job: str | None = None
    """The job that a reservation is for; an order has none."""


@dataclass
class Desk:
    """One session's bookings."""

    reservations: list[Booking] = field(default_factory=list)
    orders: list[Booking] = field(default_factory=list)

    def free(self, part_id: str) -> int:
        """Units on the shelf that this session has not reserved."""
        reserved = sum(booking.quantity for booking in self.reservations if booking.part_id == part_id)
        return CATALOGUE[part_id].on_hand - reserved


class FindPartRequest(BaseModel):
    name: str


class CheckStockRequest(BaseModel):
    part_id: str


class GetQuoteRequest(BaseModel):
    part_id: str


class ReserveStockRequest(BaseModel):
    part_id: str
    quantity: int = Field(gt=0)
    job: str


class OrderPartsRequest(BaseModel):
    part_id: str
    quantity: int = Field(gt=0)


class PartsDeskRunRequest(BaseRunRequest):
    task_id: str
    expected_reservations: list[Booking]
    expected_orders: list[Booking]


class PartsDeskVerifyRequest(PartsDeskRunRequest, BaseVerifyRequest):
    pass


class PartsDeskVerifyResponse(BaseVerifyResponse):
    task_id: str
    expected_reservations: list[Booking]
    expected_orders: list[Booking]
    reservations: list[Booking]
    orders: list[Booking]


class PartsDeskConfig(BaseResourcesServerConfig):
    pass


Reply = dict[str, Any]


class PartsDeskServer(SimpleResourcesServer):
    ray_enabled = False
    config: PartsDeskConfig
    desks: dict[str, Desk] = Field(default_factory=dict)

    def setup_webserver(self) -> FastAPI:
        app = super().setup_webserver()
        for tool in (self.find_part, self.check_stock, self.get_quote, self.reserve_stock, self.order_parts):
            app.post(f"/{tool.__name__}")(tool)
        return app

    async def seed_session(self, request: Request, body: BaseSeedSessionRequest) -> BaseSeedSessionResponse:
        self.desks[request.session[SESSION_ID_KEY]] = Desk()
        return BaseSeedSessionResponse()

    async def find_part(self, body: FindPartRequest) -> Reply:
        wanted = body.name.lower().split()
        found = [
            {"part_id": part_id, "name": part.name}
            for part_id, part in CATALOGUE.items()
            if all(word in part.name.lower() for word in wanted)
        ]
        return {"parts": found}

    async def check_stock(self, request: Request, body: CheckStockRequest) -> Reply:
        if body.part_id not in CATALOGUE:
            return _unknown(body.part_id)
        shelf = CATALOGUE[body.part_id].shelf
        return {"part_id": body.part_id, "free": self._desk(request).free(body.part_id), "shelf": shelf}

    async def get_quote(self, body: GetQuoteRequest) -> Reply:
        if body.part_id not in CATALOGUE:
            return _unknown(body.part_id)
        part = CATALOGUE[body.part_id]
        return {
            "part_id": body.part_id,
            "unit_price": part.unit_price,
            "pack_size": part.pack_size,
            "lead_days": part.lead_days,
        }

    async def reserve_stock(self, request: Request, body: ReserveStockRequest) -> Reply:
        if body.part_id not in CATALOGUE:
            return _unknown(body.part_id)
        desk = self._desk(request)
        if body.quantity > desk.free(body.part_id):
            return {"error": f"only {desk.free(body.part_id)} of {body.part_id} are free"}
        desk.reservations.append(Booking(**body.model_dump()))
        return {"reserved": body.quantity, "part_id": body.part_id, "free": desk.free(body.part_id)}

    async def order_parts(self, request: Request, body: OrderPartsRequest) -> Reply:
        if body.part_id not in CATALOGUE:
            return _unknown(body.part_id)
        part = CATALOGUE[body.part_id]
        if body.quantity % part.pack_size:
            return {"error": f"{body.part_id} comes in packs of {part.pack_size}"}
        self._desk(request).orders.append(Booking(**body.model_dump()))
        return {"ordered": body.quantity, "part_id": body.part_id, "arrives_in_days": part.lead_days}

    async def verify(self, request: Request, body: PartsDeskVerifyRequest) -> PartsDeskVerifyResponse:
        desk = self.desks.pop(request.session[SESSION_ID_KEY], Desk())
        is_booked = _same(desk.reservations, body.expected_reservations) and _same(
            desk.orders, body.expected_orders
        )
        is_finished = body.response.incomplete_details is None and body.response.output[-1].type == "message"
        return PartsDeskVerifyResponse(
            **body.model_dump(),
            reward=float(is_booked and is_finished),
            reservations=desk.reservations,
            orders=desk.orders,
        )

    def _desk(self, request: Request) -> Desk:
        return self.desks.setdefault(request.session[SESSION_ID_KEY], Desk())


def _unknown(part_id: str) -> Reply:
    return {"error": f"no part {part_id}"}


def _same(found: list[Booking], expected: list[Booking]) -> bool:
    def key(booking: Booking) -> tuple[str, int, str]:
        return booking.part_id, booking.quantity, booking.job or ""

    return sorted(map(key, found)) == sorted(map(key, expected))


if __name__ == "__main__":
    PartsDeskServer.run_webserver()
