"""Which of many sequences is related to a given one."""
