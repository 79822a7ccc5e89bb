"""The command line: one ``train``, ``predict``, ``evaluate`` and ``inspect`` for all tasks.

`main.py` has the parser, and is where errors become sentences. What a task is, such as
``tag``, its family says in a :class:`maxmargin.cli.task.Task`: estimators and options. How
its files are read and written, its report and pictures are in a
:class:`maxmargin.cli.command.Command`. The options of ``maxmargin train TASK``
are the parameters of the estimator (`options.py`), and what the library says of parameters
is said of options instead (`language.py`).

Functions that run a command return the exit code. Bad input is a ValueError or OSError
with one sentence. Modules here, and tasks, import nothing heavy at the top: ``--help`` must
be quick.
"""
