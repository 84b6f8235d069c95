"""How often each member and each fused answer is right, with the weights of the intervals."""
