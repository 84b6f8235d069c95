"""How a combiner of answers is learned from many panels whose truth is known; `README.md` says how far it is."""
