"""What the lab says when it cannot go on."""


class LabError(Exception):
    """A failure that the person at the keyboard can act on.

    Args:
        sentence: What happened, in one sentence without a full stop at the end of a path.
        way_out: What to do about it, as an imperative sentence.
        detail: Lines that help to find the cause, such as the end of a log; shown below, never parsed.
    """

    def __init__(self, sentence: str, way_out: str, detail: str = "") -> None:
        super().__init__(f"{sentence} {way_out}")
        self.sentence = sentence
        self.way_out = way_out
        self.detail = detail
