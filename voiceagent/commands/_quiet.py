"""What libraries may write to the terminal."""

import logging
import sys


def be_quiet(*, warnings: bool = False) -> None:
    """Keeps libraries' logs off the terminal, from their first import on; call it before that.

    With ``warnings`` whatever went wrong still shows, for a program that nobody sits in front of.
    """
    from loguru import logger

    logger.remove()
    if warnings:
        logger.add(sys.stderr, level="WARNING")
    else:
        logging.disable(logging.WARNING)
