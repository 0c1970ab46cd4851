import re

import pytest
from django.templatetags.static import static
from django.urls import reverse

from console.audit.models import AuditEntry
from console.charts.time_ranges import RANGES_MS
from console.ui import times
from monitoring.console_topics import NAMES
from monitoring.models import Report
from monitoring.reports import report_lifecycle, result_files
from monitoring.reports.models import State
from tests.console.reports.conftest import ROLES, T0, a_finished_report, a_report, client_of

HOUR = {"range": "1h"}


def urls_of(report: Report) -> dict[str, str]:
    own = [report.cluster.slug, report.id]
    return {
        "list": reverse("reports", args=own[:1]),
        "page": reverse("report", args=own),
        "state": reverse("report-state", args=own),
        "csv": reverse("report-download", args=[*own, "topics", "csv"]),
        "parquet": reverse("report-download", args=[*own, "groups", "parquet"]),
    }


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("page", ["list", "page", "state", "csv", "parquet"])
def test_every_role_reads_a_report(cluster, role, page):
    url = urls_of(a_finished_report(cluster))[page]
    assert client_of(role).get(url).status_code == 200


@pytest.mark.parametrize("page", ["list", "page", "state", "csv", "parquet"])
def test_a_stranger_is_sent_to_sign_in(cluster, page):
    response = client_of("nobody").get(urls_of(a_finished_report(cluster))[page])
    assert response.status_code == 302
    assert response.url.startswith(reverse("login"))


@pytest.mark.parametrize("page", ["list", "page", "state", "csv", "parquet"])
def test_somebody_without_a_role_sees_nothing(cluster, page):
    url = urls_of(a_finished_report(cluster))[page]
    assert client_of("").get(url).status_code == 404


@pytest.mark.parametrize("page", ["list", "page", "state", "csv"])
def test_a_role_on_another_cluster_is_none_here(cluster, other_cluster, page):
    url = urls_of(a_finished_report(cluster))[page]
    assert client_of("admin", "other").get(url).status_code == 404


@pytest.mark.parametrize("page", ["page", "state", "csv"])
def test_a_report_is_not_found_under_another_cluster(cluster, other_cluster, page):
    report = a_finished_report(cluster)
    url = urls_of(report)[page].replace("/c/local/", "/c/other/")
    assert client_of("admin").get(url).status_code == 404


@pytest.mark.parametrize(("role", "seen"), [("viewer", 404), ("operator", 404), ("admin", 200)])
@pytest.mark.parametrize("page", ["page", "state", "csv"])
def test_a_report_over_hidden_topics_is_for_admins(cluster, role, seen, page):
    url = urls_of(a_finished_report(cluster, hidden_topics=[]))[page]
    assert client_of(role).get(url).status_code == seen


def test_a_report_over_hidden_topics_is_not_even_listed(cluster):
    report = a_finished_report(cluster, hidden_topics=[])
    assert str(report.id) not in client_of("viewer").get(urls_of(report)["list"]).content.decode()


@pytest.mark.parametrize("page", ["page", "state", "csv"])
@pytest.mark.parametrize(
    ("topics", "groups", "seen"),
    [(["orders.*"], ["*"], 200), (["orders.eu"], ["*"], 404), (["*"], ["billing"], 404)],
)
def test_a_report_is_read_by_who_sees_all_that_it_may_name(cluster, topics, groups, seen, page):
    url = urls_of(a_finished_report(cluster, topics=["orders.eu.*"], groups=["*"]))[page]
    assert client_of("viewer", topics=topics, groups=groups).get(url).status_code == seen


def test_who_sees_a_part_orders_a_report_about_that_part(cluster):
    client = client_of("operator", topics=["orders"], groups=["billing"])
    client.post(reverse("report-new", args=["local"]), HOUR)
    report = Report.objects.get()
    assert (report.topics, report.groups) == (["orders"], ["billing"])
    assert client.get(reverse("report", args=["local", report.id])).status_code == 200


@pytest.mark.parametrize("name", ["report-cancel", "report-delete"])
def test_a_viewer_changes_nothing(cluster, name):
    report = a_report(cluster)
    viewer = client_of("viewer")
    assert viewer.post(reverse(name, args=["local", report.id])).status_code == 403
    assert viewer.get(reverse("report-new", args=["local"])).status_code == 403
    assert viewer.post(reverse("report-new", args=["local"]), HOUR).status_code == 403
    assert list(Report.objects.values_list("state", flat=True)) == [State.QUEUED]


@pytest.mark.parametrize("name", ["report-cancel", "report-delete", "report-new"])
def test_a_stranger_changes_nothing(cluster, name):
    report = a_report(cluster)
    args = ["local"] if name == "report-new" else ["local", report.id]
    assert client_of("nobody").post(reverse(name, args=args), HOUR).status_code == 302
    assert Report.objects.count() == 1


@pytest.mark.parametrize("role", ["operator", "admin"])
def test_who_may_run_orders_a_report_that_everybody_can_read(cluster, role):
    response = client_of(role).post(reverse("report-new", args=["local"]), HOUR)
    report = Report.objects.get()
    assert response.url == reverse("report", args=["local", report.id])
    assert report.hidden_topics == sorted(NAMES), "so that everybody can read it"
    assert report.params["to_ms"] - report.params["from_ms"] == 3_600_000
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.resource) == ("report.run", str(report.id))


@pytest.mark.parametrize(("role", "hidden"), [("operator", sorted(NAMES)), ("admin", [])])
def test_an_admin_may_order_one_with_the_topics_that_only_admins_see(cluster, role, hidden):
    client = client_of(role)
    form = client.get(reverse("report-new", args=["local"])).content.decode()
    assert ("only admins see" in form) == (role == "admin")
    client.post(reverse("report-new", args=["local"]), HOUR | {"with_hidden": "on"})
    assert Report.objects.get().hidden_topics == hidden


@pytest.mark.parametrize("name", RANGES_MS)
def test_a_report_has_the_time_ranges_of_the_charts(cluster, name):
    client_of("operator").post(reverse("report-new", args=["local"]), {"range": name})
    params = Report.objects.get().params
    assert params["to_ms"] - params["from_ms"] == RANGES_MS[name]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ({"range": "1 year"}, "valid choice"),
        ({"range": "custom"}, "Give a date and a time"),
        ({"range": "custom", "start": "yesterday", "end": "x"}, "Enter a valid date/time"),
        ({"range": "custom", "start": "2999-01-01T00:00", "end": "2999-01-02T00:00"}, "future"),
        (
            {"range": "custom", "start": "2024-05-02T00:00", "end": "2024-05-01T00:00"},
            "at least a minute after",
        ),
        (
            {"range": "custom", "start": "2023-01-01T00:00", "end": "2024-12-01T00:00"},
            "at most 400 days",
        ),
        (
            {"range": "custom", "start": "0001-01-01T00:00", "end": "0001-01-02T00:00"},
            "between 1970 and today",
        ),
    ],
)
def test_a_time_that_cannot_be_is_reported_at_its_field(cluster, data, told):
    response = client_of("operator").post(reverse("report-new", args=["local"]), data)
    assert response.status_code == 422
    assert told in response.content.decode()
    assert not Report.objects.exists()


def test_too_many_waiting_reports_are_refused_with_a_reason(cluster):
    for _ in range(report_lifecycle.WAITING_MAX):
        a_report(cluster)
    response = client_of("operator").post(reverse("report-new", args=["local"]), HOUR)
    assert response.status_code == 422
    assert "waiting already" in response.content.decode()


def test_the_empty_list_says_what_to_do(cluster):
    url = reverse("reports", args=["local"])
    assert "Make the first report" in client_of("operator").get(url).content.decode()
    viewer = client_of("viewer").get(url).content.decode()
    assert "An operator can order one" in viewer
    assert reverse("report-new", args=["local"]) not in viewer


def test_a_page_opens_with_the_finding(cluster):
    page = client_of("viewer").get(urls_of(a_finished_report(cluster))["page"]).content.decode()
    assert "At least 12\u202f345 messages (at least 2\u202fMiB) were written to 2 topics." in page
    assert "slow was furthest behind: 480 messages" in page
    assert page.index("were written to") < page.index("data-chart") < page.index("<table")


def test_a_report_says_of_which_part_only_hours_are_stored(cluster):
    part = {"level": "hour", "from_ms": T0, "to_ms": T0 + 1, "longest_too_short_ms": 432_000_000}
    report = a_finished_report(cluster, {"left_out": [part]})
    page = client_of("viewer").get(urls_of(report)["page"]).content.decode()
    assert "only hours are stored, which are not in this report" in page


def test_a_report_and_its_charts_say_which_time_was_written_and_not_sampled(cluster):
    viewer = client_of("viewer")
    sampled = viewer.get(urls_of(a_finished_report(cluster))["page"]).content.decode()
    assert "written by a tool" not in sampled
    range_ms = {"written_from_ms": T0 - 60_000, "written_to_ms": T0}
    page = viewer.get(urls_of(a_finished_report(cluster, range_ms))["page"]).content.decode()
    first, end = times.moment(T0 - 60_000), times.moment(T0)
    note = f"From {first} to {end} the history was written by a tool, not sampled."
    assert page.count(note) == 1 + page.count('class="chart"')


@pytest.mark.parametrize(
    ("count", "names", "told"),
    [
        (0, [], ""),
        (1, ["audit"], "The group audit is left out: it reads a topic that is not in this report."),
        (2, ["a", "b"], "The groups a, b are left out: they read topics"),
        (9, ["a", "b"], "The groups a, b and 7 more are left out: they read topics"),
    ],
)
def test_a_report_names_the_topics_and_the_groups_that_are_left_out(cluster, count, names, told):
    left_out = {"groups_left_out": count, "groups_left_out_names": names}
    report = a_finished_report(cluster, left_out)
    page = client_of("viewer").get(urls_of(report)["page"]).content.decode()
    assert f"The topics {', '.join(sorted(NAMES))} are left out." in page
    assert told in page
    assert page.count("left out") == (2 if told else 1)


def test_unknown_is_a_dash_and_names_are_text(cluster):
    page = client_of("viewer").get(urls_of(a_finished_report(cluster))["page"]).content.decode()
    assert "&lt;b&gt;dark&lt;/b&gt;" in page
    assert "<b>dark</b>" not in page
    row = page[page.index("&lt;b&gt;dark") :]
    assert row[: row.index("</tr>")].count("—") == 6


def test_the_time_with_lag_is_a_share_and_of_how_long(cluster):
    page = client_of("viewer").get(urls_of(a_finished_report(cluster))["page"]).content.decode()
    text = " ".join(re.sub("<[^>]+>", " ", page).split())
    assert "33.3 % 20 min of 60 min" in text
    assert "each point is the mean of 60 s" in text


def test_a_page_asks_for_its_state_only_while_it_is_unfinished(cluster):
    viewer = client_of("viewer")
    running = a_report(cluster, state=State.RUNNING, stage="topics", progress=25)
    page = viewer.get(urls_of(running)["state"]).content.decode()
    assert 'hx-trigger="every 1s"' in page
    assert "Adding up each topic" in page
    assert 'value="25"' in page
    assert (
        "hx-trigger"
        not in viewer.get(urls_of(a_finished_report(cluster))["state"]).content.decode()
    )


@pytest.mark.parametrize("error", ["worker_lost", "spark_absent", "samples_gone", "something new"])
def test_a_failure_says_what_to_do(cluster, error):
    report = a_report(cluster, state=State.FAILED, error=error)
    page = client_of("viewer").get(urls_of(report)["page"]).content.decode()
    assert "The report failed." in page
    assert "log" in page


def test_a_result_that_was_removed_is_reported(cluster):
    report = a_finished_report(cluster)
    result_files.remove(report.id)
    urls = urls_of(report)
    viewer = client_of("viewer")
    assert "The stored result is gone" in viewer.get(urls["page"]).content.decode()
    assert viewer.get(urls["csv"]).status_code == 404


def test_files_are_attachments_with_the_figures(cluster):
    response = client_of("viewer").get(urls_of(a_finished_report(cluster))["csv"])
    assert response["Content-Disposition"].startswith("attachment; filename=")
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response.content.decode().splitlines()[1].startswith('"orders",12345,')


@pytest.mark.parametrize("file", ["result.json", "charts.json", "topics.exe", "x.csv", "..csv"])
def test_only_tables_are_downloaded(cluster, file):
    url = f"{urls_of(a_finished_report(cluster))['page']}/{file}"
    assert client_of("admin").get(url).status_code == 404


@pytest.mark.parametrize(
    "tampered", ["65f477a9-e7fe-472d-b623-06c86bf5cbd4", "1", "../local", "%00"]
)
def test_a_tampered_id_is_not_found(cluster, tampered):
    assert client_of("admin").get(f"/c/local/reports/{tampered}").status_code == 404


def test_cancelling_keeps_the_report_and_deleting_removes_its_files(
    cluster, django_capture_on_commit_callbacks
):
    operator = client_of("operator")
    queued, done = a_report(cluster), a_finished_report(cluster)
    operator.post(reverse("report-cancel", args=["local", queued.id]))
    queued.refresh_from_db()
    assert queued.state == State.CANCELLED
    with django_capture_on_commit_callbacks(execute=True):
        operator.post(reverse("report-delete", args=["local", done.id]))
    assert not (result_files.root() / str(done.id)).exists()
    assert list(Report.objects.all()) == [queued]
    actions = AuditEntry.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["report.cancel", "report.delete"]


def test_cancelling_what_has_finished_says_so(cluster):
    done = a_finished_report(cluster)
    url = reverse("report-cancel", args=["local", done.id])
    page = client_of("operator").post(url, follow=True).content.decode()
    assert "had finished already" in page
    done.refresh_from_db()
    assert done.state == State.DONE


def test_pages_load_charts_from_here_and_run_nothing_inline(cluster):
    response = client_of("viewer").get(urls_of(a_finished_report(cluster))["page"])
    page = response.content.decode()
    assert static("vendor/plotly/plotly-basic.min.js") in page
    assert 'id="plotly.js-style-global" class="no-inline-styles"' in page
    assert " style=" not in page
    assert "default-src 'self'" in response["Content-Security-Policy"]
