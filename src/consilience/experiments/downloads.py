"""Data sets from where they are published, checked against their checksums; what is there already is not fetched."""

from __future__ import annotations

import tarfile
from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.system.extras import extra

if TYPE_CHECKING:
    from pathlib import Path


class Source(NamedTuple):
    """A file of a data set: where it is published, its MD5, and the file whose presence says that it is here."""

    url: str
    md5: str
    shows: str  # relative to the data set's folder


_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"
_FASHION = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
_CIFAR = "https://www.cs.toronto.edu/~kriz/"
_SVHN = "http://ufldl.stanford.edu/housenumbers/"
_ZENODO = "https://zenodo.org/records/"


def _idx(base: str, md5: tuple[str, str, str, str]) -> list[Source]:
    names = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
    files = [f"{name}-ubyte.gz" for name in names]
    return [Source(base + file, checksum, file) for file, checksum in zip(files, md5, strict=True)]


SOURCES: dict[str, list[Source]] = {
    "mnist": _idx(
        _MNIST,
        (
            "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            "d53e105ee54ea40749a09fcbcd1e9432",
            "9fb629c4189551a2d022fa330f9573f3",
            "ec29112dd5afa0611ce80d1b7f02629c",
        ),
    ),
    "fashion-mnist": _idx(
        _FASHION,
        (
            "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
            "25c81989df183df01b3e8a0aad5dffbe",
            "bef4ecab320f06d8554ea6380940ec79",
            "bb300cfdad3c16e7a12a480ee83cd310",
        ),
    ),
    "cifar10": [
        Source(
            f"{_CIFAR}cifar-10-binary.tar.gz",
            "c32a1d4ab5d03f1284b67883e8d87530",
            "cifar-10-batches-bin/test_batch.bin",
        )
    ],
    "cifar100": [
        Source(f"{_CIFAR}cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8", "cifar-100-binary/test.bin")
    ],
    "svhn": [
        Source(f"{_SVHN}train_32x32.mat", "e26dedcc434d2e4c54c9b2d4a06d8373", "train_32x32.mat"),
        Source(f"{_SVHN}test_32x32.mat", "eb5a983be6a315427106f1b164d9cef3", "test_32x32.mat"),
    ],
    "CIFAR-10-C": [
        Source(f"{_ZENODO}2535967/files/CIFAR-10-C.tar", "56bf5dcef84df0e2308c6dcbcbbd8499", "../CIFAR-10-C/fog.npy")
    ],
    "CIFAR-100-C": [
        Source(f"{_ZENODO}3555552/files/CIFAR-100-C.tar", "11f0ed0f1191edbf9fa23466ae6021d3", "../CIFAR-100-C/fog.npy")
    ],
}
"""By the name of the data set's folder. ImageNet has to be asked for at its site; notMNIST has no lasting home."""


def fetch(name: str, data_dir: Path) -> None:
    """Make sure that a data set is in the data directory."""
    for source in SOURCES.get(name, []):
        if (data_dir / name / source.shows).exists():
            continue
        pooch = extra("pooch", name="experiments", use=f"downloading {name}")
        try:
            path = pooch.retrieve(
                source.url, f"md5:{source.md5}", path=data_dir / name, fname=source.url.split("/")[-1]
            )
        except Exception as error:  # no network, another file, a full disk: pooch and requests have many
            raise ConnectionError(
                f"{name} is not in {data_dir / name} and could not be downloaded ({type(error).__name__}); "
                f"put {source.url.split('/')[-1]} there"
            ) from error
        if ".tar" in path:
            _unpack(path, data_dir / name if source.shows[0] != "." else data_dir)


def _unpack(path: str, folder: Path) -> None:
    """The files of an archive, none of them outside the folder and nothing but files."""
    inside = folder.resolve()
    # Python 3.11 has filters from 3.11.4 on.
    filters: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        for member in members:
            if not (member.isfile() or member.isdir()) or not (inside / member.name).resolve().is_relative_to(inside):
                raise ValueError(f"{path} must hold files inside its folder alone; it has {member.name!r}")
        archive.extractall(folder, members, **filters)  # noqa: S202 - all of them were looked at
