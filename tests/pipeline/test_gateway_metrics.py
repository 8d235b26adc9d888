"""What users saw, as metrics; the end date of those who do not declare; the interface's page."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from gateway_doubles import ASK, final_text, frames, playing, said, serving
from made_rounds import guessed
from prometheus_client.parser import text_string_to_metric_families
from scripted_engine import reciting

from voiceagent.decoding.trial import LEAST_ROUNDS, Canary, Comparison, Tally
from voiceagent.gateway.metrics import Metrics
from voiceagent.gateway.openapi import description
from voiceagent.gateway.requests import BOUNDARIES, SURFACES

PUSH = {"stream_protocol": "token_push", "retraction": True}
TODAY = datetime.now(UTC).date()


def label_order(label: str) -> tuple[bool, bool, str]:
    return label != "surface", label != "protocol", label


async def samples(client: Any) -> dict[tuple[str, ...], float]:
    """Every sample of ``/metrics`` by its name and label values: surface, protocol, others."""
    async with client.get("/metrics") as response:
        assert response.headers["Content-Type"].startswith("text/plain; version=")
        text = await response.text()
    return {
        (sample.name, *(sample.labels[name] for name in sorted(sample.labels, key=label_order))): (
            sample.value
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_what_each_surface_and_protocol_showed() -> None:
    """Churn, erasure, severity, visible time and the firsts, by surface and protocol."""
    source = playing(*said("It is two miles. ", "Not far.", wrong="It is ten miles"))
    async with serving(source) as client:
        await frames(client, **PUSH)
        await frames(client, surface="voice")
        found = await samples(client)
    pushed, voiced = ("chat", "token_push"), ("voice", "boundary_commit")
    assert found["voiceagent_churn_ratio_count", *pushed] == 1
    assert found["voiceagent_churn_ratio_sum", *pushed] > 1
    assert found["voiceagent_churn_ratio_sum", *voiced] == 1
    assert found["voiceagent_erasure_ratio_sum", *voiced] == 0
    assert found["voiceagent_retractions_total", *pushed, "inversion"] >= 1
    assert found["voiceagent_wrong_text_visible_seconds_count", *pushed] == 2
    for name in ("provisional", "verified", "commit"):
        assert found[f"voiceagent_time_to_first_{name}_seconds_count", *pushed] == 1
    assert found["voiceagent_time_to_first_commit_seconds_count", *voiced] == 1
    assert ("voiceagent_time_to_first_provisional_seconds_count", *voiced) not in found
    assert found["voiceagent_replies_ended_total", *pushed, "stop"] == 1
    assert (found["voiceagent_streams_open",], found["voiceagent_replies_running",]) == (0, 0)


async def test_what_the_engine_did() -> None:
    """K, acceptance by position, tokens, and whether it still speculates."""
    with reciting(["a ", "b ", "c "] * 5, lies=["x"], window=3) as engine:
        async with serving(engine) as client:
            await frames(client)
            lied = await samples(client)
            await frames(client, k=0)
            plain = await samples(client)
    assert lied["voiceagent_draft_tokens_total", "3"] > 0
    assert lied.get(("voiceagent_accepted_tokens_total", "3"), 0) == 0
    assert lied["voiceagent_generated_tokens_total",] == 16  # the end is a token too
    assert (lied["voiceagent_speculation_active",], plain["voiceagent_speculation_active",]) == (
        1,
        0,
    )
    assert plain["voiceagent_queue_depth",] == 0


def test_an_alarm_is_a_metric_and_each_time_is_counted() -> None:
    """1 while it stands; going off twice counts twice."""
    metrics = Metrics()
    for alarm in (False, True, True, False, True):
        metrics.see_round(replace(guessed(2, 0), alarm=alarm))
    text = metrics.exposition().decode()
    assert "voiceagent_speculation_alarm 1.0" in text
    assert "voiceagent_speculation_alarms_total 2.0" in text


def test_a_drafter_on_trial_is_counted_beside_the_one_in_use() -> None:
    """In shadow from the comparison; as a canary from its rounds, and whether it has stopped."""
    shadow = Metrics()
    shadow.follow_trial(Comparison(used=Tally(5, 4), candidate=Tally(5, 1)), None)
    text = shadow.exposition().decode()
    assert 'voiceagent_trial_stood{role="candidate"} 1.0' in text
    canary = Canary("model", "best", share=0.5)
    metrics = Metrics()
    metrics.follow_trial(Comparison(), canary)
    for _ in range(LEAST_ROUNDS):
        canary.learn("model", guessed(1, 1))
        canary.learn("best", guessed(1, 0))
    text = metrics.exposition().decode()
    assert 'voiceagent_trial_stood{role="used"} 30.0' in text
    assert "voiceagent_canary_stopped 1.0" in text


async def test_refusals_are_counted_by_their_status() -> None:
    """Bad requests, strangers and what is not there."""
    async with serving(playing(*said("Hi."))) as client:
        await client.post("/v1/replies", json={})
        await client.get("/v1/replies/unknown")
        await client.get("/v1/models", headers={"Host": "evil.example"})
        found = await samples(client)
    counted = {key[1]: n for key, n in found.items() if key[0].endswith("rejected_total")}
    assert counted == {"400": 1, "404": 1, "403": 1}


# The announcement -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/v1/replies", "/v1/chat/completions"])
@pytest.mark.parametrize("days", [0, -1])
async def test_after_an_end_date_clients_have_to_declare(path: str, days: int) -> None:
    """Until the day they are served and told of it; then a 400 that says what to add."""
    last = TODAY + timedelta(days=days)
    async with serving(playing(*said("Hi.")), undeclared_until=last) as client:
        async with client.post(path, json={"messages": ASK}) as response:
            text = await response.text()
            assert response.status == (200 if days == 0 else 400)
            assert ("Sunset" in response.headers) is (days == 0)
        if days < 0:
            assert "stream_protocol" in text
            assert "undeclared_client" in text
        declared = {"messages": ASK, "stream_protocol": "accept_then_flush"}
        async with client.post(path, json=declared) as response:
            assert response.status == 200
            assert "Sunset" not in response.headers


# The page of the interface ----------------------------------------------------------------------


async def test_the_interface_is_described() -> None:
    """Every route that a program may ask is in the page, and nothing else."""
    async with serving(playing(*said("Hi."))) as client:
        async with client.get("/openapi.json") as response:
            page = await response.json()
        routes = {
            route.resource.canonical
            for route in client.app.router.routes()
            if route.resource is not None and route.method != "HEAD"
        }
    assert set(page["paths"]) == routes - {"/", "/page/{name}", "/openapi.json"}
    fields = description()["components"]["schemas"]["ReplyRequest"]["properties"]
    assert fields["surface"]["enum"] == list(SURFACES)
    assert fields["boundary"]["enum"] == list(BOUNDARIES)


async def test_a_reply_can_be_had_whole() -> None:
    """Without a stream: text, reason, usage, figures, and what was used."""
    async with serving(playing(*said("One. ", "Two."))) as client:
        async with client.post("/v1/replies", json={"messages": ASK, "stream": False}) as response:
            whole = await response.json()
            assert response.headers["X-Reply"] == whole["reply"]
        async with client.get(f"/v1/replies/{whole['reply']}") as response:
            assert re.search(r'"type":"end"', await response.text())
        stream = await frames(client)
    assert whole["text"] == final_text(stream) == "One. Two."
    assert (whole["reason"], whole["statistics"]["churn"]) == ("stop", 1.0)
    assert (whole["surface"], whole["boundary"], whole["k"]) == ("chat", "sentence", None)
