"""The separation oracle: the most violated output of an example.

For margin rescaling with linear slacks that is one loss-augmented argmax. The other
formulations need argmax_y of a product or a root. Structures that can search it exactly
do so (``argmax_rescaled``); all others go through the plain oracle

    M(lam) = max_y  lam * loss(y) - margin(y)

whose maximum bounds the wanted one for every lam > 0, by the inequality of arithmetic
and geometric means (with u = 1 - margin, L = loss):

    slack, linear       L u            <= (1 + M)^2 / (4 lam)
    slack, quadratic    sqrt(L) u      <= 2 / (3 sqrt 3) (1 + M)^1.5 / sqrt(lam)
    margin, quadratic   sqrt(L) - margin  <= M + 1 / (4 lam)

with equality at one lam that depends on (L, u) alone. Where a smallest positive loss is
known, L is at least that, which lets the bound reach zero. So each call yields a
candidate and an upper bound, and the search stops when they meet. The certificate uses
the bound.
(Sarawagi & Gupta 2008; Choi, Meshi & Srebro 2016 search the same family.)
"""

import functools
import math

import numpy as np

from maxmargin.core.contract import (
    argmax,
    argmax_rescaled,
    least_loss,
    loss,
    margin,
    recall,
    shortfall,
)
from maxmargin.core.formulation import Plain
from maxmargin.core.kernel import generic, implements, inner
from maxmargin.core.rescale import violation
from maxmargin.core.vectors import copy_into

MAX_CALLS = 24


@inner
def most_violated(batch, form, i, theta, y):
    """y <- the most violated output at these scores.

    Returns (upper bound on the violation, loss of y, margin of y, oracle calls).
    """
    return find_violated(form, batch, i, theta, y)


@functools.partial(generic, inline=False)
def find_violated(form, batch, i, theta, y):
    """The same, as the type of the formulation has it: only one search is compiled."""
    if not argmax_rescaled(batch, i, theta, form, y):
        return search_rescaled(batch, form, i, theta, y)
    found = loss(batch, i, y)
    lead = margin(batch, i, theta, y)
    return violation(form, found, lead), found, lead, 1


@implements(find_violated, Plain)
def find_plainly(form, batch, i, theta, y):
    argmax(batch, i, theta, 1.0, y)
    found = loss(batch, i, y)
    lead = margin(batch, i, theta, y)
    return found - lead + shortfall(batch, i), found, lead, 1


@inner
def search_rescaled(batch, form, i, theta, y):
    """The search over lam; see the module. Same results as ``most_violated``.

    As lam grows, M is reached by outputs of greater loss and margin: corners of the hull
    of all (loss, margin). ``low`` is a lam that is too small for the best bound, where
    the corner (left_loss, left_lead) was found, ``high`` one that is too large. The next
    lam is one at which the bound would be tight for the corner just found, or else the
    slope between both corners. If nothing lies beyond that edge, no lam gives a better
    bound.
    """
    size = batch.start[i + 1] - batch.start[i]
    recall(batch, i, theta, form, y)
    best_y = np.empty(size, np.int32)
    copy_into(best_y, 0, y, size)
    best_loss = loss(batch, i, best_y)
    best_lead = margin(batch, i, theta, best_y)
    best = violation(form, best_loss, best_lead)
    bound, least = np.inf, least_loss(batch)
    low, high, lam = 0.0, np.inf, 1.0
    left_loss, left_lead, right_loss, right_lead = 0.0, 0.0, 0.0, 0.0
    calls, edge = 0, False
    while calls < MAX_CALLS:
        argmax(batch, i, theta, lam, y)
        calls += 1
        found = loss(batch, i, y)
        lead = margin(batch, i, theta, y)
        top = max(lam * found - lead + shortfall(batch, i), 0.0)
        bound = min(bound, upper_bound(form, lam, top, least))
        v = violation(form, found, lead)
        if v > best:
            best, best_loss, best_lead = v, found, lead
            copy_into(best_y, 0, y, size)
        if bound - best <= form.search_tol * max(bound, 1e-3):
            break
        if best == 0.0 and found == 0.0 and least > 0.0 and lam < 1e6:
            low, left_loss, left_lead = lam, found, lead
            lam = max(2.0 * lam, 1.0 / least)  # satisfied, it seems: prove it
            continue
        beyond = lam * left_loss - left_lead
        if edge and top <= beyond + 1e-12 * (1.0 + abs(beyond)):
            break
        tight = tight_scale(form, found, lead)
        if tight > lam:
            low, left_loss, left_lead = lam, found, lead
        else:
            high, right_loss, right_lead = lam, found, lead
        edge = False
        if low < tight < high:
            lam = tight
        elif high == np.inf:
            lam = 4.0 * lam
        elif low == 0.0:
            lam = 0.25 * lam
        else:
            slope = (right_lead - left_lead) / max(right_loss - left_loss, 1e-300)
            edge = low < slope < high
            lam = slope if edge else math.sqrt(low * high)
        if high < np.inf and high - low <= 1e-12 * high:
            break
    copy_into(y, 0, best_y, size)
    return max(bound, best), best_loss, best_lead, calls


@inner
def upper_bound(form, lam, m, least):
    """The largest c - r margin of an output with lam * loss - margin <= m."""
    if not form.slack:
        peak = max(0.25 / lam**2, least)  # sqrt(L) - lam L falls from its peak on
        return m + max(math.sqrt(peak) - lam * peak, 0.0)
    power = 3.0 if form.quadratic else 2.0
    peak = max((1.0 + m) / (power * lam), least)
    c = math.sqrt(peak) if form.quadratic else peak
    return max(c * (1.0 + m - lam * peak), 0.0)


@inner
def tight_scale(form, found, lead):
    if found <= 0.0:
        return np.inf  # nothing wrong was found: weigh the loss more
    if not form.slack:
        return 0.5 / math.sqrt(found)
    u = max(1.0 - lead, 0.0)
    return u / (2.0 * found) if form.quadratic else u / found
