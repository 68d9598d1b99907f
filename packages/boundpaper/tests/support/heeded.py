"""Signals that tests send, heeded also where the tests run in the background."""

import signal

DEFAULTS = {signal.SIGINT: signal.default_int_handler, signal.SIGQUIT: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}


def heed_signals() -> None:
    """Undo what a shell does to programs in the background, and `nohup` to any: they ignore Ctrl-C and hang-ups.

    Programs that tests start would inherit it, and tests of signals would wait for ever, or fail.
    """
    for number, handler in DEFAULTS.items():
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)
