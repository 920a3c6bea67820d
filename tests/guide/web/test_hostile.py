"""Two hundred requests that mean harm, and what every answer carries."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from steptime.guide.server.app import application
from steptime.guide.view.view import PARAMETERS

ATTACKS = (
    "'; DROP TABLE runs; --",
    '" OR 1=1 --',
    "model); ATTACH '/etc/passwd' AS x; --",
    "read_csv('/etc/passwd')",
    "../../../../etc/passwd",
    "<script>alert(1)</script>",
    "%00",
    "\\x00\\",
    "${7*7}{{7*7}}",
    "𝕞𝕠𝕕𝕖𝕝",
    "A" * 600,
)
# These take any text: what they are given is a value, and finding no run with it is a good answer.
FREE_TEXT = {"baseline", "run", "range"}
PATHS = (
    "/static/../app.py",
    "/static/..%2f..%2fapp.py",
    "/static/%2e%2e/%2e%2e/etc/passwd",
    "//etc/passwd",
    "/etc/passwd",
    "/api/run/..%2f..%2fetc%2fpasswd",
    "/api/run/%00",
    "/api/run/" + "a" * 5000,
    "/api/run/*",
    "/api/run/[0-9]",
    "/api/run/",
    "/api/records",
    "/api/../api/secret",
    "/guide.exe",
    "/guide.csv/../../x",
    "/guide.svg%00.html",
    "/.git/config",
    "/static/guide.js.map",
    "/api/view/extra",
    "/%7f",
)
QUERIES = (
    "/api/view?nonsense=1",
    "/api/view?x=nonsense",
    "/api/view?y=__class__",
    "/api/view?x=id",
    "/api/view?x=message",
    "/api/view?agg=sum",
    "/api/view?agg=best&agg=min",
    "/api/view?view=secret",
    "/api/view?log=z",
    "/api/view?contended=yes",
    "/api/view?scaling=none",
    "/api/view?group=model,model",
    "/api/view?group=model,phase,device,nodes",
    "/api/view?threads=many",
    "/api/view?nodes=1..2..3",
    "/api/view?date=yesterday",
    "/api/view?x=nodes&range=a..b",
    "/api/view?x=nodes&range=1..2,3",
    "/api/view?series=nameless",
    "/api/view?series=a:+nonsense=1",
    "/api/view?series=a:&series=a:",
    "/api/view?label.=1",
    "/api/view?label.%27%3B--=1",
    "/api/view?label." + "x" * 70 + "=1",
    "/api/view?model=" + quote("x" * 501),
    "/api/view?model=" + ",".join(f"m{i}" for i in range(501)),
    "/api/view?" + "&".join(f"series=s{i}:" for i in range(21)),
    "/api/view?" + "&".join(f"model=m{i}" for i in range(300)),
    "/api/view?model=" + "x" * 21_000,
    "/api/view?" + "x" * 30_000,
    "/api/view?model=%ff%fe",
    "/api/view?view=compare",
    "/api/view?view=compare&run=nobody,noone",
    "/api/view?view=compare&run=" + ",".join(map(str, range(51))),
    "/api/runs?limit=-1",
    "/api/runs?limit=1e9",
    "/api/runs?limit=99999999",
    "/api/runs?offset=x",
    "/api/runs?limit=٣",
    "/api/runs?nonsense=1",
    "/api/facets?x=;",
    "/guide.csv?x=nonsense",
    "/guide.svg?y=nonsense",
    "/guide.png?group=nonsense",
    "/guide.vl.json?agg=nonsense",
    "/guide.json?view=nonsense",
)


def requests_that_mean_harm() -> list[tuple[str, str, dict[str, str]]]:
    found = [("GET", path, {}) for path in (*PATHS, *QUERIES)]
    for name in PARAMETERS:
        if name not in FREE_TEXT:
            found += [("GET", f"/api/view?{name}={quote(attack)}", {}) for attack in ATTACKS]
    found += [("GET", f"/api/view?x=nodes&range={quote(attack)}", {}) for attack in ATTACKS]
    found += [("GET", f"/api/view?{quote(attack)}=1", {}) for attack in ATTACKS]
    found += [(method, "/api/view", {}) for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND")]
    hosts = ("evil.example", "evil.example:8765", "localhost.evil.example", "127.0.0.1.evil.example", "", "0.0.0.0", "[::2]:80")
    found += [("GET", "/api/meta", {"host": host}) for host in hosts]
    found += [("GET", "/guide", {"host": "attacker.test"}), ("GET", "/api/view", {"content-length": "1000000"})]
    return found


@pytest.fixture(scope="module")
def client(store):
    return TestClient(application(store), base_url="http://localhost:8765", raise_server_exceptions=False)


@pytest.mark.slow
def test_two_hundred_hostile_requests_are_refused_and_nothing_else_happens(client):
    attacks = requests_that_mean_harm()
    assert len(attacks) >= 200
    wrong = []
    for method, path, headers in attacks:
        answer = client.request(method, path, headers=headers)
        if not 400 <= answer.status_code < 500 or "Traceback" in answer.text or "root:" in answer.text:
            wrong.append((method, path[:80], headers, answer.status_code, answer.text[:80]))
        assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    assert wrong == []


def test_values_are_only_ever_values(client):
    """A filter or a baseline may be any text; none of it is code, so the answer is that there are no such runs."""
    for attack in ATTACKS[:-1]:
        for parameter in ("model", "server", "label.note", "interconnect"):
            answer = client.get(f"/api/view?{parameter}={quote(attack.replace(chr(0), ''))}")
            assert answer.status_code in (200, 400), (parameter, attack, answer.text)
            if answer.status_code == 200 and "script" not in attack:
                assert answer.json()["answer"]["runs"] == 0
    assert client.get("/api/meta").json()["runs"] > 200


def test_a_run_that_does_not_exist_is_404_and_a_bad_parameter_400(client):
    for path in ("/api/run/nothing", "/api/view?view=run&run=nothing", "/api/view?view=compare&run=nothing,nowhere"):
        answer = client.get(path)
        assert answer.status_code == 404 and answer.json()["error"].startswith("unknown run 'nothing'; known: ")
    answer = client.get("/api/view?modle=x")
    assert answer.status_code == 400 and "unknown parameter 'modle' (did you mean model?)" in answer.json()["error"]


def test_every_answer_is_bounded(client):
    assert len(client.get("/api/runs?limit=500").content) < 2_000_000
    assert len(client.get("/api/view?x=sweep&group=model,device,framework&facet=phase").content) < 5_000_000


POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"


@pytest.mark.parametrize("path", ["/guide", "/", "/static/guide.js", "/static/vega.js", "/api/meta", "/guide.csv", "/nothing"])
def test_the_content_security_policy_is_exactly_this_everywhere(client, path):
    answer = client.get(path)
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in answer.headers


def test_the_page_has_no_inline_script_and_names_no_other_host(client):
    text = client.get("/guide").text
    assert "<script>" not in text and "style=" not in text and "onclick" not in text
    assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text


@pytest.fixture(scope="module")
def guarded(store):
    return TestClient(application(store, token="correct horse battery"), base_url="http://node7:8765", follow_redirects=False)


@pytest.mark.parametrize(
    "path", ["/guide", "/api/meta", "/guide.csv", "/static/guide.js", "/guide?token=wrong", "/guide?token=", "/nothing"]
)
def test_without_the_token_nothing_is_told(guarded, path):
    guarded.cookies.clear()
    assert guarded.get(path).status_code == 401


def test_a_token_is_taken_from_the_header_or_moved_from_the_address_into_a_cookie(guarded):
    guarded.cookies.clear()
    assert guarded.get("/api/meta", headers={"authorization": "Bearer correct horse battery"}).status_code == 200
    moved = guarded.get("/guide?x=framework&token=correct+horse+battery")
    assert moved.status_code == 303
    assert moved.headers["location"] == "/guide?x=framework"
    cookie = moved.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    guarded.cookies.set("steptime_token", "correct horse batterz")
    assert guarded.get("/api/meta").status_code == 401
