"""The policy pack in which warnings block too."""

from pulumi_lws.policies.pack import run

if __name__ == "__main__":
    run("strict")
