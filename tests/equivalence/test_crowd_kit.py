"""The same numbers as crowd-kit's, where it is installed and both mean the same."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs

from simulate import diagonal_confusion, labels_from_confusion

crowdkit = pytest.importorskip("crowdkit.aggregation")

pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning", "ignore:.*inplace:Warning")  # their pandas

CLIPPED = 1e-6
"""crowd-kit lifts zero rates and probabilities to 1e-10 where we keep them; this is far above what that moves."""


@pytest.fixture(scope="module", params=["drawn", "rte", "bluebird"])
def frame(request, shared):
    if request.param == "drawn":
        return drawn_crowd()
    data = shared("crowd.npz")
    columns = {"task": "item", "worker": "worker", "label": "label"}
    return pd.DataFrame({name: data[f"{request.param}/{column}"].astype(int) for name, column in columns.items()})


def drawn_crowd(n_workers=20, n_tasks=120):
    """Workers of whom each answers half of the tasks."""
    rng = np.random.default_rng(0)
    confusion = diagonal_confusion(rng.uniform(0.4, 0.95, size=n_workers), 3)
    labels, _ = labels_from_confusion(rng, confusion, [0.5, 0.3, 0.2], n_tasks)
    worker, task = np.nonzero(rng.random(labels.shape) < 0.5)
    return pd.DataFrame({"task": task, "worker": worker, "label": labels[worker, task]})


def theirs_after(n_iter, frame):
    return crowdkit.DawidSkene(n_iter=n_iter, tol=-np.inf).fit(frame)


def ours_after(n_iter, frame):
    return cs.DawidSkene(smoothing=0, max_iter=n_iter, tol=None).fit(cs.Predictions.from_frame(frame))


@pytest.mark.parametrize("n_iter", [1, 5, 20])
def test_posterior_after_equally_many_iterations(frame, n_iter):
    theirs, ours = theirs_after(n_iter, frame), ours_after(n_iter, frame).posterior_frame()
    assert (ours.index.name, ours.columns.name) == (theirs.probas_.index.name, theirs.probas_.columns.name)
    pd.testing.assert_frame_equal(
        theirs.probas_.sort_index().sort_index(axis=1), ours, rtol=0, atol=CLIPPED, check_dtype=False
    )


def test_their_error_matrices_come_from_the_last_posterior_ours_gave_the_last_one(frame):
    """Their iteration ends with an M step, ours with an E step: ours after six are theirs after five."""
    theirs, ours = theirs_after(5, frame), ours_after(6, frame)
    errors = ours.confusion_frame(orientation="observed_by_true")
    assert errors.index.names == theirs.errors_.index.names
    same = errors.loc[theirs.errors_.index, theirs.errors_.columns]  # they list the labels that a worker used
    np.testing.assert_allclose(same, theirs.errors_, atol=CLIPPED)
    np.testing.assert_allclose(ours.class_prior_, theirs.priors_.loc[ours.classes_], atol=CLIPPED)
    fewer = ours_after(5, frame).confusion_frame(orientation="observed_by_true")
    assert np.abs(fewer.loc[same.index, same.columns] - theirs.errors_).to_numpy().max() > 100 * CLIPPED


def test_their_loss_counts_the_prior_once_per_answer(frame):
    """Known of crowd-kit 1.4: it moves their stopping rule, not their E and M steps; ours is the likelihood."""
    theirs = theirs_after(20, frame)
    posterior, prior = theirs.probas_, np.log(theirs.priors_)
    rates = frame.join(np.log(theirs.errors_), on=["worker", "label"])[posterior.columns]
    answers = (posterior.loc[frame.task].to_numpy() * rates.to_numpy()).sum()
    entropy = -(posterior * np.log(posterior)).to_numpy().sum()
    per_answer = (posterior.loc[frame.task] * prior).to_numpy().sum()
    per_item = (posterior * prior).to_numpy().sum()
    assert theirs.loss_history_[-1] * len(frame) == pytest.approx(answers + per_answer + entropy, rel=1e-6)
    assert ours_after(20, frame).history_[-1] == pytest.approx(answers + per_item + entropy, rel=1e-6)


def test_majority_vote(frame):
    theirs = crowdkit.MajorityVote().fit_predict_proba(frame).sort_index().sort_index(axis=1)
    ours = cs.MajorityVote().fit(cs.Predictions.from_frame(frame)).posterior_frame()
    pd.testing.assert_frame_equal(theirs, ours, atol=1e-12, check_dtype=False)


def test_the_start_of_the_papers_soft_dawid_skene():
    """ "One iteration of DS": with a learning rate of 0 the concentrations stay where they start."""
    logits = np.random.default_rng(0).normal(size=(3, 400, 4)) * 2
    array = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    labels = array.argmax(axis=2)
    worker, task = np.indices(labels.shape)
    frame = pd.DataFrame({"task": task.ravel(), "worker": worker.ravel(), "label": labels.ravel()})
    theirs = crowdkit.DawidSkene(n_iter=1).fit(frame)
    ours = cs.SoftDawidSkene.paper("mnist").set_params(learning_rate=0, weight_decay=0, max_iter=1).fit(array)
    for member in range(3):
        errors = theirs.errors_.loc[member].sort_index().sort_index(axis=1).to_numpy().T
        np.testing.assert_allclose(ours.concentration_[member], np.maximum(errors, 1e-10), rtol=1e-12)


def test_dawid_skene_as_the_paper_ran_it():
    """With their floor and their rule to stop."""
    pytest.importorskip("torch")
    from paper.crowd_kit import CrowdKitDawidSkene

    logits = np.random.default_rng(1).normal(size=(3, 300, 4)) * 2
    logits[:, np.arange(300), np.arange(300) % 4] += 2
    array = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    worker, task = np.indices(array.shape[:2])
    labels = array.argmax(axis=2).ravel()
    frame = pd.DataFrame({"task": task.ravel(), "worker": worker.ravel(), "label": labels})
    theirs = crowdkit.DawidSkene().fit(frame).probas_.sort_index().sort_index(axis=1).to_numpy()
    np.testing.assert_allclose(CrowdKitDawidSkene().fit(cs.Predictions(array)).posterior_, theirs, atol=1e-9)
