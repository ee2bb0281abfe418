"""Rules about the services around a cluster: queues, events, logs, keys, parameters.

``source`` of each names the page of the API that refuses, and what replaces is taken from the file of the same resource
below https://github.com/hashicorp/terraform-provider-aws/tree/main/internal/service (``ForceNew``).
"""

from lab.aws.kinds.forms import Between, Json, OneOf, Policy, Text
from lab.aws.kinds.kind import Kind, Reference, RefusedError, Request
from lab.aws.wire import UNKNOWN

QUEUE = "aws:sqs/queue:Queue"
EVENT_RULE = "aws:cloudwatch/eventRule:EventRule"
LOG_GROUP = "aws:cloudwatch/logGroup:LogGroup"
KEY = "aws:kms/key:Key"

_RESOURCE_POLICY = Policy(32768, principal=True)
_MOST_TARGETS = 5


def _check_queue(request: Request) -> None:
    name, first_in_first_out = request.values["name"], request.values["fifoQueue"]
    if UNKNOWN not in (name, first_in_first_out) and name.endswith(".fifo") != first_in_first_out:
        raise RefusedError(f"invalid queue name: {name}")
    if request.values["contentBasedDeduplication"] is True and first_in_first_out is False:
        raise RefusedError("content-based deduplication can only be set for FIFO queue")


def _check_rule(request: Request) -> None:
    if not {"eventPattern", "scheduleExpression"} & set(request.values):
        raise RefusedError("ValidationException: Parameter(s) EventPattern or ScheduleExpression must be specified.")


def _check_target(request: Request) -> None:
    rule = request.values["rule"]
    targets = [one for one in request.account.of("aws:cloudwatch/eventTarget:EventTarget") if one.value("rule") == rule]
    if rule != UNKNOWN and not request.before and len(targets) >= _MOST_TARGETS:
        raise RefusedError("LimitExceededException: The requested resource exceeds the maximum number allowed.")


KINDS: dict[str, Kind] = {
    QUEUE: Kind(
        called="SQS Queue",
        source="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html",
        id="https://sqs.{region}.amazonaws.com/{account}/{name}",
        arn="arn:aws:sqs:{region}:{account}:{name}",
        replaces=frozenset({"name", "namePrefix", "fifoQueue"}),
        defaults={
            "contentBasedDeduplication": False,
            "delaySeconds": 0,
            "fifoQueue": False,
            "maxMessageSize": 1048576,
            "messageRetentionSeconds": 345600,
            "receiveWaitTimeSeconds": 0,
            "visibilityTimeoutSeconds": 30,
        },
        references=(Reference("kmsMasterKeyId", KEY, by=("id", "arn"), only="arn:aws:kms:"),),
        forms={
            "name": Text(80, r"[0-9A-Za-z_-]+(\.fifo)?"),
            "delaySeconds": Between(0, 900),
            "kmsDataKeyReusePeriodSeconds": Between(60, 86_400),
            "maxMessageSize": Between(1024, 1_048_576),
            "messageRetentionSeconds": Between(60, 1_209_600),
            "receiveWaitTimeSeconds": Between(0, 20),
            "visibilityTimeoutSeconds": Between(0, 43_200),
            "policy": _RESOURCE_POLICY,
            "redrivePolicy": Json(),
        },
        at_most_one_of=(("kmsMasterKeyId", "sqsManagedSseEnabled"),),
        unique=("name",),
        taken="QueueAlreadyExists: A queue named {name} already exists with a different value for some attribute",
        missing="AWS.SimpleQueueService.NonExistentQueue: The specified queue does not exist: {value}",
        outputs={"url": "{id}", "sqsManagedSseEnabled": True, "kmsDataKeyReusePeriodSeconds": 300},
        check=_check_queue,
    ),
    "aws:sqs/queuePolicy:QueuePolicy": Kind(
        called="SQS Queue Policy",
        source="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html",
        id="{queueUrl}",
        replaces=frozenset({"queueUrl"}),
        references=(Reference("queueUrl", QUEUE),),
        forms={"policy": _RESOURCE_POLICY},
    ),
    EVENT_RULE: Kind(
        called="EventBridge Rule",
        source="https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutRule.html",
        id="{name}",
        arn="arn:aws:events:{region}:{account}:rule/{name}",
        replaces=frozenset({"name", "namePrefix", "eventBusName"}),
        defaults={"eventBusName": "default", "forceDestroy": False},
        references=(Reference("roleArn", "aws:iam/role:Role", by=("arn",)),),
        forms={
            "name": Text(64, r"[0-9A-Za-z_.-]+"),
            "description": Text(512, shortest=0),
            "eventPattern": Json(),
            "scheduleExpression": Text(256, r"(cron|rate)\(.+\)"),
            "state": OneOf(("DISABLED", "ENABLED", "ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS")),
        },
        missing="ResourceNotFoundException: Rule {value} does not exist on EventBus default.",
        blocked="ValidationException: Rule can't be deleted since it has targets.",
        check=_check_rule,
    ),
    "aws:cloudwatch/eventTarget:EventTarget": Kind(
        called="EventBridge Target",
        source="https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutTargets.html",
        id="{rule}-{targetId}",
        replaces=frozenset({"rule", "targetId", "eventBusName"}),
        defaults={"eventBusName": "default", "forceDestroy": False},
        references=(
            Reference("rule", EVENT_RULE, by=("name",), blocks=True),
            Reference("arn", QUEUE, by=("arn",), only="arn:aws:sqs:"),
            Reference("roleArn", "aws:iam/role:Role", by=("arn",)),
        ),
        forms={"targetId": Text(64, r"[0-9A-Za-z_.-]+"), "arn": Text(1600, r"arn:aws[a-z-]*:.+")},
        outputs={"targetId": "target-{hex}"},
        check=_check_target,
    ),
    LOG_GROUP: Kind(
        called="CloudWatch Logs Log Group",
        source="https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_CreateLogGroup.html",
        id="{name}",
        arn="arn:aws:logs:{region}:{account}:log-group:{name}",
        replaces=frozenset({"name", "namePrefix", "logGroupClass"}),
        defaults={"skipDestroy": False},
        references=(Reference("kmsKeyId", KEY, by=("arn",)),),
        forms={
            "name": Text(512, r"[A-Za-z0-9_./#-]+"),
            "logGroupClass": OneOf(("DELIVERY", "INFREQUENT_ACCESS", "STANDARD")),
            "retentionInDays": OneOf(
                (
                    0,
                    1,
                    3,
                    5,
                    7,
                    14,
                    30,
                    60,
                    90,
                    120,
                    150,
                    180,
                    365,
                    400,
                    545,
                    731,
                    1096,
                    1827,
                    2192,
                    2557,
                    2922,
                    3288,
                    3653,
                )
            ),
        },
        unique=("name",),
        taken="ResourceAlreadyExistsException: The specified log group already exists",
        missing="ResourceNotFoundException: The specified log group does not exist: {value}",
        outputs={"logGroupClass": "STANDARD"},
    ),
    KEY: Kind(
        called="KMS Key",
        source="https://docs.aws.amazon.com/kms/latest/APIReference/API_CreateKey.html",
        id="{uuid}",
        arn="arn:aws:kms:{region}:{account}:key/{id}",
        named_by="",
        replaces=frozenset({"customKeyStoreId", "customerMasterKeySpec", "keyUsage", "multiRegion", "xksKeyId"}),
        defaults={
            "bypassPolicyLockoutSafetyCheck": False,
            "customerMasterKeySpec": "SYMMETRIC_DEFAULT",
            "enableKeyRotation": False,
            "isEnabled": True,
            "keyUsage": "ENCRYPT_DECRYPT",
        },
        forms={
            "deletionWindowInDays": Between(7, 30),
            "description": Text(8192, shortest=0),
            "keyUsage": OneOf(("ENCRYPT_DECRYPT", "GENERATE_VERIFY_MAC", "KEY_AGREEMENT", "SIGN_VERIFY")),
            "policy": _RESOURCE_POLICY,
            "rotationPeriodInDays": Between(90, 2560),
        },
        missing="NotFoundException: Key '{value}' does not exist",
        outputs={"keyId": "{id}"},
    ),
    "aws:kms/alias:Alias": Kind(
        called="KMS Alias",
        source="https://docs.aws.amazon.com/kms/latest/APIReference/API_CreateAlias.html",
        id="{name}",
        arn="arn:aws:kms:{region}:{account}:{name}",
        named_like="alias/{name}-{suffix}",
        replaces=frozenset({"name", "namePrefix"}),
        references=(Reference("targetKeyId", KEY, by=("id", "arn")),),
        forms={"name": Text(256, r"alias/(?!aws/)[A-Za-z0-9/_-]+")},
        unique=("name",),
        taken="AlreadyExistsException: An alias with the name {name} already exists",
        outputs={"targetKeyArn": "arn:aws:kms:{region}:{account}:key/{targetKeyId}"},
    ),
    "aws:ssm/parameter:Parameter": Kind(
        called="SSM Parameter",
        source="https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_PutParameter.html",
        id="{name}",
        arn="arn:aws:ssm:{region}:{account}:parameter/{name}",
        replaces=frozenset({"name", "dataType"}),
        replaces_if={"tier": lambda old, new: (old, new) == ("Advanced", "Standard")},
        references=(Reference("keyId", KEY, by=("id", "arn"), only="arn:aws:kms:"),),
        forms={
            "name": Text(2048, r"(?!/?(aws|ssm))[A-Za-z0-9_.\-/]+"),
            "type": OneOf(("SecureString", "String", "StringList")),
            "tier": OneOf(("Advanced", "Intelligent-Tiering", "Standard")),
            "dataType": OneOf(("aws:ec2:image", "aws:ssm:integration", "text")),
        },
        one_of=(("value", "insecureValue", "valueWo"),),
        unique=("name",),
        taken="ParameterAlreadyExists: The parameter already exists. To overwrite this value, set the overwrite option "
        "in the request to true.",
        outputs={"version": 1, "tier": "Standard", "dataType": "text"},
        bumped=("version",),
    ),
}
"""By type."""
