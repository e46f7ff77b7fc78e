"""One module for each command of `floe`, imported when the command runs."""
