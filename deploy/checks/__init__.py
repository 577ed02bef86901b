"""What validate.py checks. Every check returns its faults as a list of plain words."""
