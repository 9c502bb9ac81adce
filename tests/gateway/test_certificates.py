"""Whose certificates are believed, deployment by deployment."""

import asyncio
import ssl
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agents.gateway import deployments
from agents.gateway.connection import TlsPolicy
from agents.gateway.models import Deployment
from agents.gateway.providers import openai_compatible
from audit.reasons import Reason
from audit.refusals import Refusal
from tests.gateway.conftest import HELLO, connect, gather, outcome
from tests.gateway.raw_server import Reply, chunk, events, serving

FINE = Reply([events(chunk(content="Fine."), chunk("stop"))])


@pytest_asyncio.fixture
async def certificate(tmp_path: Path) -> Path:
    """A certificate for localhost that vouches for itself, with its key beside it."""
    made = tmp_path / "self.crt"
    process = await asyncio.create_subprocess_exec(
        *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
        *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
        *("-keyout", str(tmp_path / "self.key"), "-out", str(made)),
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert await process.wait() == 0
    return made


def behind(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    return context


@pytest.mark.parametrize("policy", ["usual", "bundle", "none", "unreadable", "missing"])
@pytest.mark.req("GW-003")
async def test_a_server_is_believed_as_its_deployment_says(
    certificate: Path, policy: str, tmp_path: Path
) -> None:
    (tmp_path / "empty").write_text("")
    tls = {
        "usual": TlsPolicy(),
        "bundle": TlsPolicy(ca_file=str(certificate)),
        "none": TlsPolicy(verify=False),
        "unreadable": TlsPolicy(ca_file=str(tmp_path / "empty")),
        "missing": TlsPolicy(ca_file=str(tmp_path / "gone")),
    }[policy]
    async with serving(FINE, tls=behind(certificate)) as server:
        connection = connect(server.url, key="secret", tls=tls)
        ended = outcome(await gather(openai_compatible.attempt(connection, HELLO)))
    if policy in ("bundle", "none"):
        assert (ended.text, ended.failure) == ("Fine.", None)
        return
    assert ended.failure is not None
    assert (ended.failure.code, ended.failure.retryable) == (Reason.PROVIDER_UNREACHABLE, False)
    assert "certificate" in ended.failure.message
    assert server.heads == []  # the key was not sent


@pytest.mark.django_db
def test_a_bundle_is_a_reference_into_the_environment(settings: Any) -> None:
    settings.CA_BUNDLES = {"KAIZEN_CA_BUNDLE_HOUSE": "/etc/house.pem"}
    deployment = Deployment(name="d", base_url="https://models.test/v1", model="m")
    deployment.ca_bundle = "KAIZEN_CA_BUNDLE_HOUSE"
    assert deployments.connection(deployment).tls == TlsPolicy(True, "/etc/house.pem")
    deployment.tls_verify, deployment.ca_bundle = False, ""
    assert deployments.connection(deployment).tls == TlsPolicy(False, None)
    deployment.ca_bundle = "KAIZEN_CA_BUNDLE_GONE"
    with pytest.raises(Refusal) as refused:
        deployments.connection(deployment)
    assert refused.value.reason is Reason.CERTIFICATES_MISSING
