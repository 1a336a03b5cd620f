"""The tasks behind `rollouts/`, and the script of the model that works on them.

The model is scripted: two runs through every task, written by hand so that the rollouts hold what real agents
do: calls one at a time and in batches, text before a call, a call that fails and is mended, and bad endings.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Json = dict[str, Any]

SYSTEM = (
    "You work at the parts desk of a repair shop. Look a part up before you book it, book only what is asked "
    "for, and end with a short message to the person who asked."
)

PART_ID = {"type": "string", "description": "Number from the catalogue, such as P-100."}
QUANTITY = {"type": "integer", "minimum": 1}
JOB = {"type": "string", "description": "Job number, such as J-100."}


def tool(name: str, description: str, /, **properties: Json) -> Json:
    """A function tool; all of its parameters are required."""
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "function",
        "name": name,
        "description": description,
        "parameters": parameters,
        "strict": True,
    }


TOOLS = [
    tool("find_part", "Finds parts by words of their name.", name={"type": "string"}),
    tool("check_stock", "Says how many of a part are free, and on which shelf.", part_id=PART_ID),
    tool("get_quote", "Says unit price, pack size and lead time of a part.", part_id=PART_ID),
    tool("reserve_stock", "Reserves parts for a job.", part_id=PART_ID, quantity=QUANTITY, job=JOB),
    tool("order_parts", "Orders parts, in whole packs.", part_id=PART_ID, quantity=QUANTITY),
]


def turn(*calls: Json, think: str = "", say: str = "", is_cut: bool = False) -> Json:
    """One response of the model: reasoning, then text, then calls."""
    given = {"reasoning": think, "text": say, "calls": list(calls), "truncated": is_cut}
    return {key: value for key, value in given.items() if value}


def find(name: str) -> Json:
    """Looks a part up."""
    return {"name": "find_part", "arguments": {"name": name}}


def check(part_id: str) -> Json:
    """Asks for the stock of a part."""
    return {"name": "check_stock", "arguments": {"part_id": part_id}}


def quote(part_id: str) -> Json:
    """Asks for the price of a part."""
    return {"name": "get_quote", "arguments": {"part_id": part_id}}


def reserve(part_id: str, quantity: int, job: str) -> Json:
    """Reserves parts."""
    return {"name": "reserve_stock", "arguments": {"part_id": part_id, "quantity": quantity, "job": job}}


def order(part_id: str, quantity: int) -> Json:
    """Orders parts."""
    return {"name": "order_parts", "arguments": {"part_id": part_id, "quantity": quantity}}


class Task(NamedTuple):
    """A request, the bookings that answer it, and what the model does in either repeat."""

    request: str
    reservations: list[Json]
    orders: list[Json]
    repeats: tuple[list[Json], list[Json]]


TASKS = (
    Task(
        "Job J-301 needs 4 hex bolts M6x20 and 2 ball bearings 6204. Please reserve them.",
        [reserve("P-101", 4, "J-301"), reserve("P-102", 2, "J-301")],
        [],
        (
            [
                turn(
                    find("hex bolt M6x20"),
                    find("ball bearing 6204"),
                    think="Two parts, and I know neither number. I can look both up at once.",
                ),
                turn(
                    check("P-101"),
                    check("P-102"),
                    say="Both are in the catalogue. I check that we have enough of them.",
                ),
                turn(
                    reserve("P-101", 4, "J-301"),
                    reserve("P-102", 2, "J-301"),
                    think="240 bolts and 9 bearings are free, so both quantities can be reserved.",
                ),
                turn(say="Reserved for J-301: 4 hex bolts M6x20 and 2 ball bearings 6204."),
            ],
            [
                turn(
                    find("hex bolt M6x20"),
                    find("ball bearing 6204"),
                    think="I need the numbers of the bolt and of the bearing.",
                ),
                turn(
                    reserve("P-101", 4, "J-301"),
                    reserve("P-102", 4, "J-301"),
                    think="Four of each, then.",
                ),
                turn(say="Both parts are reserved for J-301."),
            ],
        ),
    ),
    Task(
        "Reserve one drive belt A42 for job J-302.",
        [reserve("P-103", 1, "J-302")],
        [],
        (
            [
                turn(find("drive belt A42"), think="First the part number of the belt."),
                turn(check("P-103")),
                turn(reserve("P-103", 1, "J-302"), think="Three are free and one is wanted."),
                turn(say="One drive belt A42 is reserved for J-302; it lies on shelf B2."),
            ],
            [
                turn(find("drive belt"), say="I look the belt up."),
                turn(reserve("P-103", 1, "J-302")),
                turn(say="Done: one drive belt A42 for J-302."),
            ],
        ),
    ),
    Task(
        "Job J-303 takes 2 of each of these, as far as we have them: seal ring 30 mm, proximity switch NPN, "
        "fuse 4 A.",
        [reserve("P-104", 2, "J-303"), reserve("P-106", 2, "J-303")],
        [],
        (
            [
                turn(
                    find("seal ring 30 mm"),
                    find("proximity switch NPN"),
                    find("fuse 4 A"),
                    think="Three parts to look up. None depends on another, so one round is enough.",
                ),
                turn(
                    check("P-104"),
                    check("P-105"),
                    check("P-106"),
                    say="All three are in the catalogue. Next is what we have of them.",
                ),
                turn(
                    reserve("P-104", 2, "J-303"),
                    reserve("P-106", 2, "J-303"),
                    think="There is no proximity switch left. The other two can be reserved.",
                ),
                turn(
                    say="Reserved for J-303: 2 seal rings and 2 fuses. The proximity switch is out of stock."
                ),
            ],
            [
                turn(find("seal ring 30 mm"), find("proximity switch NPN"), find("fuse 4 A")),
                turn(
                    reserve("P-104", 2, "J-303"),
                    reserve("P-105", 2, "J-303"),
                    reserve("P-106", 2, "J-303"),
                    think="I can try to reserve all of them and see which ones we have.",
                ),
                turn(order("P-105", 2), say="The switch is out of stock, so I order a pack of it."),
                turn(say="Seal rings and fuses are reserved for J-303, and two switches are on order."),
            ],
        ),
    ),
    Task(
        "The shelf should hold at least 25 seal rings 30 mm. Order what is missing, in whole packs.",
        [],
        [order("P-104", 20)],
        (
            [
                turn(find("seal ring 30 mm"), think="The part number first."),
                turn(
                    check("P-104"),
                    quote("P-104"),
                    think="I need to know what is there and how many come in a pack.",
                ),
                turn(order("P-104", 20), think="6 are there and 19 are missing; two packs of 10 cover that."),
                turn(say="Ordered: 20 seal rings 30 mm. They arrive in 3 days, and the shelf then holds 26."),
            ],
            [
                turn(find("seal ring")),
                turn(check("P-104")),
                turn(order("P-104", 19), think="25 less 6 is 19."),
                turn(order("P-104", 20), say="They come in packs of 10, so I take two packs."),
                turn(say="Ordered: 20 seal rings 30 mm, there in 3 days."),
            ],
        ),
    ),
    Task(
        "Which shelf are the fuses 4 A on? Only look, book nothing.",
        [],
        [],
        (
            [
                turn(find("fuse 4 A")),
                turn(check("P-106"), think="The stock entry names the shelf."),
                turn(say="The fuses 4 A are on shelf C2; 60 of them are free."),
            ],
            [
                turn(find("fuse 4 A"), think="I look up the fuse."),
                turn(
                    check("P-106"),
                    reserve("P-106", 1, "walk-in"),
                    think="Whoever asks for the shelf will want one, so I put one aside.",
                ),
                turn(say="Shelf C2. I put one aside for you."),
            ],
        ),
    ),
    Task(
        "Order two packs of ball bearings 6204.",
        [],
        [order("P-102", 10)],
        (
            [
                turn(find("ball bearing 6204"), think="I need the number and the size of a pack."),
                turn(quote("P-102")),
                turn(
                    # Cut off before the closing brace: arguments that do not decode.
                    {"name": "order_parts", "arguments": '{"part_id": "P-102", "quantity": 10'},
                    think="A pack holds 5, so two packs are 10.",
                ),
                turn(say="The order did not go through. Please place it by hand: 10 ball bearings 6204."),
            ],
            [
                turn(find("ball bearing 6204"), say="I look the bearing up."),
                turn(quote("P-102"), think="The quote says how many are in a pack."),
                turn(order("P-102", 10)),
                turn(say="Ordered: two packs, 10 ball bearings 6204, there in 4 days."),
            ],
        ),
    ),
    Task(
        "The reservation of job J-299 is void. Reserve 5 ball bearings 6204 for job J-307 instead.",
        [reserve("P-102", 5, "J-307")],
        [],
        (
            [
                turn(
                    # The desk has no such tool.
                    {"name": "cancel_reservation", "arguments": {"job": "J-299"}},
                    think="The old reservation has to go first.",
                ),
                turn(say="I could not cancel the reservation of J-299, so I left everything as it was."),
            ],
            [
                turn(find("ball bearing 6204")),
                turn(reserve("P-102", 5, "J-299"), think="Five bearings for the job."),
                turn(say="Five ball bearings 6204 are reserved."),
            ],
        ),
    ),
    Task(
        "Job J-308: reserve 1 drive belt A42 and 10 hex bolts M6x20. Order one pack of fuses 4 A, but only "
        "if fewer than 20 are free.",
        [reserve("P-103", 1, "J-308"), reserve("P-101", 10, "J-308")],
        [],
        (
            [
                turn(
                    find("drive belt A42"),
                    find("hex bolt M6x20"),
                    find("fuse 4 A"),
                    think="Three parts to look up.",
                ),
                turn(check("P-103"), check("P-101"), check("P-106"), say="Now the stock of all three."),
                turn(
                    think="The belt and the bolts are there. For the fuses the limit is 20; 60 are free.",
                    say="Before I book anything, here is what I found: the drive belt A42 is on shelf B2",
                    is_cut=True,
                ),
            ],
            [
                turn(
                    find("drive belt A42"),
                    find("hex bolt M6x20"),
                    find("fuse 4 A"),
                    think="I look up all three parts.",
                ),
                turn(check("P-106"), say="The fuses decide about the order, so I check them."),
                turn(
                    reserve("P-103", 1, "J-308"),
                    reserve("P-101", 10, "J-308"),
                    think="60 fuses are free, so no order. The belt and the bolts are left.",
                ),
                turn(
                    say="Reserved for J-308: 1 drive belt and 10 hex bolts. Fuses: 60 are free, none ordered."
                ),
            ],
        ),
    ),
)


def task_id(number: int) -> str:
    """`desk-01` for the first task."""
    return f"desk-{number:02d}"


def input_rows() -> list[Json]:
    """Rows for the `parts_desk` resources server, one a task."""
    return [
        {
            "responses_create_params": {
                "input": [
                    {"role": "system", "content": SYSTEM},
                    {"role": "user", "content": task.request},
                ],
                "tools": TOOLS,
                "tool_choice": "auto",
                "parallel_tool_calls": True,
            },
            "task_id": task_id(number),
            "expected_reservations": [booking["arguments"] for booking in task.reservations],
            "expected_orders": [booking["arguments"] for booking in task.orders],
        }
        for number, task in enumerate(TASKS, start=1)
    ]


def model_script() -> Json:
    """The script of `tests/gym/model_server.py`: draw n of a task is its repeat n."""
    rules = [
        {"name": task_id(number), "match": {"last_user": task.request}, "draws": list(task.repeats)}
        for number, task in enumerate(TASKS, start=1)
    ]
    return {"model": "demo-8b", "created": 1_790_000_000, "rules": rules}
