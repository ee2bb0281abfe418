"""What the releases of LWS are made with."""

KUBERNETES_OF_LWS: dict[tuple[int, int], tuple[int, int]] = {
    (0, 6): (1, 32),
    (0, 7): (1, 33),
    (0, 8): (1, 34),
    (0, 9): (1, 36),
    (0, 10): (1, 36),
}
"""Version of Kubernetes whose pod spec a release has in its CRDs (``k8s.io/api`` in its go.mod). A field that is newer
is refused in a pod template, whatever the cluster knows."""
