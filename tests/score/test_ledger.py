"""The documents of a run, known by the lowest hashes of their ids in any order."""

from hashlib import blake2b

from stickler_cli.score.ledger import MAX_HASHES, Ledger


def ledger_of(*names: str) -> Ledger:
    ledger = Ledger()
    ledger.add_ids(names)
    return ledger


def hashed(name: str) -> str:
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def test_each_document_is_known_once_by_a_hash_of_its_id():
    names = ["b", "a", "\udc80", "b"]

    assert ledger_of(*names).hashes == sorted({*map(hashed, names)})


def test_of_many_documents_the_least_hashes_are_kept_in_any_order_and_company():
    names = [f"document {index}" for index in range(3 * MAX_HASHES)]
    expected = sorted(map(hashed, names))[:MAX_HASHES]
    separate, merged = ledger_of(), ledger_of(*names[:7])
    for name in reversed(names):
        separate.add_ids([name])
    for start in range(0, len(names), 100):
        merged.merge(ledger_of(*names[start : start + 100]))

    assert ledger_of(*names).hashes == separate.hashes == merged.hashes == expected


def test_a_hash_just_below_the_greatest_of_those_that_are_kept_takes_its_place():
    names = sorted((f"document {index}" for index in range(MAX_HASHES + 1)), key=hashed)
    late = names.pop(MAX_HASHES - 1)
    ledger = ledger_of(*names)
    ledger.add_ids([late])

    assert ledger.hashes == sorted(map(hashed, [*names[:-1], late]))
