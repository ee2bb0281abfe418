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

UPGRADE_NOTES: dict[tuple[int, int], str] = {
    (0, 8): (
        "Upgrading the chart to 0.8 deletes the CRD, and every LeaderWorkerSet with it"
        " (https://github.com/kubernetes-sigs/lws/issues/880); 0.8.0 also rolls every LeaderWorkerSet"
        " (https://github.com/kubernetes-sigs/lws/issues/797)."
    ),
    # Announced in 0.10 (pkg/controllers/disaggregatedset/disaggregatedset_controller.go); 0.11 itself was not seen.
    (0, 11): (
        "LWS 0.11 is to forget the LeaderWorkerSets that 0.9 made for a DisaggregatedSet, whose names lack a slice"
        " (https://github.com/kubernetes-sigs/lws/tree/main/keps/846-disaggregatedset-slices)."
    ),
}
"""What an upgrade to a release, or past it, does to what runs."""
