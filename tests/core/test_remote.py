"""URLs are shown without their secrets, also if a secret is not percent-encoded."""

import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.core.remote import (
    check_address,
    check_url,
    hide_secrets,
    remember_secrets,
    shown_url,
)


@pytest.mark.parametrize(
    ("url", "printed"),
    [
        ("https://host/a.json", "https://host/a.json"),
        ("https://host:8080/me@here/a.json", "https://host:8080/me@here/a.json"),
        ("https://[::1]:8080/me@here/a.json", "https://[::1]:8080/me@here/a.json"),
        ("https://host/me@here/a.json?b=c@d", "https://host/me@here/a.json"),
        ("s3://bucket/me@here/a.json", "s3://bucket/me@here/a.json"),
        ("https://me:secret@host/a.json", "https://host/a.json"),
        ("https://me:sec@ret@host/a.json", "https://host/a.json"),
        ("https://me:sec/ret@host/a.json", "https://host/a.json"),
        ("https://me@host:sec/ret@host/a.json", "https://host/a.json"),
        ("https://me:secret@host/a.json?signature=ab@cd", "https://host/a.json"),
        ("HTTPS://me:secret@host:8080/a.json", "HTTPS://host:8080/a.json"),
        ("s3://KEY:abc/def@bucket/a.json", "s3://bucket/a.json"),
        ("s3://KEY:123/def@bucket/a.json", "s3://bucket/a.json"),
        ("s3://KEY:ab?c@bucket/a.json", "s3://[hidden]"),
        ("s3://KEY:ab/c?d@bucket/a.json", "s3://[hidden]"),
        ("s3://KEY:a\nb/c@bucket/a.json", "s3://bucket/a.json"),
        ("https://me:secret%40host/a.json", "https://host/a.json"),
        ("https://me:sec/ret%40host/a.json", "https://host/a.json"),
        ("https://host/me%40here/a.json", "https://host/me%40here/a.json"),
        ("https://host/a.json#secret", "https://host/a.json"),
        ("https://host/a.json#secret?b=c", "https://host/a.json"),
        ("https://me:sec#ret@host/a.json", "https://[hidden]"),
        ("s3://bucket/a#1.json", "s3://bucket/a#1.json"),
        ("https://host/a.json;tok=secret", "https://host/a.json"),
        ("https://host/a;tok=secret;b/c.json;d?e=f", "https://host/a/c.json"),
        ("https://me:sec;ret=a@host/a.json", "https://host/a.json"),
        ("s3://bucket/a;b.json", "s3://bucket/a;b.json"),
    ],
)
def test_a_url_is_shown_without_user_password_and_signature(url, printed):
    assert shown_url(url) == printed


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("nothing to hide: me@host", "nothing to hide: me@host"),
        ("s3://a:b/c@d/e and s3://f:g@h", "s3://d/e and s3://h"),
        ("openai:judge=http://me:secret@host/v1", "openai:judge=http://host/v1"),
        ("from http://host:80/a@b to s3://c/d@e", "from http://host:80/a@b to s3://c/d@e"),
        ("the value https://host/?a=b stays", "the value https://host/?a=b stays"),
        ("s3://KEY:ab?c@bucket", "s3://[hidden]"),
    ],
)
def test_urls_in_a_text_are_shown_without_user_and_password(text, printed):
    assert hide_secrets(text) == printed


@pytest.fixture
def forgetting():
    yield
    remember_secrets((), only=True)


@pytest.mark.parametrize(
    ("url", "quoted"),
    [
        ("tcp://user:s3cret@host:99", "invalid literal: 's3cret@host:99'"),
        ("http//user:s3cret@h/a", "invalid literal: '//user:s3cret@h'"),
        ("http;//user:s3cret@h/a", "no scheme in user:S3CRET"),
        ("http\uff1a//user:s3cret@h/a", "no host in s3cret"),
        ("http://user:s3cr%65t%40h/a", "no host in s3cret and s3cr%65t"),
        ("http://user:s3c/ret@h/a", "no host s3c with path /ret"),
        ("http://h/a.json#s3cret", "got a.json#s3cret"),
        ("http://h/a.json?signature=s3cretvalue&b=1", "refused s3cretvalue"),
        ("http://h/a.json?signature=s3cretva&b=1", "refused s3cretva"),  # 8 characters
        ("http://h/a;token=s3cretvalue/b.json", "refused s3cretvalue"),
        ("user:s3cret@h", "no host in s3cret"),
        (
            "https:/h/a.json?signature=s3cretvalue",
            "the file name is https:/h/a.json?signature=s3cretvalue",
        ),
        ("openai:judge=https://user:s3cret@h/v1", "no host in s3cret"),
    ],
)
def test_what_another_library_quotes_of_a_url_is_hidden(url, quoted, forgetting):
    visible = hide_secrets(quoted, url)
    remember_secrets(["eval", url])
    remembered = hide_secrets(quoted)
    remember_secrets(["eval"], only=True)

    assert visible == remembered
    assert not [secret for secret in ("s3c", "S3C", "ret") if secret in visible]
    assert hide_secrets("no host in s3cret") == "no host in s3cret"


@pytest.mark.parametrize(
    "word", ["gt/alice@example.json", "alice@example.org", "s3://bucket/alice@b.json", "@alice"]
)
def test_names_that_are_not_secret_stay(word, forgetting):
    remember_secrets([word])

    assert hide_secrets(f"alice and bucket: {word}") == f"alice and bucket: {word}"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "http://[/x",
            "http://[/x: the URL has no valid host or port, expected http://HOST/PATH",
        ),
        (
            "http://me:sec/ret@[/x",
            (
                "http://[/x: the URL has no valid host or port, expected http://HOST/PATH; "
                "in a user name or password, write / as %2F"
            ),
        ),
        (
            "https://me:sec/ret@host/x",
            (
                "https://host/x: the URL has no valid host or port, expected https://HOST/PATH; "
                "in a user name or password, write / as %2F"
            ),
        ),
        (
            "http://host:99999/x",
            "http://host:99999/x: the URL has no valid host or port, expected http://HOST/PATH",
        ),
        ("http:///x", "http:///x: the URL has no valid host, expected http://HOST/PATH"),
        ("http://", "http://: the URL has no valid host, expected http://HOST/PATH"),
        ("s3:///x", "s3:///x: the URL has no valid bucket, expected s3://BUCKET/PATH"),
        ("s3://*/x", "s3://*/x: the URL has no valid bucket, expected s3://BUCKET/PATH"),
        ("az:///x", "az:///x: the URL has no valid container, expected az://CONTAINER/PATH"),
    ],
)
def test_a_url_without_a_host_that_can_be_asked_is_refused(url, message):
    pytest.importorskip("fsspec")
    with pytest.raises(UsageError) as caught:
        check_url(url)

    assert str(caught.value) == message
    assert "ret@" not in str(caught.value)


def test_a_url_with_port_0_is_refused():
    pytest.importorskip("fsspec")
    with pytest.raises(UsageError) as caught:
        check_url("http://host:0/x")

    found = "http://host:0/x: the port of the URL is 0"
    assert str(caught.value) == f"{found}, expected a port from 1 to 65535"


def test_a_url_in_memory_has_no_host_and_no_port():
    check_address("memory://host:0/x")
