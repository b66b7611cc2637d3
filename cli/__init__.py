"""The command line of `transformer`, installed as the package `transformer_cli`.

`main` holds the table of commands; each command is one module with `NAME`, `SUMMARY`, `EXAMPLES`,
`add_arguments(parser)` and `run(options)`.
"""
