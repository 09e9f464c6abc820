"""What attackers found, F1 to F22 of the second attack and what was left of the first: each has a test."""

import ast
import json
import os
from pathlib import Path

import pytest
from engines import ENGINES, read_run
from mutation.undone import UNDONE

from summaries import EventFileWriter
from summaries.storage.cache import clear_cache
from summaries.tools import convert

pytestmark = pytest.mark.only_on_disks(reason="files that others made lie on a disk")

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
WRITING, STORAGE, TOOLS = "unit/summaries/writing", "unit/summaries/storage", "unit/summaries/tools"

FOUND = {
    "F1 a manifest names any path": {
        f"{TOOLS}/exporting/test_manifest.py": ["test_a_manifest_names_no_file_but_the_dataset_s_own"]
    },
    "F2 a handler that logs amid close() loops for ever": {
        f"{WRITING}/test_event_file_writer_signals.py": ["test_a_handler_just_after_the_queue_is_sealed"],
        f"{WRITING}/test_run_file_instructions.py": ["test_a_handler_between_any_two_instructions"],
    },
    "F3 outputs are not synced": {
        f"{STORAGE}/test_durable.py": ["test_a_tool_has_synced_its_output_when_it_returns"],
        "crash/test_crash.py": ["test_a_loss_of_power_at_any_moment"],
    },
    "F4 code of others is run from a cache": {
        f"{STORAGE}/test_durable.py": ["test_whom_a_directory_is_trusted_to", "test_another_users_directory"],
        f"{STORAGE}/test_cache.py": [
            "test_a_directory_that_others_may_write_to_is_not_used",
            "test_an_entry_of_another_user_is_not_read",
        ],
        f"{STORAGE}/test_remote.py": ["test_what_others_may_have_put_among_the_unsent_is_not_sent"],
    },
    "F5 a failed fsync is forgotten": {
        f"{WRITING}/test_current_file.py": ["test_what_was_not_synced_is_written_again_into_a_new_file"],
    },
    "F6 a long file whose fault reaches its end": {
        "unit/test_attacks.py": ["test_zeros_to_the_end_of_a_long_file"],
    },
    "F7 a store that never answers": {
        f"{STORAGE}/test_remote.py": [
            "test_a_store_that_never_answers",
            "test_what_was_not_sent_at_the_end_is_sent_by_the_next_writer",
        ],
        f"{STORAGE}/test_deadlines.py": ["test_at_the_end_of_the_process_all_requests_share_the_time"],
    },
    "F8 the interpreter's lock is kept": {
        f"{WRITING}/test_run_file.py": ["test_each_call_writes_what_it_logs"],
        "crash/test_kills.py": ["test_a_thousand_kills"],
    },
    "F9 compare prints escape sequences": {
        "unit/summaries/cli/test_program_hostile_names.py": ["test_every_command_is_here", "test_what_is_printed"],
    },
    "F10 a path that is opened again": {
        f"{STORAGE}/test_local_lost.py": ["test_nothing_is_written_into_what_is_no_longer_our_file"],
    },
    "F11 a temporary name that can be guessed": {
        f"{STORAGE}/test_durable.py": [
            "test_links_with_likely_names_are_not_followed",
            "test_nobody_else_gets_into_a_scratch_and_its_name_is_random",
        ],
    },
    "F12 clear-cache removes by suffix": {"unit/test_attacks.py": ["test_clear_cache_removes_nothing_of_others"]},
    "F13 two writers of one key": {
        f"{STORAGE}/test_remote.py": [
            "test_writers_that_share_host_process_and_second",
            "test_an_object_of_another_writer_is_not_replaced",
        ],
    },
    "F14 a page offers flush(fsync=True)": {"unit/test_attacks.py": ["test_no_page_offers_what_flush_has_not"]},
    "F15 parents are not synced": {
        f"{STORAGE}/test_durable.py": ["test_directories_that_get_a_new_name"],
        f"{WRITING}/test_run_file.py": ["test_fsync"],
        "unit/optim/checkpoints/test_files.py": ["test_the_directories_that_are_made_are_synced_with_those_above"],
        "crash/test_crash.py": ["test_a_loss_of_power_at_any_moment"],
    },
    "F16 a leftover is in the way": {
        f"{STORAGE}/test_durable.py": ["test_a_leftover_of_the_same_process_number_is_in_nobodys_way"],
    },
    "F17 a file that others cut short": {
        f"{WRITING}/test_current_file.py": ["test_a_file_that_others_take_or_change"],
    },
    "F18 a failed call logs all the same": {
        f"{WRITING}/test_event_file_writer_faults.py": ["test_a_call_that_writes_at_once_and_fails_logs_nothing"],
    },
    "F19 a pipe and a link below what is converted": {
        f"{TOOLS}/formats/test_mlflow.py": ["test_pipes_and_links_are_left_out"],
        f"{STORAGE}/test_plain.py": [
            "test_links_and_pipes_are_told_and_not_read",
            "test_a_link_that_is_put_in_the_place_of_what_was_listed_is_not_followed",
        ],
    },
    "F20 secrets that are not masked": {f"{STORAGE}/test_credentials.py": ["test_a_message"]},
    "F21 the end of the interpreter": {
        f"{WRITING}/test_process_hooks.py": [
            "test_what_is_logged_when_all_writers_were_closed_is_written_at_once",
            "test_a_writer_may_go_after_the_names_of_its_module",
            "test_what_is_logged_while_the_process_closes_its_files_is_written_at_once",
        ],
    },
    "F22 threads that cannot start, runs '' and '.', a link to nowhere, Host": {
        f"{WRITING}/test_event_file_writer_faults.py": ["test_a_thread_that_cannot_be_started_leaves_no_file"],
        "unit/test_attacks.py": ["test_runs_without_a_name_and_with_a_dot_are_not_joined"],
        f"{STORAGE}/test_local_special_files.py": [
            "test_a_link_to_nowhere_is_told_and_the_files_beside_it_are_read",
            "test_a_run_of_links_to_nowhere_costs_the_runs_beside_it_nothing",
            "test_a_link_to_nowhere_costs_a_follower_and_an_audit_nothing",
        ],
        "unit/summaries/integrations/tensorboard/test_application.py": ["test_pages_of_other_sites_get_nothing"],
    },
    "first attack: a slot that is made read-only": {
        "unit/optim/optimizers/test_targets.py": ["test_a_slot_of_another_dtype_or_read_only"],
    },
    "first attack: an optimizer with a Schedule is pickled": {
        "unit/optim/schedules/test_schedule.py": ["test_an_optimizer_with_a_schedule_is_copied_and_pickled"],
    },
}


def test_each_has_a_number():
    assert [found.split()[0] for found in FOUND][:22] == [f"F{number}" for number in range(1, 23)]


@pytest.mark.parametrize("found", FOUND)
def test_its_test_is_there(found):
    for path, names in FOUND[found].items():
        tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
        there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert set(names) <= there, path


@pytest.mark.parametrize("found", FOUND)
def test_what_mended_it_can_be_undone(found):
    """`python -m mutation.attacks` does so, and sees the tests fail."""
    (mends,) = (mends for name, mends in UNDONE.items() if name == found or found.startswith(f"{name} "))
    for mend in mends:
        for path, mended, undone in mend.edits:
            assert (ROOT / path).read_text(encoding="utf-8").count(mended) == 1, (mend.what, path)
            assert mended != undone


@pytest.mark.parametrize("engine", ENGINES)
def test_zeros_to_the_end_of_a_long_file(tmp_path, engine):
    """As a loss of power leaves it: many times what is read at once, and it takes no memory."""
    with EventFileWriter(tmp_path) as writer:
        for step in range(100):
            writer.add_scalar("loss", step, step)
    sound, size = os.path.getsize(writer.path), 40 << 20
    os.truncate(writer.path, size)
    run = read_run(writer.path, engine=engine)
    assert run.scalars["loss"].step.tolist() == list(range(100))
    assert [(str(fault.kind), fault.offset, fault.length) for fault in run.faults] == [
        ("zero-filled", sound, size - sound)
    ]


def test_clear_cache_removes_nothing_of_others(tmp_path):
    for name in ("thesis.tmp", "thesis.events", f"{'a' * 40}.events", ".gradledger.thesis.tmp"):
        (tmp_path / name).write_text("mine")
    (tmp_path / ".gradledger.mine.tmp").mkdir()
    there = sorted(tmp_path.iterdir())
    assert clear_cache(str(tmp_path)) == (0, 0)
    assert sorted(tmp_path.iterdir()) == there


def test_no_page_offers_what_flush_has_not():
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.rst"), ROOT / "README.md", ROOT / "SECURITY.md"]
    assert [page for page in pages if "flush(fsync" in page.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_runs_without_a_name_and_with_a_dot_are_not_joined(tmp_path, ending):
    rows = [{"run": run, "tag": "loss", "step": 1, "value": 0.5} for run in ("", ".")]
    table = "run,tag,step,value\n" + "".join(f"{','.join(map(str, row.values()))}\n" for row in rows)
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    (tmp_path / f"a.{ending}").write_text(table if ending == "csv" else lines)
    with pytest.raises(ValueError, match=r"one of the runs '' and '\.' must have another name, got both$"):
        convert(tmp_path / f"a.{ending}", tmp_path / "runs")
    assert not (tmp_path / "runs").exists()
