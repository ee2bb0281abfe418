from pulumi_lws.planning.parallelism import Parallelism
from pulumi_lws.planning.problems import Problem
from pulumi_lws.serving.engines.catalogue import engine_of
from pulumi_lws.serving.engines.engine import Behaviour
from pulumi_lws.serving.engines.settings import CustomEngine
from pulumi_lws.serving.readiness import leader_command
from pulumi_lws.serving.timeouts import derive
from tests.serving.engines.launches import launch

TENSORRT_LLM = CustomEngine(
    kind="custom",
    leader_command=(
        *("mpirun", "--allow-run-as-root", "--hostfile", "/etc/mpi/hosts", "-n", "16"),
        *("trtllm-llmapi-launch", "trtllm-serve", "/models", "--tp_size", "8", "--pp_size", "2", "--port", "8000"),
    ),
    worker_command=("/usr/sbin/sshd", "-D", "-p", "2222"),
    rendezvous_port=2222,
    startup="workers_first",
)
"""The leader starts ranks on its workers over SSH, so their servers must answer first."""

LLAMA_CPP = CustomEngine(
    kind="custom",
    leader_command=(
        *("sh", "-euc"),
        (
            "exec llama-server --host 0.0.0.0 --port 8080 -m /models/model.gguf"
            ' --rpc "${LWS_LEADER_ADDRESS%%.*}-1.${LWS_LEADER_ADDRESS#*.}:50052"'
        ),
    ),
    worker_command=("rpc-server", "--host", "0.0.0.0", "--port", "50052"),  # noqa: S104 - compared, not bound
    api_port=8080,
    rendezvous_port=50052,
    startup="workers_first",
)

LEADER_FIRST = CustomEngine(
    kind="custom", leader_command=("serve",), worker_command=("join", "$(LWS_LEADER_ADDRESS)"), rendezvous_port=7000
)


def test_commands_are_the_users_with_their_own_arguments_behind() -> None:
    engine = engine_of(LEADER_FIRST)
    told = launch(extra_arguments=("--verbose",), has_efa=False)
    assert engine.leader(told).command == ("serve", "--verbose")
    assert engine.worker(told).command == ("join", "$(LWS_LEADER_ADDRESS)", "--verbose")
    assert set(engine.leader(told).environment) == {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "NCCL_NVLS_ENABLE"}


def test_what_readiness_must_know_is_what_the_user_says() -> None:
    settings = LLAMA_CPP.model_copy(update={"health_path": "/v1/health", "serves": "every_pod", "has_python": False})
    assert engine_of(settings).behaviour(launch()) == Behaviour(
        serves="every_pod",
        startup="workers_first",
        rendezvous_port=50052,
        ports={"http": 8080},
        health_port=8080,
        health_path="/v1/health",
        runs_probe=False,
        engine_ports={"http": (8080, 0), "rendezvous": (50052, 0)},
    )
    assert engine_of(settings).behaviour(launch(Parallelism(tensor=8))).rendezvous_port is None


def test_a_leader_whose_workers_come_first_waits_for_their_ports() -> None:
    for settings, port in ((TENSORRT_LLM, "2222"), (LLAMA_CPP, "50052")):
        engine = engine_of(settings)
        command = engine.leader(launch()).command
        waiting = leader_command(engine.behaviour(launch()), command, 2, derive(60))
        assert waiting[-len(command) :] == command
        assert waiting[waiting.index("--port") + 1] == port


def test_an_engine_names_no_image_of_its_own() -> None:
    assert engine_of(LEADER_FIRST).default_image is None


def test_groups_need_the_command_of_a_worker() -> None:
    engine = engine_of(CustomEngine(kind="custom", leader_command=("serve",), rendezvous_port=7000))
    assert engine.problems(launch()) == [
        Problem(
            "engine.workerCommand",
            "nothing",
            "the command of a worker: groups have 2 pods",
            "Write it, or fit the model into one pod.",
        )
    ]
    assert engine.problems(launch(Parallelism(tensor=8))) == []


def test_a_leader_that_starts_first_says_where_it_gathers() -> None:
    settings = LEADER_FIRST.model_copy(update={"rendezvous_port": None})
    assert engine_of(settings).problems(launch()) == [
        Problem(
            "engine.rendezvousPort",
            "nothing",
            "the port on which the leader waits for its workers, which are made once it listens there",
            "Set it, or set engine.startup to workers_first if the workers must be up before their leader.",
        )
    ]
    assert engine_of(settings.model_copy(update={"startup": "workers_first"})).problems(launch()) == []
    for whole in (LEADER_FIRST, TENSORRT_LLM, LLAMA_CPP):
        assert engine_of(whole).problems(launch()) == []
