"""What a page is made from, for tests that look at its parts."""

from protolearn.report import Story, Subject
from protolearn.report.page.contents import Relevances


def story_of(evidence, model, X, y):
    """Give a story without importances."""
    none = Relevances.none("")
    given = {"title": "", "about": "", "sentences": (), "made": (), "page": (), "use": ""}
    return Story(
        subject=Subject.of(model, X, y),
        evidence=evidence,
        relevances=none,
        begun=0.0,
        row_names=range(len(y)),
        **given,
    )
