"""What a socket delivers: the journal in order, live pieces, and nothing twice."""

import pytest

from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.journal.offloading import in_database
from tests.streaming.conftest import Scene, Server, make_scene, reading


def positions(frames: list[dict]) -> list[int]:
    return [frame["position"] for frame in frames]


@pytest.mark.req("STR-018")
async def test_it_replays_the_journal_and_goes_on_live(server: Server, scene: Scene) -> None:
    for number in range(3):
        await in_database(scene.notice, f"old {number}")
    async with reading(server.port, scene.conversation_id, scene.token, after=1) as alice:
        assert positions(await alice.take(2)) == [2, 3]
        await in_database(scene.notice, "new")
        frame = await alice.next()
        assert frame["data"]["message"] == "new"
        assert frame.keys() == {"event", "position", "input_id", "turn_id", "at", "data"}
        assert alice.connection.subprotocol == "kaizen.v1"


async def test_it_sends_long_journals_page_by_page_without_gap(
    server: Server, scene: Scene
) -> None:
    drafts = [Draft(Kind.NOTICE, {"message": str(n), "level": "info"}) for n in range(450)]
    await in_database(scene.write, *drafts)
    async with reading(server.port, scene.conversation_id, scene.token) as alice:
        assert positions(await alice.take(450)) == list(range(1, 451))


async def test_it_joins_live_pieces_and_skips_repeats_and_overlaps(
    server: Server, scene: Scene
) -> None:
    async with reading(server.port, scene.conversation_id, scene.token) as alice:
        await in_database(scene.notice, "ready")
        await alice.next()
        await in_database(scene.delta, "The ", 0)
        await in_database(scene.delta, "The ", 0)
        await in_database(scene.delta, "he cat ", 1)
        await in_database(scene.delta, "🐈 sat", 8)
        assert await alice.text(13) == "The cat 🐈 sat"
        assert await alice.nothing()


async def test_a_gap_is_asked_for_and_filled_before_anything_later(
    server: Server, scene: Scene
) -> None:
    async with reading(server.port, scene.conversation_id, scene.token) as alice:
        await in_database(scene.notice, "ready")
        await alice.next()
        await in_database(scene.delta, "The ", 0)
        await in_database(scene.delta, "down.", 12)
        await in_database(scene.delta, "cat ", 4)
        assert await alice.text(8) == "The cat "
        await in_database(scene.delta, "The cat lay down", 0, resume=True)
        assert await alice.text(17, known="The cat ") == "The cat lay down."


async def test_somebody_who_joins_gets_the_text_so_far_in_one_piece(
    server: Server, scene: Scene
) -> None:
    async with reading(server.port, scene.conversation_id, scene.token) as alice:
        await in_database(scene.notice, "ready")
        await alice.next()
        for offset, piece in ((0, "Once "), (5, "upon "), (10, "a time")):
            await in_database(scene.delta, piece, offset, segment=1, segment_start=offset == 0)
        await alice.text(16)
        async with reading(server.port, scene.conversation_id, scene.token, after=1) as second_tab:
            first = await second_tab.next()
            assert (first["offset"], first["text"]) == (0, "Once upon a time")
            assert first["segment_start"] is True
            await in_database(scene.delta, " there", 16, segment=1)
            assert (await second_tab.next())["text"] == " there"
            assert (await alice.next())["text"] == " there"


async def test_pieces_never_follow_the_message_that_replaces_them(
    server: Server, scene: Scene
) -> None:
    async with reading(server.port, scene.conversation_id, scene.token) as alice:
        await in_database(scene.notice, "ready")
        await alice.next()
        await in_database(scene.delta, "Hello", 0)
        whole = Draft(Kind.ASSISTANT_MESSAGE, {"text": "Hello world", "segment": 0})
        await in_database(scene.write, whole)
        await in_database(scene.delta, " world", 5)
        await in_database(scene.delta, "Hello world", 0, resume=True)
        await in_database(scene.delta, "Next", 0, segment=1)
        await in_database(scene.write, Draft(Kind.AGENT_RUN_COMPLETED, {"usage": {}}))
        await in_database(scene.delta, " straggler", 4, segment=1)
        await in_database(scene.delta, "Late", 0, segment=2)
        assert [(f["event"], f.get("segment")) for f in await alice.take(4)] == [
            ("delta", 0),
            ("assistant_message", None),
            ("delta", 1),
            ("agent_run_completed", None),
        ]
        assert await alice.nothing()


async def test_frames_announced_out_of_order_arrive_in_order_once(
    server: Server, scene: Scene
) -> None:
    async with reading(server.port, scene.conversation_id, scene.token) as alice:
        await in_database(scene.notice, "one")
        first = await alice.next()
        scene.send_line("F", first)
        scene.send_line("F", {**first, "position": 5})
        await in_database(scene.notice, "two")
        assert (await alice.next())["data"]["message"] == "two"
        assert await alice.nothing()


async def test_a_socket_of_one_conversation_sees_nothing_of_another(
    server: Server, scene: Scene
) -> None:
    other = await in_database(make_scene, scene.member)
    async with (
        reading(server.port, scene.conversation_id, scene.token) as one,
        reading(server.port, other.conversation_id, scene.token) as two,
    ):
        await in_database(scene.notice, "only here")
        await in_database(scene.delta, "live", 0)
        assert len(await one.take(2)) == 2
        assert await two.nothing()
