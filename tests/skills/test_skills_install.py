"""Installing the skills into real folders: what is written, what is kept, and what an error leaves behind."""

import shutil
from collections import Counter
from importlib import resources
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from gymbal.cli.skills import skills as skills_group
from gymbal.commands.skills import skills_install, skills_list
from gymbal.errors import InputError, UsageError
from gymbal.io.fingerprint import digest
from gymbal.model.skill import FileStatus, InstalledFile

SHIPPED = Path(str(resources.files("gymbal") / "skills"))
MANIFEST = ".gymbal.json"


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below `folder` but the record of what was installed."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != MANIFEST
    }


def statuses(files: tuple[InstalledFile, ...]) -> set[FileStatus]:
    return {file.status for file in files}


def status_of(files: tuple[InstalledFile, ...], ending: str) -> FileStatus:
    (found,) = [file.status for file in files if file.path.endswith(ending)]
    return found


def pretend_installed_by_older_version(file: Path) -> None:
    """Give `file` another text, and record that text as what was installed."""
    folder = next(parent for parent in file.parents if (parent / MANIFEST).exists())
    file.write_bytes(b"the text of an older version\n")
    manifest = msgspec.json.decode((folder / MANIFEST).read_bytes())
    manifest["files"][file.relative_to(folder).as_posix()] = digest(file.read_bytes())
    (folder / MANIFEST).write_bytes(msgspec.json.encode(manifest))


def test_skills_install_for_the_user_needs_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "")
    with pytest.raises(UsageError, match="the home folder is not known"):
        skills_install(scope="user")


def test_skills_list_names_both_skills_with_all_their_files() -> None:
    listed = {skill.name: skill.files for skill in skills_list()}
    assert listed == {
        folder.name: tuple(sorted(contents(folder))) for folder in SHIPPED.iterdir() if folder.is_dir()
    }
    assert set(listed) == {"pivot-datasets", "score-triage"}


def test_skills_install_writes_every_file_of_every_skill(tmp_path: Path) -> None:
    files = skills_install(root=tmp_path)
    assert contents(tmp_path / ".claude" / "skills") == contents(SHIPPED)
    assert statuses(files) == {FileStatus.WRITTEN}
    assert sorted(file.path for file in files) == sorted(
        str(tmp_path / ".claude" / "skills" / name) for name in contents(SHIPPED)
    )


def test_skills_install_again_changes_nothing(tmp_path: Path) -> None:
    skills_install(root=tmp_path)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert statuses(skills_install(root=tmp_path)) == {FileStatus.UNCHANGED}
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == times


def test_skills_install_takes_the_named_skills_alone(tmp_path: Path) -> None:
    files = skills_install(["score-triage", "score-triage"], root=tmp_path)
    assert {file.skill for file in files} == {"score-triage"}
    assert [path.name for path in (tmp_path / ".claude" / "skills").iterdir()] == ["score-triage"]


def test_skills_install_keeps_a_changed_file_and_says_so(tmp_path: Path) -> None:
    skills_install(root=tmp_path)
    changed = tmp_path / ".claude" / "skills" / "score-triage" / "SKILL.md"
    changed.write_bytes(b"mine\n")
    files = skills_install(root=tmp_path)
    assert changed.read_bytes() == b"mine\n"
    assert status_of(files, "score-triage/SKILL.md") is FileStatus.KEPT
    assert Counter(file.status for file in files)[FileStatus.KEPT] == 1


def test_skills_install_keeps_a_file_that_it_never_installed(tmp_path: Path) -> None:
    theirs = tmp_path / ".claude" / "skills" / "score-triage" / "SKILL.md"
    theirs.parent.mkdir(parents=True)
    theirs.write_bytes(b"a skill of the same name\n")
    for _ in range(2):
        files = skills_install(root=tmp_path)
        assert theirs.read_bytes() == b"a skill of the same name\n"
        assert status_of(files, "score-triage/SKILL.md") is FileStatus.KEPT


def test_skills_install_overwrites_a_changed_file_on_request(tmp_path: Path) -> None:
    skills_install(root=tmp_path)
    changed = tmp_path / ".claude" / "skills" / "score-triage" / "SKILL.md"
    changed.write_bytes(b"mine\n")
    files = skills_install(root=tmp_path, overwrite=True)
    assert changed.read_bytes() == (SHIPPED / "score-triage" / "SKILL.md").read_bytes()
    assert status_of(files, "score-triage/SKILL.md") is FileStatus.UPDATED
    assert statuses(skills_install(root=tmp_path)) == {FileStatus.UNCHANGED}


def test_skills_install_updates_a_file_of_an_older_version(tmp_path: Path) -> None:
    skills_install(root=tmp_path)
    old = tmp_path / ".claude" / "skills" / "pivot-datasets" / "references" / "metrics.md"
    pretend_installed_by_older_version(old)
    files = skills_install(root=tmp_path)
    assert status_of(files, "references/metrics.md") is FileStatus.UPDATED
    assert contents(tmp_path / ".claude" / "skills") == contents(SHIPPED)


def test_skills_install_restores_a_deleted_file(tmp_path: Path) -> None:
    skills_install(root=tmp_path)
    (tmp_path / ".claude" / "skills" / "score-triage" / "SKILL.md").unlink()
    assert status_of(skills_install(root=tmp_path), "score-triage/SKILL.md") is FileStatus.WRITTEN


def test_skills_install_leaves_other_files_alone(tmp_path: Path) -> None:
    notes = tmp_path / ".claude" / "skills" / "score-triage" / "NOTES.md"
    other = tmp_path / ".claude" / "skills" / "another" / "SKILL.md"
    for file in (notes, other):
        file.parent.mkdir(parents=True)
        file.write_bytes(b"mine\n")
    skills_install(root=tmp_path, overwrite=True)
    assert notes.read_bytes() == other.read_bytes() == b"mine\n"


@pytest.mark.parametrize(
    ("target", "folder"), [("claude", ".claude"), ("codex", ".agents"), ("agents", ".agents")]
)
def test_skills_install_puts_each_target_where_its_agent_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, folder: str
) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(project)
    skills_install(target=target, scope="project")
    assert contents(project / folder / "skills") == contents(SHIPPED)
    assert contents(home) == {}
    skills_install(target=target, scope="user")
    assert contents(home / folder / "skills") == contents(SHIPPED)


def test_skills_install_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    # The second skill cannot be written: a file stands where its folder should be.
    in_the_way = tmp_path / ".claude" / "skills" / "score-triage"
    in_the_way.parent.mkdir(parents=True)
    in_the_way.write_bytes(b"a file\n")
    with pytest.raises(InputError, match="score-triage"):
        skills_install(root=tmp_path)
    assert contents(tmp_path) == {".claude/skills/score-triage": b"a file\n"}
    assert [path.name for path in in_the_way.parent.iterdir()] == ["score-triage"]


def test_skills_install_puts_replaced_files_back_after_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skills_install(root=tmp_path)
    shutil.rmtree(tmp_path / ".claude" / "skills" / "score-triage" / "references")
    old = tmp_path / ".claude" / "skills" / "pivot-datasets" / "references" / "metrics.md"
    pretend_installed_by_older_version(old)
    before = contents(tmp_path)
    # A disk that is full from the second written file on: what the kernel would say cannot be staged here.
    written = []

    def full_disk(descriptor: int) -> None:
        written.append(descriptor)
        if len(written) == 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("gymbal.io.write.os.fsync", full_disk)
    with pytest.raises(InputError, match="No space left on device"):
        skills_install(root=tmp_path)
    assert contents(tmp_path) == before
    assert not (tmp_path / ".claude" / "skills" / "score-triage" / "references").exists()


def test_skills_install_refuses_a_damaged_record(tmp_path: Path) -> None:
    skills_install(root=tmp_path)
    manifest = tmp_path / ".claude" / "skills" / "score-triage" / MANIFEST
    manifest.write_bytes(b'{"files": [1')
    with pytest.raises(InputError, match="not a record of installed files"):
        skills_install(root=tmp_path)


def test_skills_install_refuses_a_record_of_a_newer_version(tmp_path: Path) -> None:
    skills_install(root=tmp_path)
    manifest = tmp_path / ".claude" / "skills" / "score-triage" / MANIFEST
    manifest.write_bytes(b'{"schema_version": 2, "files": {}}')
    with pytest.raises(InputError, match="schema_version 2"):
        skills_install(root=tmp_path)


def test_skills_install_ignores_foreign_paths_in_a_record(tmp_path: Path) -> None:
    outside = tmp_path / "precious.txt"
    outside.write_bytes(b"mine\n")
    skills_install(root=tmp_path)
    manifest = tmp_path / ".claude" / "skills" / "score-triage" / MANIFEST
    manifest.write_bytes(b'{"schema_version": 1, "files": {"../../../precious.txt": "00"}}')
    skills_install(root=tmp_path, overwrite=True)
    assert outside.read_bytes() == b"mine\n"
    assert b"precious" not in manifest.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"names": ["nonesuch"]}, "there is no skill named 'nonesuch'"),
        ({"target": "emacs"}, "'emacs' is not a valid SkillTarget"),
        ({"scope": "galaxy"}, "'galaxy' is not a valid SkillScope"),
    ],
)
def test_skills_install_refuses_unknown_words(
    tmp_path: Path, arguments: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        skills_install(root=tmp_path, **arguments)  # type: ignore[arg-type]  # each case has its own types
    assert list(tmp_path.iterdir()) == []


def test_skills_command_installs_and_reports_a_kept_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    first = runner.invoke(skills_group, ["install", "score-triage", "--target", "codex"])
    assert (first.exit_code, "written" in first.output) == (0, True)
    Path(".agents/skills/score-triage/SKILL.md").write_bytes(b"mine\n")
    second = runner.invoke(skills_group, ["install", "score-triage", "--target", "codex", "--format", "json"])
    report = msgspec.json.decode(second.output)
    assert (report["target"], report["scope"]) == ("codex", "project")
    assert [file["path"] for file in report["files"] if file["status"] == "kept"] == [
        ".agents/skills/score-triage/SKILL.md"
    ]
    third = runner.invoke(skills_group, ["install", "--target", "codex", "--force", "--format", "markdown"])
    assert "updated" in third.output
    assert contents(Path(".agents/skills")) == contents(SHIPPED)


def test_skills_command_says_how_to_replace_a_kept_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    runner.invoke(skills_group, ["install"])
    Path(".claude/skills/score-triage/SKILL.md").write_bytes(b"mine\n")
    output = runner.invoke(skills_group, ["install"]).output
    assert "kept (changed by you; use --force)" in output


def test_skills_command_lists_both_skills() -> None:
    output = CliRunner().invoke(skills_group, ["list", "--format", "json"]).output
    assert [skill["name"] for skill in msgspec.json.decode(output)["skills"]] == [
        "pivot-datasets",
        "score-triage",
    ]
