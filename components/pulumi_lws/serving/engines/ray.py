"""Ray below vLLM: what a container runs so that a cluster of the whole group stands before vLLM starts."""

from pulumi_lws.serving.engines.engine import Launch

RENDEZVOUS_PORT = 6379
"""Port of Ray's head, where the other nodes join."""

# The trap is for PID 1, which the kernel spares from signals that it does not handle; all else ends with it. Ray's
# dashboard stays off, since whoever reaches it runs what they like (CVE-2023-48022).
_LEADER = f"""\
trap 'exit 143' TERM INT
ray start --head --port={RENDEZVOUS_PORT} --node-ip-address="$VLLM_HOST_IP" --include-dashboard=false \\
    --disable-usage-stats
python3 -c "$1" "$2" "$3" &
wait "$!"
trap - TERM INT
shift 3
exec "$@"
"""

_WORKER = f"""\
trap 'exit 143' TERM INT
python3 -c "$1" "$LWS_LEADER_ADDRESS" {RENDEZVOUS_PORT} "$2" &
wait "$!"
trap - TERM INT
exec ray start --block --address="$LWS_LEADER_ADDRESS:{RENDEZVOUS_PORT}" --node-ip-address="$VLLM_HOST_IP" \\
    --disable-usage-stats
"""

_WAIT_FOR_NODES = """\
import sys, time, ray
wanted, budget = int(sys.argv[1]), float(sys.argv[2])
end = time.monotonic() + budget
ray.init(address="auto", log_to_driver=False)
while (alive := sum(node["Alive"] for node in ray.nodes())) < wanted:
    if time.monotonic() > end:
        sys.exit(f"{alive} of {wanted} nodes joined Ray within {budget:.0f} s")
    time.sleep(2)
"""

_WAIT_FOR_HEAD = """\
import socket, sys, time
host, port, budget = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
end = time.monotonic() + budget
while True:
    try:
        socket.create_connection((host, port), 5).close()
        break
    except OSError as error:
        if time.monotonic() > end:
            sys.exit(f"Ray's head at {host}:{port} did not answer within {budget:.0f} s: {error}")
    time.sleep(2)
"""


def leader_command(serve: tuple[str, ...], launch: Launch) -> tuple[str, ...]:
    """Return what the leader runs: Ray's head, a wait for every node within the start budget, then ``serve``."""
    size, budget = str(launch.shape.size), str(launch.timeouts.distributed)
    return ("sh", "-euc", _LEADER, "ray-leader", _WAIT_FOR_NODES, size, budget, *serve)


def worker_command(launch: Launch) -> tuple[str, ...]:
    """Return what a worker runs: a wait for Ray's head within the start budget, then a node of Ray until that ends."""
    return ("sh", "-euc", _WORKER, "ray-worker", _WAIT_FOR_HEAD, str(launch.timeouts.distributed))
