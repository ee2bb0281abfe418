"""The programs that the lab runs: found on this machine, downloaded, or built from their Go modules."""
