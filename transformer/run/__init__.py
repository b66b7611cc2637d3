"""Running generated functions: argument signatures, dispatch, files of generated source."""
