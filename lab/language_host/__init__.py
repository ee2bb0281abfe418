"""The Python language host: what the Pulumi engine asks to run Python programs and policy packs.

Pulumi ships an official one with its installer, but no package registry serves it. This one speaks the same protocol,
so that an ordinary project runs unmodified with an engine that was built from its Go module.

The engine starts the host; the host starts one child process per program, policy pack or provider. ``server`` answers
the engine, ``interpreter`` finds the project's Python, ``children`` starts and ends processes, ``policies`` stands
between the engine and a policy pack, ``pcl`` and ``generate`` write imported resources as Python. Three files run in
the children, with nothing but the standard library and ``pulumi`` at hand: ``child`` (the first code of every child),
``program`` (one Pulumi program) and ``inventory`` (what is installed).
"""
