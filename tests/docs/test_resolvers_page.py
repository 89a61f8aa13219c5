"""What docs/extras/manifests.md says of tokens and permissions is so. Its commands run in the end-to-end tests."""

from __future__ import annotations

import re

from strongref_manifests.leftovers import leftover
from strongref_manifests.tokens import BY_DEFAULT, FORMS, ON_DEMAND, Token, parse
from tests.support.documents import ROOT, blocks, names_in, rows

PAGE = "docs/extras/manifests.md"
TEXT = (ROOT / PAGE).read_text()


def test_the_documented_tokens_are_those_that_there_are() -> None:
    documented = {form for first, *_ in rows(PAGE, "Tokens") for form in re.findall("`([^`]+)`", first)}
    assert documented == {form for forms in FORMS.values() for form in forms.split(" or ")}


def test_tokens_are_resolved_by_default_or_on_demand_as_documented() -> None:
    for first, _, how in rows(PAGE, "Tokens"):
        (token, *_) = parse(re.findall("`([^`]+)`", first)[0])
        assert isinstance(token, Token)
        if token.scheme in BY_DEFAULT:
            assert how == "always"
        else:
            assert how == ("with `--tf STATE`" if token.scheme == "tf" else f"with `--with {token.scheme}`")
            assert token.scheme in (*ON_DEMAND, "tf")


def test_every_permission_is_of_a_token() -> None:
    of_tokens = FORMS.keys() - {"env"} | {"#ACCOUNT"}
    assert names_in(rows(PAGE, "Permissions")) == of_tokens | {"--claim", "--hold", "--unclaim"}


def test_the_example_is_the_one_that_is_shown() -> None:
    (block,) = blocks("yaml manifest")
    assert block.text == (ROOT / "examples/manifests/kubernetes/reports.yaml").read_text()


def test_what_is_documented_as_left_over_is() -> None:
    section = TEXT[TEXT.index("\n## Strict\n") : TEXT.index("\n## Secrets\n")]
    documented = [text for line in section.splitlines() if line[:1] == "-" for text in re.findall("`([^`]+)`", line)]
    assert {text: bool(leftover(text)) for text in documented} == dict.fromkeys(documented, True)


def test_what_is_documented_as_left_alone_is() -> None:
    line = TEXT[TEXT.index("- `$${` writes") :].partition("\n- ")[0]
    alone = set(re.findall(r"`([^`\n]+)`", line)) - {"$${", "${"}
    assert alone == {"${HOME}", "$(HOME)", "${PORT:-80}", "${foo:bar}", "${env:-none}"}
    assert [parse(text) for text in sorted(alone)] == [[text] for text in sorted(alone)]
