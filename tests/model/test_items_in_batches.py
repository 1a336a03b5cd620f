"""Items that are read together are those that are read one by one, however long they are."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gymbal.model import item
from gymbal.model.item import batches, read_all, read_item

RAWS = st.lists(
    st.text(max_size=30).map(lambda text: json.dumps({"role": "assistant", "content": text}).encode()),
    max_size=12,
)


@given(RAWS, st.integers(1, 200))
@settings(max_examples=60, deadline=None)
def test_items_of_all_batches_are_those_of_the_whole(raws: list[bytes], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item, "_BATCH_BYTES", most)
        cut = [list(some) for some in batches(raws)]
        assert [raw for some in cut for raw in some] == raws
        assert all(len(some) == 1 or sum(map(len, some)) <= most for some in cut)
        assert read_all(raws) == tuple(map(read_item, raws))
