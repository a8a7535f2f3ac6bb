"""The loss of a model with a large vocabulary, computed a few rows at a time.

With 16,000 pieces and a width of 256 a third of all arithmetic is the product with the
embeddings, and the scores take far more memory than anything else. TiedSoftmax computes
scores, loss and both gradients for a chunk of rows before it goes on to the next, so
that scores never leave the cache. With `sampled` it also compares the right piece with some
of the others only: with all that are right anywhere in the batch, and with as many more,
each of which stands for those that were not drawn.
"""
import math

import torch

ROWS = {"cpu": 128, "cuda": 4096}


class TiedSoftmax:
    """Cross entropy over the rows of an embedding, with label smoothing."""

    def __init__(self, smoothing=0.1, sampled=0, precision=torch.bfloat16):
        """precision: the type of what is multiplied."""
        self.smoothing, self.sampled, self.precision = smoothing, sampled, precision

    def __call__(self, x, embedding, labels):
        """x: [n, width]; labels: [n]. Returns the mean loss and, without a gradient, the
        mean negative log-likelihood."""
        offset = None
        if self.sampled:
            rows, labels, offset = self._sample(embedding.shape[0], labels)
            embedding = embedding[rows]
        return _Fused.apply(x, embedding, labels, offset, self.smoothing, ROWS[x.device.type], self.precision)

    def _sample(self, size, labels):
        """Rows of the embedding, labels as numbers of these, and what to add to each score."""
        there = torch.zeros(size, dtype=torch.bool, device=labels.device)
        there[labels] = True
        right = there.nonzero()[:, 0]
        others = (~there).nonzero()[:, 0]
        drawn = others[torch.randperm(len(others), device=labels.device)[:self.sampled]]
        rows = torch.cat([right, drawn])
        number = torch.zeros(size, dtype=torch.long, device=labels.device)
        number[right] = torch.arange(len(right), device=labels.device)
        offset = torch.zeros(len(rows), device=labels.device)
        offset[len(right):] = math.log(max(len(others), 1) / max(len(drawn), 1))
        return rows, number[labels], offset


class _Fused(torch.autograd.Function):
    """Computes gradients with the loss. The backward pass only scales them."""

    @staticmethod
    def forward(ctx, x, embedding, labels, offset, smoothing, rows, precision):
        n, size = x.shape[0], embedding.shape[0]
        low_x, low_e = x.detach().to(precision), embedding.detach().to(precision)
        dx = torch.empty_like(low_x)
        de = torch.zeros(embedding.shape, dtype=torch.float32, device=x.device)
        loss, likelihood = torch.zeros((), device=x.device), torch.zeros((), device=x.device)
        for start in range(0, n, rows):
            part, right = low_x[start:start + rows], labels[start:start + rows, None]
            scores = (part @ low_e.T).float()
            mean = scores.mean(1)
            if offset is not None:
                scores += offset
            total = scores.logsumexp(1)
            chosen = scores.gather(1, right)[:, 0]
            likelihood += (total - chosen).sum()
            loss += (total - (1 - smoothing) * chosen - smoothing * mean).sum()
            scores.sub_(total[:, None]).exp_().sub_(smoothing / size)
            scores.scatter_add_(1, right, torch.full_like(right, -(1 - smoothing), dtype=scores.dtype))
            d = scores.to(precision)
            dx[start:start + rows] = d @ low_e
            de += d.T @ part
        ctx.save_for_backward(dx, de)
        ctx.scale, ctx.types = 1 / n, (x.dtype, embedding.dtype)
        ctx.mark_non_differentiable(likelihood)
        return loss / n, likelihood / n

    @staticmethod
    def backward(ctx, upstream, _):
        dx, de = ctx.saved_tensors
        factor = upstream * ctx.scale
        return dx.to(ctx.types[0]) * factor, (de * factor).to(ctx.types[1]), None, None, None, None, None
