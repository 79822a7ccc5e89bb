"""Classes: blocks with a dual variable for each label, solved in closed form."""
