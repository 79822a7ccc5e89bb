"""A page for every task, made once: two models side by side on toy files."""

import pytest
import report_cases


@pytest.fixture(scope="session")
def page_of(tmp_path_factory):
    """task -> the path of its page."""
    folder = tmp_path_factory.mktemp("reports")
    (folder / "sizes_report.py").write_text(report_cases.STRUCTURE)
    made = {}

    def page(task):
        if task not in made:
            with pytest.MonkeyPatch.context() as patch:
                patch.syspath_prepend(folder)
                names = [f"{task}.model", f"{task}-other.model"]
                report_cases.train(task, folder, names[0])
                report_cases.train(task, folder, names[1], "--C", "0.02")
                other = str(folder / names[1])
                made[task] = report_cases.report(
                    task, folder, names[0], "--against", other
                )
        return made[task]

    return page
