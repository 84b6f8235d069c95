"""The learned rule: experts, what is known of panel, class and item, and a small network that chooses among them."""
