"""Where panels come from: a folder of real ones, networks trained here, scikit-learn's members on its own tables."""
