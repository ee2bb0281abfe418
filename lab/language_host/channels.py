"""How the parts of a Pulumi run reach one another: gRPC over loopback."""

LOOPBACK = "127.0.0.1:0"
"""Address to listen on: a free port that other machines cannot reach."""

_MESSAGE_LIMIT = 400 * 2**20  # bytes; that of the engine, since whole states and stacks travel in one message

OPTIONS = (
    ("grpc.max_receive_message_length", _MESSAGE_LIMIT),
    ("grpc.max_send_message_length", _MESSAGE_LIMIT),
    ("grpc.enable_http_proxy", 0),  # loopback is never behind the proxy that the environment may name
)
