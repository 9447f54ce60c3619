import os
import shutil
import tempfile

import probe

ODD = ["a b.txt", "-rf", "--help", "new\nline", "*", "quote'\".txt", "deep/er/ x ", ".hidden/.file", "tab\t", "ünï", "$HOME", "back\\slash"]


def folder():
    return os.path.realpath(tempfile.mkdtemp())


def write(root, name, text=None):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text if text is not None else name)


def tree(root):
    return {
        os.path.relpath(os.path.join(base, name), root): open(os.path.join(base, name)).read()
        for base, _, names in os.walk(root)
        for name in names
    }


def backup(*arguments):
    return probe.execute(["bash", "/workspace/backup.sh", *arguments], cwd="/tmp")


def test_odd_names_are_kept():
    source, target = folder(), folder()
    for name in ODD:
        write(source, name)
    os.symlink("/etc/passwd", os.path.join(source, "link"))
    assert backup(source, target, "2025-01-02").returncode == 0
    assert tree(os.path.join(target, "2025-01-02")) == {name: name for name in ODD}
    assert not os.path.lexists(os.path.join(target, "2025-01-02", "link"))


def test_old_backups_are_pruned_by_name():
    source, target = folder(), folder()
    write(source, "f")
    # made in an order that has nothing to do with their dates
    for day in ("2025-03-01", "2024-12-31", "2025-02-01", "2025-01-01"):
        write(target, f"{day}/f")
    for other in ("notes", "2025-13", "x 2025-01-01", "-r", "2024-01-01.keep"):
        write(target, f"{other}/f")
    write(target, "2020-01-01", "a file, no backup")
    assert backup(source, target, "2025-02-15").returncode == 0
    kept = {"2025-03-01", "2025-02-15", "2025-02-01", "notes", "2025-13", "x 2025-01-01", "-r", "2024-01-01.keep", "2020-01-01"}
    assert set(os.listdir(target)) == kept


def test_missing_source_changes_nothing():
    source, target = folder(), folder()
    for day in ("2025-01-01", "2025-01-02", "2025-01-03", "2025-01-04"):
        write(target, f"{day}/f")
    before = tree(target)
    write(source, "plain")
    for missing in (os.path.join(source, "nowhere"), os.path.join(source, "plain")):
        done = backup(missing, target, "2025-02-01")
        assert done.returncode == 2 and done.stderr.strip()
    assert tree(target) == before and len(os.listdir(target)) == 4


def test_spaces_in_the_folders():
    base = folder()
    source, target = os.path.join(base, "my files"), os.path.join(base, "my backups")
    write(source, "a/b")
    assert backup(source, target, "2025-01-02").returncode == 0
    assert tree(target) == {"2025-01-02/a/b": "a/b"}
    os.chdir(base)
    done = probe.execute(["bash", "/workspace/backup.sh", "my files", "other target", "2025-01-02"], cwd=base)
    assert done.returncode == 0 and tree(os.path.join(base, "other target")) == {"2025-01-02/a/b": "a/b"}
    shutil.rmtree(base)


def test_plain_files():
    source, target = folder(), folder()
    write(source, "one/two.txt", "2")
    write(source, "three.txt", "3")
    assert backup(source, target, "2025-01-02").returncode == 0
    assert tree(target) == {"2025-01-02/one/two.txt": "2", "2025-01-02/three.txt": "3"}


def test_usage():
    source, target = folder(), folder()
    for arguments in ((source, target), (source, target, "yesterday"), (source, target, "2025-1-2"), ()):
        assert backup(*arguments).returncode == 64
    assert os.listdir(target) == []
