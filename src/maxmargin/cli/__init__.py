"""The command line: ``maxmargin train``, ``predict``, ``evaluate`` and ``inspect``.

`main.py` has the parser and what is done about errors. A task, such as `tag.py`, is one
module, named in `main.TASKS`, with the functions

    add_train_options(parser)    options of ``maxmargin train TASK``
    train(args)                  from a file to a model file
    predict(model, args)         these three are chosen by the task that the
    evaluate(model, args)        model notes (``model.notes["task"]``)
    inspect(model, args)
    USES                         {command: names of the options it understands}

The functions return the exit code. Bad input is a ValueError or OSError with one sentence.
Modules here import nothing heavy at the top: ``--help`` must be quick.
"""
