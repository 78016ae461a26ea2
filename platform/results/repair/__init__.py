"""Looking into stores that may be damaged, and repairing them: `turnier doctor`."""
