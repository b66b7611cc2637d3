"""The nest form for GPUs: kernels, and a driver that launches them one after the other.

    y = x * 2                  y = cp.empty(n, np.float32)
                               fill_y[blocks(n), THREADS](n, x, y)

`placing` says which numbers are known to the driver and which only on the device, `shares` who does what in a kernel,
`launches` cuts a function into kernels; `kernels`, `driver` and `module` print.
"""
