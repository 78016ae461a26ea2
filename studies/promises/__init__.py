"""The promises of the statistics, measured on games of agents of known strength; run by `studies/calibration.py`."""
