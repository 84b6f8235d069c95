"""What `write_posterior` writes, without an analysis."""

import numpy as np

from consilience.files import write_posterior
from consilience.system.tables import Table


def write_fitted(path, model, items=None, is_known=None):
    """Write the posterior of a fit, as if two members had given each answer."""
    rows = np.asarray(model.posterior_)
    answers = {
        "item": model.items_ if items is None else items,
        "answer": [model.classes_[place] for place in rows.argmax(axis=1)],
        "confidence": rows.max(axis=1).tolist(),
        "n_answers": [2] * len(rows),
        "agreement": [1.0] * len(rows),
        "review": ["", "unsure"] * (len(rows) // 2) + [""] * (len(rows) % 2),
    }
    write_posterior(path, model, rows, Table(answers), is_known)
