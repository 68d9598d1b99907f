"""Restore signals that tests send, also if the tests run in the background."""

import signal

DEFAULTS = {signal.SIGINT: signal.default_int_handler, signal.SIGQUIT: signal.SIG_DFL, signal.SIGHUP: signal.SIG_DFL}


def heed_signals() -> None:
    """Undo that a shell (in the background) and `nohup` make programs ignore Ctrl-C and hang-ups.

    Programs started by tests would inherit this, and tests of signals would hang or fail.
    """
    for number, handler in DEFAULTS.items():
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)
