import multiprocessing
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import consilience as cs
from consilience.system.machine import in_order, one_thread_per_product

from simulate import softmax_members


@pytest.mark.parametrize("workers", [0, 1, 2, 5])
def test_results_come_in_order(workers):
    def slow_first(number):
        time.sleep(0.01 if number % 3 == 0 else 0)
        return number**2

    assert list(in_order(slow_first, range(20), workers)) == [number**2 for number in range(20)]


def test_few_results_are_ahead():
    started = []
    results = in_order(started.append, range(100), 2)
    next(results)
    time.sleep(0.05)
    assert len(started) <= 5
    results.close()


def test_errors_come_through():
    with pytest.raises(ZeroDivisionError):
        list(in_order(lambda number: 1 / (number - 3), range(9), 2))


def test_products_stay_on_their_thread_for_a_while():
    from threadpoolctl import threadpool_info

    with one_thread_per_product():
        assert {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} == {1}


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux alone binds processes to cores")
def test_there_are_as_many_threads_as_cores_that_may_be_used():
    script = (
        "import os; from consilience.system.machine import n_threads; before = n_threads(); "
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); print(before, n_threads())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(len(os.sched_getaffinity(0))), "1"]


def test_several_threads_inside_leave_the_limit_as_it_was():
    from threadpoolctl import threadpool_info

    def limits():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    array, _ = softmax_members(np.random.default_rng(0), [3, 2], n_items=200, n_classes=5)
    model, before = cs.SoftDawidSkene(max_iter=2).fit(array), limits()
    expected = model.predict_proba(array)
    with ThreadPoolExecutor(4) as pool:
        for posterior in pool.map(lambda _: model.predict_proba(array), range(40)):
            np.testing.assert_array_equal(posterior, expected)
    assert limits() == before


def test_any_number_of_threads_gives_the_same_bits(monkeypatch):
    array, _ = softmax_members(np.random.default_rng(0), [3, 2], n_items=400, n_classes=70)
    fits = []
    for number in (1, 3):
        monkeypatch.setattr("consilience.passes.reader.n_threads", lambda number=number: number)
        fits.append(cs.SoftDawidSkene(max_iter=4, averaging=0.1, chunk_size=50).fit(array))
    np.testing.assert_array_equal(fits[0].posterior_, fits[1].posterior_)


def _fit(array):
    return cs.SoftDawidSkene(max_iter=2, chunk_size=20).fit(array).posterior_


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_makes_its_own_threads():
    array, _ = softmax_members(np.random.default_rng(0), [3, 2], n_items=100, n_classes=3)
    expected = _fit(array)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        np.testing.assert_array_equal(pool.apply_async(_fit, (array,)).get(timeout=60), expected)
