"""The small language between the stages, and the errors that every stage raises."""
