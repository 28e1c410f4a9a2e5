"""URLs are shown without their secrets, also where a secret was not escaped."""

import pytest

from stickler_cli.core.problems import UsageError
from stickler_cli.core.remote import check_url, hide_secrets, shown_url


@pytest.mark.parametrize(
    ("url", "shown"),
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
    ],
)
def test_a_url_is_shown_without_user_password_and_signature(url, shown):
    assert shown_url(url) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("nothing to hide: me@host", "nothing to hide: me@host"),
        ("s3://a:b/c@d/e and s3://f:g@h", "s3://d/e and s3://h"),
        ("openai:judge=http://me:secret@host/v1", "openai:judge=http://host/v1"),
        ("from http://host:80/a@b to s3://c/d@e", "from http://host:80/a@b to s3://c/d@e"),
        ("the value https://host/?a=b stays", "the value https://host/?a=b stays"),
        ("s3://KEY:ab?c@bucket", "s3://[hidden]"),
    ],
)
def test_urls_in_a_text_are_shown_without_user_and_password(text, shown):
    assert hide_secrets(text) == shown


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://[/x", "http://[/x: the host or port of the URL cannot be read"),
        ("http://me:sec/ret@[/x", "http://[/x: the host or port of the URL cannot be read"),
        ("https://me:sec/ret@host/x", "https://host/x: the host or port of the URL cannot be read"),
        ("http://host:99999/x", "http://host:99999/x: the host or port of the URL cannot be read"),
        ("http://host:0/x", "http://host:0/x: the URL names no host"),
        ("http:///x", "http:///x: the URL names no host"),
        ("http://", "http://: the URL names no host"),
        ("s3:///x", "s3:///x: the URL names no bucket or container"),
        ("s3://*/x", "s3://*/x: the URL names no bucket or container"),
    ],
)
def test_a_url_without_a_host_that_can_be_asked_is_refused(url, message):
    pytest.importorskip("fsspec")
    with pytest.raises(UsageError) as caught:
        check_url(url)

    assert str(caught.value).startswith(f"{message}, expected ")
    assert "ret@" not in str(caught.value)
