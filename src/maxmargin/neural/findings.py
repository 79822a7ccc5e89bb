"""What a report shows of sentences that a network has labelled: as of every tagger."""

from maxmargin.tags.findings import FINDINGS as FINDINGS
