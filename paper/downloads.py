"""Data sets from where they are published, checked against their checksums; what is there already is not fetched."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.system.errors import extra
from paper.corruptions import CORRUPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator


class Source(NamedTuple):
    """A file of a data set: where it is published, its MD5, and the files whose presence says that it is here."""

    url: str
    md5: str
    shows: tuple[str, ...]  # relative to the data set's folder
    instead: tuple[str, ...] = ()  # other files that hold the same


_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"
_FASHION = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
_CIFAR = "https://www.cs.toronto.edu/~kriz/"
_SVHN = "http://ufldl.stanford.edu/housenumbers/"
_ZENODO = "https://zenodo.org/records/"
_CIFAR10_BATCHES = (*(f"data_batch_{place}" for place in range(1, 6)), "test_batch")
_CORRUPTED = tuple(f"{name}.npy" for name in CORRUPTIONS)


def _idx(base: str, md5: tuple[str, str, str, str]) -> list[Source]:
    names = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
    files = [f"{name}-ubyte.gz" for name in names]
    return [Source(base + file, checksum, (file,)) for file, checksum in zip(files, md5, strict=True)]


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
            tuple(f"cifar-10-batches-bin/{name}.bin" for name in _CIFAR10_BATCHES),
            tuple(f"cifar-10-batches-py/{name}" for name in _CIFAR10_BATCHES),
        )
    ],
    "cifar100": [
        Source(
            f"{_CIFAR}cifar-100-binary.tar.gz",
            "03b5dce01913d631647c71ecec9e9cb8",
            ("cifar-100-binary/train.bin", "cifar-100-binary/test.bin"),
            ("cifar-100-python/train", "cifar-100-python/test"),
        )
    ],
    "svhn": [Source(f"{_SVHN}test_32x32.mat", "eb5a983be6a315427106f1b164d9cef3", ("test_32x32.mat",))],
    "CIFAR-10-C": [Source(f"{_ZENODO}2535967/files/CIFAR-10-C.tar", "56bf5dcef84df0e2308c6dcbcbbd8499", _CORRUPTED)],
    "CIFAR-100-C": [Source(f"{_ZENODO}3555552/files/CIFAR-100-C.tar", "11f0ed0f1191edbf9fa23466ae6021d3", _CORRUPTED)],
}
"""By the name of the data set's folder. ImageNet has to be asked for at its site; notMNIST has no lasting home."""


UNPUBLISHED = {"notmnist": ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")}
"""Files of data sets that have to be put there."""


def is_here(name: str, data_dir: Path) -> bool:
    """Whether all files of a data set are in its folder."""
    if name in UNPUBLISHED:
        return _has_all(data_dir / name, UNPUBLISHED[name])
    return name in SOURCES and all(_is_here(source, data_dir / name) for source in SOURCES[name])


def _is_here(source: Source, folder: Path) -> bool:
    return _has_all(folder, source.shows) or (bool(source.instead) and _has_all(folder, source.instead))


def _has_all(folder: Path, files: tuple[str, ...]) -> bool:
    return all((folder / file).exists() or (folder / file.removesuffix(".gz")).exists() for file in files)


def fetch(name: str, data_dir: Path) -> None:
    """Make sure that a data set is in the data directory; a download that fails leaves nothing behind."""
    for source in SOURCES.get(name, []):
        if _is_here(source, data_dir / name):
            continue
        pooch = extra("pooch", name="paper", use=f"downloading {name}")
        file = source.url.split("/")[-1]
        try:
            with _folder_beside(data_dir) as part:
                path = pooch.retrieve(source.url, f"md5:{source.md5}", path=part, fname=file)
                if ".tar" in file:
                    _unpack(path, part)
                    Path(path).unlink()
                _move(part / name if (part / name).is_dir() else part, data_dir / name)
        except Exception as error:  # no network, another file, a full disk: pooch and requests have many
            raise ConnectionError(
                f"{name} is not in {data_dir / name} and could not be downloaded ({type(error).__name__}); "
                f"put {file} there"
            ) from error


@contextmanager
def _folder_beside(data_dir: Path) -> Iterator[Path]:
    """A folder in the data directory that goes in the end, and with it the data directory if there was none."""
    made = [folder for folder in (data_dir, *data_dir.parents) if not folder.exists()]
    data_dir.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".download-", dir=data_dir))
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)
        with suppress(OSError):  # something is in it
            for folder in made:
                folder.rmdir()


def _move(source: Path, target: Path) -> None:
    """All that is in a folder, into another on the same disk; what has its name there gives way."""
    target.mkdir(exist_ok=True)
    for path in source.iterdir():
        place = target / path.name
        if place.is_dir():
            shutil.rmtree(place)
        path.replace(place)


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
