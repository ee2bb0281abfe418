"""What is written on a pull request and into issues, given what is there."""

from pulumi_lws.ci.notes import Change, Note, comments, issues, marked

BOT = "github-actions[bot]"
RUN = "https://github.example.com/team/serving/actions/runs/42"
DEV = "<!-- lws report: serving/dev -->\n### 🟢 Nothing changes\n"
PROD = "<!-- lws report: serving/prod -->\n### 🟡 `glm-5` restarts\n"


def test_a_stack_without_a_comment_gets_one() -> None:
    assert comments("serving", {"serving/dev": DEV}, [], BOT) == [Change(None, {"body": DEV})]


def test_the_comment_of_an_earlier_run_is_written_anew() -> None:
    there = [Note(1, BOT, PROD), Note(2, BOT, DEV.replace("Nothing", "Much")), Note(3, "someone", "well done")]
    bodies = {"serving/dev": DEV, "serving/prod": PROD}
    assert comments("serving", bodies, there, BOT) == [Change(2, {"body": DEV})]


def test_a_comment_that_quotes_the_mark_or_is_of_somebody_else_is_left_alone() -> None:
    there = [Note(1, "someone", DEV), Note(2, BOT, f"> {DEV}")]
    assert comments("serving", {"serving/dev": DEV}, there, BOT) == [Change(None, {"body": DEV})]


def test_the_comment_of_a_stack_that_is_touched_no_longer_says_so_once() -> None:
    gone = "<!-- lws report: serving/prod -->\nThis pull request no longer touches this stack."
    foreign = Note(2, BOT, "<!-- lws report: other/prod -->\n### 🟢 Nothing changes")
    assert comments("serving", {}, [Note(1, BOT, PROD), foreign], BOT) == [Change(1, {"body": gone})]
    assert comments("serving", {}, [Note(1, BOT, gone), foreign], BOT) == []


def test_drift_opens_one_issue_writes_it_anew_and_closes_it() -> None:
    assert issues("serving/dev", DEV, [Note(3, BOT, PROD)], BOT) == [
        Change(None, {"title": "Drift: serving/dev", "body": DEV})
    ]
    older = Note(4, BOT, f"{DEV}older")
    assert issues("serving/dev", DEV, [older], BOT) == [Change(4, {"body": DEV})]
    assert issues("serving/dev", DEV, [Note(4, BOT, DEV)], BOT) == []
    closed = {"state": "closed", "state_reason": "completed"}
    assert issues("serving/dev", None, [older, Note(5, "someone", DEV)], BOT) == [Change(4, closed)]
    assert issues("serving/dev", None, [], BOT) == []


def test_a_report_is_marked_with_its_stack_whatever_it_found_out_itself() -> None:
    assert marked("serving/dev", DEV, RUN) == DEV
    assert marked("serving/dev", "<!-- lws report: -->\n### 🔴 The preview failed\n", RUN) == (
        "<!-- lws report: serving/dev -->\n### 🔴 The preview failed\n"
    )


def test_a_stack_without_a_report_says_where_to_look() -> None:
    assert marked("serving/a--b", " \n", RUN) == (
        "<!-- lws report: serving/a--b -->\n### ⚪ No preview of `serving/a--b`\n\n"
        f"Its job ended before there was one: {RUN}"
    )


def test_stacks_of_names_that_are_alike_keep_comments_of_their_own() -> None:
    bodies = {f"serving/{stack}": marked(f"serving/{stack}", "text", RUN) for stack in ("a-b", "a--b")}
    there = [Note(number, BOT, body) for number, body in enumerate(bodies.values())]
    assert comments("serving", bodies, there, BOT) == []


def test_a_report_is_as_long_as_github_takes_and_no_longer() -> None:
    first_line = "<!-- lws report: serving/dev -->\n"
    fits = first_line + "x" * (65_536 - len(first_line))
    assert marked("serving/dev", fits, RUN) == fits
    longer = marked("serving/dev", f"{fits}x", RUN)
    assert longer.splitlines() == [
        "<!-- lws report: serving/dev -->",
        "### ⚪ The report on `serving/dev` is too long for a comment",
        "",
        (
            "It has 65,537 characters; allowed: 65,536. Write it with `lws report --max-length 65536`."
            f" It stands whole in the summary of the run: {RUN}"
        ),
    ]
