"""What is raised when a cluster is lost: named where nothing heavy is imported yet."""


class EngineLost(RuntimeError):
    """A cluster went away; a fit ends with the best model so far."""
