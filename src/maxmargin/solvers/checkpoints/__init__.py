"""What a fit keeps to go on after a crash, and what of it is believed."""
