"""Devices, what runs on them, and values that lie on several."""
