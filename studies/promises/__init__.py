"""What the statistics promise, measured on games of agents whose truth is known; run by `studies/calibration.py`."""
