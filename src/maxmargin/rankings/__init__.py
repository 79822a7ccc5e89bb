"""Rankings: the documents of a query, the relevant ones first."""

from maxmargin.families import Family, lazily

FAMILY = Family(
    __name__,
    public={"TopKRanker": "estimator"},
    models=("TopKRanker.v1",),
    commands={"rank": "command"},
    warmups={"rank": "warmup"},
    files={"read_letor": "files", "write_letor": "files", "write_scores": "files"},
    metrics={
        name: "metrics"
        for name in (
            "RankingReport",
            "ranking_scores",
            "precision_at_k",
            "mean_average_precision",
            "ndcg_at_k",
            "mean_reciprocal_rank",
            "pairs_in_order",
        )
    },
    plots={"plot_ranking_curves": "plots"},
    scorers={
        "mean_average_precision": "scorers",
        "mean_reciprocal_rank": "scorers",
        "ndcg_at": "scorers",
        "ndcg_at_10": "scorers",
        "precision_at": "scorers",
        "precision_at_10": "scorers",
    },
    views={"ranking": "view"},
    explains={"TopKRanker": "explaining"},
    reports={"TopKRanker": "findings"},
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
