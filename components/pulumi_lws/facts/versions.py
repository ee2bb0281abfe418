"""The only pin table: every version that this package installs, renders or tests with stands here.

Python packages are the exception: ``pyproject.toml`` bounds them and ``constraints.txt`` pins them.
"""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Pin:
    """One pinned thing.

    Attributes:
        version: Version as its own registry writes it.
        source: Where it comes from: a chart, an image repository or a module path.
        checked: Day on which somebody last looked whether the pin is still right.
    """

    version: str
    source: str
    checked: date


PINS: dict[str, Pin] = {
    "lws": Pin("0.10.0", "oci://registry.k8s.io/lws/charts/lws", date(2026, 9, 1)),
    "kubernetes": Pin("1.35.4", "k8s.io/kubernetes", date(2026, 11, 29)),
    "vllm": Pin(
        "0.26.0-gpu-py312-cu130-ubuntu22.04-ec2", "public.ecr.aws/deep-learning-containers/vllm", date(2026, 9, 1)
    ),
    "vllm-parser": Pin("0.33.0", "the Python package vllm", date(2026, 11, 30)),
    "sglang": Pin("v0.5.23", "docker.io/lmsysorg/sglang", date(2026, 11, 30)),
    "ray-llm": Pin("serve-llm-cuda-v1.0.0", "public.ecr.aws/deep-learning-containers/ray", date(2026, 11, 30)),
    "ray-llm-ray": Pin("2.58.0", "the Python package ray in the image ray-llm", date(2026, 11, 30)),
    "ray-llm-vllm": Pin("0.26.0", "the Python package vllm in the image ray-llm", date(2026, 11, 30)),
    "llm-d-router": Pin("v0.10.0", "ghcr.io/llm-d/llm-d-router-endpoint-picker", date(2026, 11, 30)),
    "llm-d-sidecar": Pin("v0.10.0", "ghcr.io/llm-d/llm-d-router-disagg-sidecar", date(2026, 11, 30)),
    "envoy": Pin("distroless-v1.39.6", "docker.io/envoyproxy/envoy", date(2026, 11, 30)),
    "busybox": Pin("1.37.0-musl", "public.ecr.aws/docker/library/busybox", date(2026, 11, 30)),
    "aws-cli": Pin("2.36.46", "public.ecr.aws/aws-cli/aws-cli", date(2026, 11, 30)),
    # The newest release whose go.mod asks for no newer Go than the lab's other tools.
    "prometheus": Pin("0.315.0", "github.com/prometheus/prometheus", date(2026, 11, 30)),
    "actionlint": Pin("1.7.12", "github.com/rhysd/actionlint", date(2026, 11, 30)),
    "guidellm": Pin("v0.8.1", "ghcr.io/vllm-project/guidellm", date(2026, 11, 30)),
    "pulumi": Pin("3.274.1", "github.com/pulumi/pulumi/pkg/v3", date(2026, 11, 29)),
    "pulumi-kubernetes": Pin(
        "v4.0.0-20260115033456-f47bc2d6f199", "github.com/pulumi/pulumi-kubernetes/provider/v4", date(2026, 11, 29)
    ),
    "etcd": Pin("3.6.16", "go.etcd.io/etcd/server/v3", date(2026, 11, 29)),
    "kwok": Pin("0.8.0", "sigs.k8s.io/kwok", date(2026, 11, 29)),
    "karpenter-kwok": Pin("1.14.1", "sigs.k8s.io/karpenter", date(2026, 11, 29)),
    "karpenter-chart": Pin("1.14.1", "oci://public.ecr.aws/karpenter/karpenter", date(2026, 9, 1)),
    "eks-aws-efs-csi-driver": Pin("v3.4.1-eksbuild.1", "the EKS add-on aws-efs-csi-driver", date(2026, 11, 30)),
    "eks-aws-fsx-csi-driver": Pin("v1.9.0-eksbuild.1", "the EKS add-on aws-fsx-csi-driver", date(2026, 11, 30)),
    "eks-coredns": Pin("v1.13.2-eksbuild.1", "the EKS add-on coredns for Kubernetes 1.35", date(2026, 11, 30)),
    "eks-kube-proxy": Pin("v1.35.0-eksbuild.2", "the EKS add-on kube-proxy for Kubernetes 1.35", date(2026, 11, 30)),
    "eks-pod-identity-agent": Pin("v1.3.10-eksbuild.3", "the EKS add-on of that name", date(2026, 11, 30)),
    "eks-vpc-cni": Pin("v1.21.1-eksbuild.3", "the EKS add-on vpc-cni", date(2026, 11, 30)),
    "parliament": Pin("1.6.4", "the Python package parliament", date(2026, 11, 30)),
    "cert-manager-chart": Pin("v1.21.1", "oci://quay.io/jetstack/charts/cert-manager", date(2026, 11, 30)),
    "kube-prometheus-stack-chart": Pin(
        "88.5.3", "https://prometheus-community.github.io/helm-charts/kube-prometheus-stack", date(2026, 11, 30)
    ),
    "prometheus-adapter-chart": Pin(
        "5.3.0", "https://prometheus-community.github.io/helm-charts/prometheus-adapter", date(2026, 11, 30)
    ),
    "nvidia-device-plugin-chart": Pin(
        "0.20.0", "https://nvidia.github.io/k8s-device-plugin/nvidia-device-plugin", date(2026, 11, 30)
    ),
    "efa-device-plugin-chart": Pin(
        "v0.5.30", "https://aws.github.io/eks-charts/aws-efa-k8s-device-plugin", date(2026, 11, 30)
    ),
    "dcgm-exporter-chart": Pin(
        "4.8.2", "https://nvidia.github.io/dcgm-exporter/helm-charts/dcgm-exporter", date(2026, 11, 30)
    ),
    "kueue-chart": Pin("0.19.2", "oci://registry.k8s.io/kueue/charts/kueue", date(2026, 11, 30)),
    "keda-chart": Pin("2.20.2", "https://kedacore.github.io/charts/keda", date(2026, 11, 30)),
    "kuberay-chart": Pin("1.7.0", "https://ray-project.github.io/kuberay-helm/kuberay-operator", date(2026, 11, 30)),
    "envoy-gateway-chart": Pin("v1.9.0", "oci://docker.io/envoyproxy/gateway-helm", date(2026, 11, 30)),
    "inference-pools": Pin(
        "1.6.0", "https://github.com/kubernetes-sigs/gateway-api-inference-extension", date(2026, 11, 30)
    ),
}
