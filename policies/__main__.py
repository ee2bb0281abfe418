"""The policy pack of this repository: every rule of the library."""

from pulumi_lws.policies.pack import run

if __name__ == "__main__":
    run()
