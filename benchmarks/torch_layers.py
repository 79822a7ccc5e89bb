"""Chains behind a network: maxmargin.torch beside pytorch-crf, torch-struct, and PyTorch.

    python benchmarks/torch_layers.py [--quick] [--repeat N]

Milliseconds of CPU for a loss of 64 sequences, forward and backward, on one core, and for
decoding. "batched" is the textbook's forward-backward as products of matrices over the
batch, with gradients by formula, in operations of PyTorch alone. All loss the same numbers,
which is checked; all take turns, so that a busy machine disturbs them alike. torch-struct
sums and no more (log Z), and takes seconds where labels are many: it is left out there.

Where there is a GPU, the same is measured there, in milliseconds of the clock, with the
memory that was taken at most.
"""

from __future__ import annotations

import argparse
import importlib.util
import time

from common import Targets, machine, need_package, start, table

SIZES = ((50, 9), (50, 50), (50, 200), (500, 9), (500, 50))  # tokens, labels
ON_GPU = ((64, 50, 9), (256, 50, 50), (256, 500, 9), (256, 500, 50))
SEQUENCES = 64
FASTER = 5.0  # than pytorch-crf
POTENTIALS = 4e6  # numbers of torch-struct, which takes seconds beyond
COLUMNS = ["tokens", "labels", "what", "ms", "ratio to ours", "peak MB"]


def main() -> int:
    need_package("PyTorch", "torch")
    need_package("pytorch-crf", "torchcrf")
    import torch

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the smallest size")
    parser.add_argument("--repeat", type=int, default=15)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"Losses of chains as layers of PyTorch {torch.__version__}")
    print(machine())
    targets = Targets()
    rows = []
    for size in SIZES[:1] if options.quick else SIZES:
        rows += measured(SEQUENCES, *size, "cpu", options.repeat, targets)
    table(COLUMNS, rows)
    if torch.cuda.is_available():
        rows = []
        for size in ON_GPU[:1] if options.quick else ON_GPU:
            rows += measured(*size, "cuda", options.repeat, None)
        print(f"\n{torch.cuda.get_device_name()}: milliseconds of the clock")
        table(COLUMNS, rows)
    else:
        print("\nNo GPU here: its rows are left out.")
    targets.show()
    return 0


def measured(batch: int, tokens: int, labels: int, device: str, repeat: int, targets):
    """The rows of one size."""
    calls, losses = losses_of(batch, tokens, labels, device)
    values = {name: float(loss().detach()) for name, loss in losses.items()}
    ours = values["maxmargin, log"]
    for name in ("pytorch-crf", "batched"):
        assert abs(values[name] - ours) < 1e-4 * abs(ours), values
    seconds, peaks = in_turns(calls, repeat, device)
    rows = []
    for name in calls:
        mine = "maxmargin, decode" if "decode" in name else "maxmargin, log"
        ratio = seconds[name] / seconds[mine]
        rows.append([tokens, labels, name, 1e3 * seconds[name], ratio, peaks[name]])
    if targets is not None:
        what = f"{tokens} tokens, {labels} labels:"
        faster = seconds["pytorch-crf"] / seconds["maxmargin, log"]
        targets.at_least(f"{what} pytorch-crf / ours", faster, FASTER)
        faster = seconds["pytorch-crf, decode"] / seconds["maxmargin, decode"]
        targets.at_least(f"{what} decoding, pytorch-crf / ours", faster, FASTER)
        slower = seconds["maxmargin, log"] / seconds["batched"]
        targets.at_most(f"{what} ours / batched", slower, 1.0)
    return rows


def losses_of(batch: int, tokens: int, labels: int, device: str) -> tuple[dict, dict]:
    """({name: a step or a decoding}, {name: a loss})."""
    import torch
    from torchcrf import CRF

    from maxmargin.torch import Chain

    torch.manual_seed(0)
    scores = torch.randn(batch, tokens, labels, device=device).requires_grad_()
    truth = torch.randint(labels, (batch, tokens), device=device)
    lengths = [tokens] * batch
    chain = Chain(labels).to(device)
    crf = CRF(labels, batch_first=True).to(device)
    with torch.no_grad():
        crf.transitions.copy_(chain.transitions)
        crf.start_transitions.copy_(chain.first)
        crf.end_transitions.copy_(chain.last)
    batched = batched_loss()
    losses = {
        "maxmargin, log": lambda: chain.log_loss(scores, truth, lengths).sum(),
        "maxmargin, hinge": lambda: chain.hinge(scores, truth, lengths).sum(),
        "batched": lambda: batched(
            scores, truth, chain.transitions, chain.first, chain.last
        ),
        "pytorch-crf": lambda: -crf(scores, truth, reduction="sum"),
    }
    if (
        importlib.util.find_spec("torch_struct")
        and batch * tokens * labels**2 <= POTENTIALS
    ):
        losses["torch-struct, log Z"] = lambda: struct_partition(scores, chain)

    def step(loss):
        def call():
            scores.grad = None
            chain.zero_grad()
            crf.zero_grad()
            loss().backward()

        return call

    calls = {name: step(loss) for name, loss in losses.items()}
    calls["maxmargin, decode"] = lambda: chain.decode(scores, lengths)
    calls["pytorch-crf, decode"] = lambda: crf.decode(scores)
    return calls, losses


def struct_partition(scores, chain):
    import torch
    from torch_struct import LinearChainCRF

    # potentials are (sequences, tokens - 1, label, label before)
    potentials = chain.transitions.T + scores[:, 1:, :, None]
    first = (chain.first + scores[:, 0])[:, None, None, :]
    potentials = torch.cat([potentials[:, :1] + first, potentials[:, 1:]], 1)
    return LinearChainCRF(potentials).partition.sum()


def batched_loss():
    """The loss in probability space, each token a product of matrices over the batch."""
    import torch

    class LogZ(torch.autograd.Function):
        @staticmethod
        def forward(ctx, scores, transitions, first, last):
            rows = scores.transpose(0, 1)
            top = rows.amax(2, keepdim=True)
            token = torch.exp(rows - top)
            peak = transitions.max()
            step, ends = torch.exp(transitions - peak), torch.exp(last)
            before = torch.empty_like(token)
            after = torch.empty_like(token)
            sizes = token.new_empty(len(token), token.shape[1], 1)
            now = torch.exp(first) * token[0]
            for t in range(len(token)):
                now = now if t == 0 else (now @ step) * token[t]
                sizes[t] = now.sum(1, keepdim=True)
                now = now / sizes[t]
                before[t] = now
            whole = now @ ends
            log_z = whole.log() + (sizes.log() + top).sum((0, 2))
            now = (ends / whole[:, None]).expand_as(now)
            after[-1] = now
            back = step.T.contiguous()
            for t in range(len(token) - 1, 0, -1):
                now = (now * token[t] / sizes[t]) @ back
                after[t - 1] = now
            ctx.save_for_backward(before, after, token, sizes, step)
            return log_z + (len(token) - 1) * peak

        @staticmethod
        def backward(ctx, g):
            before, after, token, sizes, step = ctx.saved_tensors
            mu = before * after * g[None, :, None]
            ahead = token[1:] * after[1:] / sizes[1:] * g[None, :, None]
            left = before[:-1].reshape(-1, len(step))
            pairs = step * (left.T @ ahead.reshape(-1, len(step)))
            return mu.transpose(0, 1), pairs, mu[0].sum(0), mu[-1].sum(0)

    def loss(scores, truth, transitions, first, last):
        own = scores.gather(2, truth[:, :, None]).sum()
        own = own + transitions[truth[:, :-1], truth[:, 1:]].sum()
        own = own + first[truth[:, 0]].sum() + last[truth[:, -1]].sum()
        return LogZ.apply(scores, transitions, first, last).sum() - own

    return loss


def in_turns(calls: dict, repeat: int, device: str) -> tuple[dict, dict]:
    """({name: median seconds}, {name: peak MB or None}); all in turns, by threes."""
    import torch

    on_gpu = device == "cuda"
    clock = time.perf_counter if on_gpu else time.process_time
    taken: dict = {name: [] for name in calls}
    peaks: dict = {}
    for turn in range(repeat + 2):
        for name, call in calls.items():
            if on_gpu:
                torch.cuda.reset_peak_memory_stats()
                torch.cuda.synchronize()
            for _ in range(2):  # pay for what the last peer has left of the memory
                call()
            begun = clock()
            call()
            if on_gpu:
                torch.cuda.synchronize()
            if turn > 1:
                taken[name].append(clock() - begun)
            peaks[name] = torch.cuda.max_memory_allocated() / 2**20 if on_gpu else None
    return {name: sorted(t)[len(t) // 2] for name, t in taken.items()}, peaks


if __name__ == "__main__":
    start(main)
