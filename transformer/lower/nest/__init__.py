"""The nest form, and what is known of it: places, dependences, lifetimes."""
