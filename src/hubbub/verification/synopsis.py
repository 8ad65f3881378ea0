"""A published synopsis, opened again by anybody: from its certificate and the file beside it, without the data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hubbub.errors import CheckFailed
from hubbub.ledger import trust
from hubbub.protocol.release import release_digests
from hubbub.serialization.published_files import Files
from hubbub.verification import load
from hubbub.verification import verify as check


def reopen(certificate: str | os.PathLike[str], *, release: str | os.PathLike[str] | None = None) -> Any:
    """What was published, ready to be asked: ``reopen("out/certificate.json").answer({"sex": "F"})``.

    `release` is the published file, if it is not beside the certificate.

    Guarantee: the certificate holds and the file is the one that it names, or the call is refused; the answers follow
    from these two alone. Who signed it is for :func:`hubbub.verify`.
    """
    path = Path(certificate)
    file = None if release is None else Path(release)
    done = check(load(path), folder=path.parent, release=file, known=trust.signer)
    if not done.passed or done.spec is None or done.certificate is None:
        wrong = done.checks[-1]
        raise CheckFailed(f"the certificate does not hold, so it is not opened: {wrong.what}: {wrong.found}")
    main = next(iter(release_digests(done.certificate)))
    if main not in done.files:
        raise CheckFailed(f"the file {main} is not beside the certificate; put it there, or give `release`")
    form = "parquet" if main.endswith(".parquet") else "csv"
    beside = {name.rpartition(".")[0]: path.parent / name for name in done.files if name.endswith(form)}
    return done.spec.present(done.spec.load(Files(form, {**beside, "release": file or path.parent / main})))
