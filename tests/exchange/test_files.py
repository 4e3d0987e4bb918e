"""Network files: read whole or refused with their name, written whole or not at all."""

import errno
import os
import stat

import pytest

from semialg_fibers.errors import InvalidNetworkError, SemialgError
from semialg_fibers.exchange import files
from semialg_fibers.exchange.files import network_to_json, read_network, write_network
from semialg_fibers.geometry.domain import Box
from semialg_fibers.networks.layer import Layer, Network

NET = Network([Layer([[1, "-1/2"], [0, "1/3"]], [3, 0]), Layer([[1, 1]], ["1/7"])], Box([0, -1], [1, "1/2"]))
OTHER = Network([Layer([[5]], [6])])


def refused(path):
    """Give the error of reading the file, after the checks that hold for every error."""
    with pytest.raises(InvalidNetworkError) as caught:
        read_network(path)
    message = str(caught.value)
    assert os.path.basename(path) in message
    assert caught.value.file == os.fspath(path)
    assert message.isprintable()
    assert len(message) < 300
    return caught.value


def test_round_trip(tmp_path):
    path = tmp_path / "net.json"
    write_network(NET, path)
    assert read_network(path) == read_network(str(path)) == read_network(os.fsencode(path)) == NET
    assert path.read_text(encoding="utf-8") == network_to_json(NET)
    assert os.listdir(tmp_path) == ["net.json"]


def test_a_byte_order_mark_is_skipped(tmp_path):
    path = tmp_path / "net.json"
    path.write_bytes(b"\xef\xbb\xbf" + network_to_json(NET).encode())
    assert read_network(path) == NET


@pytest.mark.parametrize(
    ("data", "sentence", "line"),
    [
        (b"", "empty", 1),
        (b'{"format": "semialg', "ends too early", 1),
        (b'{\n"name": "\xff"}', "line 2: byte 12 of the file is not UTF-8", 2),
        (network_to_json(NET).encode("utf-16"), "not UTF-8", 1),
        (b"\x80\x04\x95", "not UTF-8", 1),  # a pickle
        (b"PK\x03\x04", "no valid JSON", 1),  # a zip file
    ],
)
def test_bytes_that_are_no_network(tmp_path, data, sentence, line):
    path = tmp_path / "net.json"
    path.write_bytes(data)
    error = refused(path)
    assert sentence in str(error)
    assert error.line == line


def test_what_the_text_lacks_is_told_with_the_file(tmp_path):
    path = tmp_path / "net.json"
    path.write_text(network_to_json(NET).replace('"1/3"', '"1/0"'), encoding="utf-8")
    error = refused(path)
    assert "layer 1, weight row 2, column 2" in str(error)
    assert (error.layer, error.row, error.column) == (1, 1, 1)


def test_no_file(tmp_path):
    assert "no such file" in str(refused(tmp_path / "absent.json"))
    (tmp_path / "file").touch()
    assert "cannot be read" in str(refused(tmp_path / "file" / "net.json"))
    with pytest.raises(InvalidNetworkError, match="null"):
        read_network("a\0b")
    with pytest.raises(InvalidNetworkError, match=r"xxx: the file cannot be read \(File name too long\)"):
        read_network("x" * 300)


def test_a_directory_a_pipe_and_a_device_are_refused_without_waiting(tmp_path):
    assert "directory" in str(refused(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    assert "pipe" in str(refused(tmp_path / "pipe"))
    assert "device" in str(refused("/dev/zero"))


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    before = os.stat(tmp_path / "file")
    monkeypatch.setattr(files.os, "stat", lambda *_, **__: before)
    with pytest.raises(InvalidNetworkError, match="pipe"):
        read_network(tmp_path / "pipe")


def test_no_permission(tmp_path, monkeypatch):
    path = tmp_path / "net.json"
    path.touch()

    def denied(*_):  # tests may run as root, who may read everything
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(files.os, "open", denied)
    assert "permissions" in str(refused(path))


def test_a_file_beyond_the_stated_size_is_not_read(tmp_path):
    path = tmp_path / "net.json"
    with open(path, "wb") as file:
        file.truncate(10**12)  # a sparse file: nothing is on the disk
    assert "1,000,000,000,000 bytes" in str(refused(path))


def test_a_file_that_says_it_is_empty_is_read_whole(tmp_path, monkeypatch):
    path = tmp_path / "net.json"
    write_network(NET, path)
    status = list(os.stat(path))
    status[stat.ST_SIZE] = 0  # like the files of /proc
    monkeypatch.setattr(files.os, "fstat", lambda _: os.stat_result(status))
    assert read_network(path) == NET
    monkeypatch.setattr(files, "MAX_BYTES", 100)
    assert "bytes" in str(refused(path))


def no_space(*_):
    """Fail as a full disk does."""
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupted(*_):
    """Fail as on Ctrl-C."""
    raise KeyboardInterrupt


@pytest.mark.parametrize("call", ["replace", "fsync", "fdopen"])
@pytest.mark.parametrize(("failure", "kind"), [(no_space, SemialgError), (interrupted, KeyboardInterrupt)])
def test_a_failure_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, call, failure, kind):
    path = tmp_path / "net.json"
    write_network(OTHER, path)
    monkeypatch.setattr(files.os, call, failure)
    with pytest.raises(kind) as caught:
        write_network(NET, path)
    monkeypatch.undo()
    if kind is SemialgError:
        assert "net.json: the file cannot be written (No space left on device)" in str(caught.value)
        assert caught.value.file == str(path)
    assert read_network(path) == OTHER
    assert os.listdir(tmp_path) == ["net.json"]


def test_a_disk_that_is_full_in_the_middle_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "net.json"
    write_network(OTHER, path)
    opened = os.fdopen

    def half(descriptor, mode):
        file = opened(descriptor, mode)
        os.write(descriptor, b'{"format": ')
        file.close()
        return open("/dev/full", mode)

    monkeypatch.setattr(files.os, "fdopen", half)
    with pytest.raises(SemialgError, match="No space left"):
        write_network(NET, path)
    monkeypatch.undo()
    assert read_network(path) == OTHER
    assert os.listdir(tmp_path) == ["net.json"]


def test_a_network_that_cannot_be_written_leaves_the_old_file(tmp_path):
    path = tmp_path / "net.json"
    write_network(OTHER, path)
    with pytest.raises(InvalidNetworkError, match=r"net\.json: layer 1, weight row 1, column 1"):
        write_network(Network([Layer([[10**5000]], [0])]), path)
    assert read_network(path) == OTHER


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(SemialgError, match="No such file or directory"):
        write_network(NET, tmp_path / "absent" / "net.json")
    with pytest.raises(SemialgError, match="directory"):
        write_network(NET, tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SemialgError, match="pipe"):
        write_network(NET, tmp_path / "pipe")
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


def test_the_umask_decides_the_mode(tmp_path):
    old = os.umask(0o027)
    try:
        write_network(NET, tmp_path / "net.json")
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(tmp_path / "net.json").st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link.json").symlink_to("net.json")
    write_network(NET, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert read_network(tmp_path / "net.json") == NET
