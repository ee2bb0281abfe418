"""AWS and EKS without an account: Pulumi's providers ``aws`` and ``eks`` as stand-ins, for programs on the real engine.

What a program may write comes from the installed SDKs (`tables`), so that a misspelt, missing or mistyped property is
refused for each of their resource types. What AWS and the real provider enforce beyond that stands in `kinds`, one
entry for each type that EKS environments use, with its source: names and their forms, references, duplicates, what
blocks a deletion, what replaces.

The objects live in one JSON file per account. ``moto`` (5.2) was tried as the state behind it and left out: it has no
access entries, add-ons, pod identity associations, capacity reservations or placement groups, accepts an EKS cluster on
subnets and a role that do not exist and the deletion of a subnet under it, would still need a translation of each
resource into API calls, takes 240 MB and 3 seconds to load, and cannot be installed beside this project's pins.
"""
