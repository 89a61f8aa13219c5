"""cdk8s apps for tests: objects that hold what a test puts into them, and what is written of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import cdk8s
import yaml
from cdk8s_plus_31 import k8s

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Manifests:
    """An app with one chart, or several."""

    def __init__(self, *resolvers: object, outdir: Path | None = None) -> None:
        self.app = cdk8s.App(resolvers=list(resolvers), **({"outdir": str(outdir)} if outdir else {}))
        self.chart = cdk8s.Chart(self.app, "Manifest")

    def config_map(self, name: str, data: Mapping[str, Any], chart: Any = None) -> Any:
        return k8s.KubeConfigMap(chart or self.chart, name, metadata=k8s.ObjectMeta(name=name.lower()), data=data)

    def annotated(self, name: str, annotations: Mapping[str, str]) -> Any:
        metadata = cdk8s.ApiObjectMetadata(name=name.lower(), annotations=annotations)
        return cdk8s.ApiObject(self.chart, name, api_version="v1", kind="ServiceAccount", metadata=metadata)

    def pod(self, name: str, **container: Any) -> Any:
        return k8s.KubePod(self.chart, name, spec=k8s.PodSpec(containers=[k8s.Container(name="main", **container)]))

    def written(self) -> list[dict[str, Any]]:
        """What cdk8s would write."""
        return list(yaml.safe_load_all(self.app.synth_yaml()))

    def data(self) -> dict[str, Any]:
        """The data of the only object."""
        (written,) = self.written()
        data: dict[str, Any] = written["data"]
        return data

    def container(self) -> dict[str, Any]:
        """The container of the only object."""
        (written,) = self.written()
        container: dict[str, Any] = written["spec"]["containers"][0]
        return container
