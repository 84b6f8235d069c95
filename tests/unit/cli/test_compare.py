"""`consilience compare` on a screen."""


def test_compare_fits_a_narrow_screen(run, arrays):
    code, out, _ = run("compare", *arrays, "--labels", "truth.npy")
    assert code == 0 and "…" not in out and max(len(line) for line in out.splitlines()) <= 80
