"""What known labels correct in an answer found without them, and how far they may."""
