"""generator.yaml: what may be referred to, by which names, and errors with their entry and line."""

from __future__ import annotations

import pytest

from strongref_manifests.refs import config
from strongref_manifests.refs.base import FieldReference
from strongref_manifests.refs.config import load
from strongref_manifests.refs.crds import crd_spec
from strongref_manifests.refs.errors import GeneratorError, ServiceUnknownError
from strongref_toolkit.errors import UsageError
from tests.support.ack import EC2, GENERATORS, SERVICES, VPC_LINK_GENERATOR, kinds_of, names_of

FIELDS = (GENERATORS / "fields.txt").read_text().splitlines()


def of(service: str) -> list[str]:
    return [line.removeprefix(f"{service} ") for line in FIELDS if line.startswith(f"{service} ")]


class TestExcerptsOfRealFiles:
    @pytest.mark.parametrize("service", SERVICES)
    def test_the_field_names_of_all_their_references_are_those_of_the_controllers(self, service: str) -> None:
        path = GENERATORS / f"{service}.yaml"
        generator = load(path.read_text(), str(path))
        assert generator.service == service
        assert names_of({kind.name: kind for kind in generator.kinds}) == of(service)

    @pytest.mark.parametrize("service", SERVICES)
    def test_without_the_apis_model_the_names_are_the_same(self, service: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(config, "service_model", lambda *_: None)
        path = GENERATORS / f"{service}.yaml"
        generator = load(path.read_text(), str(path))
        assert names_of({kind.name: kind for kind in generator.kinds}) == of(service)

    def test_what_the_controllers_own_checks_require_is_required(self) -> None:
        kinds = kinds_of((GENERATORS / "ec2.yaml").read_text(), "ec2")
        required = {(kind.name, *each.path) for kind in kinds.values() for each in kind.fields if each.required}
        assert {("RouteTable", "VpcId"), ("SecurityGroup", "VpcId")} <= required
        assert not {path for path in required if len(path) > 2}

    def test_state_checks_are_skipped_where_two_groups_may_refer_to_each_other(self) -> None:
        group = kinds_of((GENERATORS / "ec2.yaml").read_text(), "ec2")["SecurityGroup"]
        assert [each.path[-1] for each in group.fields if each.reference.skip_state] == ["GroupID", "GroupID"]

    def test_kinds_whose_controllers_have_code_of_their_own_for_references_are_noted(self) -> None:
        found = {
            (kind.name, field.steps): field.hook
            for service in SERVICES
            for kind in load((GENERATORS / f"{service}.yaml").read_text(), f"{service}.yaml").kinds
            for field in kind.fields
            if field.hook
        }
        assert found == {("Route", ("target",)): "references_post_resolve"}


class TestReading:
    def test_the_vpc_link_of_the_design(self) -> None:
        link = kinds_of(VPC_LINK_GENERATOR, "apigatewayv2")["VPCLink"]
        groups, subnets = link.fields
        assert (groups.path, groups.steps, groups.reference_step) == (
            ("SecurityGroupIds",),
            ("securityGroupIDs",),
            "securityGroupRefs",
        )
        assert groups.reference == FieldReference("SecurityGroup", "Status.ID", "ec2")
        assert groups.reference.group == EC2
        assert (groups.many, groups.required) == (True, False)
        assert (subnets.many, subnets.required) == (True, True)

    def test_a_reference_without_a_service_is_to_the_controllers_own(self) -> None:
        integration = kinds_of(VPC_LINK_GENERATOR, "apigatewayv2")["Integration"]
        assert integration.fields[0].reference.service == "apigatewayv2"
        assert integration.group == "apigatewayv2.services.k8s.aws"

    @pytest.mark.parametrize(("given", "required"), [("true", True), ("false", False)])
    def test_is_required_overrides_the_api(self, given: str, required: bool) -> None:
        text = VPC_LINK_GENERATOR.replace("      SubnetIds:\n", f"      SubnetIds:\n        is_required: {given}\n")
        assert kinds_of(text, "apigatewayv2")["VPCLink"].fields[1].required is required

    def test_a_go_tag_spells_a_field(self) -> None:
        text = (
            'resources:\n  Thing:\n    fields:\n      Config.Type:\n        go_tag: json:"type,omitempty"\n'
            "        references: {resource: Kind, path: Status.ID}\n"
            '      config:\n        go_tag: json:"conf"\n'
        )
        (field,) = kinds_of(text, "unheardof")["Thing"].fields
        assert (field.steps, field.reference_step) == (("conf", "type"), "typeRef")

    def test_lists_on_the_way_may_have_two_dots(self) -> None:
        text = (
            "resources:\n  A:\n    fields:\n      Rules..GroupID:\n        references: {resource: G, path: Status.ID}\n"
        )
        assert kinds_of(text, "unheardof")["A"].fields[0].steps == ("rules", "groupID")

    def test_lists_on_the_path_are_known(self) -> None:
        entry = "references: {resource: Key, path: Status.ID}"
        fields = (
            f"{{fields: {{EncryptionConfig.Provider.KeyArn: {{{entry}}}, Rules.Pairs.KeyID: {{{entry}}},"
            " Rules: {type: '*Rule'}}}"
        )
        text = f"resources: {{Cluster: {fields}}}"
        of_the_api, by_name = kinds_of(text, "eks")["Cluster"].fields
        assert (of_the_api.lists, by_name.lists) == ((True, False), (False, True))
        assert (of_the_api.certain, by_name.certain) == (True, False)
        assert kinds_of(text, "unheardof")["Cluster"].fields[0].lists == (False, False)

    def test_kinds_without_references_are_known_to_have_none(self) -> None:
        kinds = load("resources:\n  A:\n    fields: {B: {is_required: true}, C: }\n  D:\n", "ec2.yaml").kinds
        assert [(kind.group, kind.name, kind.fields) for kind in kinds] == [(EC2, "A", ()), (EC2, "D", ())]

    @pytest.mark.parametrize(
        ("hooks", "noted"),
        [
            ("{references_pre_resolve: {code: x}}", "references_pre_resolve"),
            ("{references_post_resolve: {template_path: a.go.tpl}}", "references_post_resolve"),
            ("{sdk_create_post_set_output: {code: x}}", ""),
            ("{references_post_resolve: }", ""),
            ("[references_post_resolve]", ""),
        ],
    )
    def test_hooks_of_references_are_noted_and_no_others(self, hooks: str, noted: str) -> None:
        fields = "{ApiId: {references: {resource: API, path: Status.APIID}}}"
        (field,) = kinds_of(f"resources: {{Stage: {{hooks: {hooks}, fields: {fields}}}}}", "apigatewayv2")[
            "Stage"
        ].fields
        assert field.hook == noted
        assert field.why_not == (noted and f"hook {noted}")

    def test_of_another_hook_of_the_route_nothing_is_known(self) -> None:
        text = (
            (GENERATORS / "apigatewayv2.yaml").read_text().replace("references_post_resolve", "references_pre_resolve")
        )
        assert [field.hook for field in kinds_of(text, "apigatewayv2")["Route"].fields] == [
            "references_pre_resolve"
        ] * 3

    @pytest.mark.parametrize("service", ["ec2-internal", "ec2"])
    def test_a_referenced_services_name_may_have_hyphens(self, service: str) -> None:
        (field,) = kinds_of(
            VPC_LINK_GENERATOR.replace("service_name: ec2", f"service_name: {service}", 1), "apigatewayv2"
        )["VPCLink"].fields[:1]
        assert field.reference.group == f"{service}.services.k8s.aws"

    @pytest.mark.parametrize(
        "text",
        ["ignore: {resource_names: [Alias]}\n", "operations: {}", "sdk_names: {model_name: glue}", "resources:\n"],
    )
    def test_a_file_may_have_no_resources(self, text: str) -> None:
        assert load(text, "glue-controller/generator.yaml").kinds == ()

    def test_fields_that_the_api_does_not_have_are_noted(self) -> None:
        entry = "{references: {resource: Subnet, path: Status.SubnetID, service_name: ec2}}"
        text = f"resources: {{VpcLink: {{fields: {{SubnetIdz: {entry}, SubnetIds: {entry}}}}}}}"
        wrong, right = kinds_of(text, "apigatewayv2")["VPCLink"].fields
        assert (wrong.absent, wrong.can_refer, wrong.why_not) == (True, False, "the API has no such field")
        assert (right.absent, right.can_refer, right.why_not) == (False, True, "")
        assert not kinds_of(text, "unheardof")["VPCLink"].fields[0].absent

    def test_the_last_of_equal_keys_counts_as_for_ack(self) -> None:
        text = VPC_LINK_GENERATOR.replace(
            "resource: API\n", "resource: API\n          resource: Stage\n          nothing: 1\n"
        )
        assert kinds_of(text, "apigatewayv2")["Integration"].fields[0].reference.resource == "Stage"
        assert load(f"resources: [A]\n{VPC_LINK_GENERATOR}", "ec2.yaml").kinds[1].name == "VPCLink"
        assert fails(FIELD + "          path: Status.ID\n          path: ID\n          resource: A\n").line == 7

    @pytest.mark.parametrize(
        ("text", "value"), [("yes", True), ("'On'", True), ("y", True), ("no", False), ("OFF", False)]
    )
    def test_flags_are_read_as_yaml_1_1_has_them_as_by_ack(self, text: str, value: bool) -> None:
        entry = f"        is_required: {text}\n        references:\n          skip_resource_state_validations: {text}\n"
        given = "resources:\n  A:\n    fields:\n      B:\n" + entry + "          {resource: C, path: Status.ID}\n"
        given = given.replace(
            "          {resource: C, path: Status.ID}", "          resource: C\n          path: Status.ID"
        )
        (field,) = kinds_of(given, "unheardof")["A"].fields
        assert (field.required, field.reference.skip_state) == (value, value)

    def test_a_crd_decides_before_the_api(self) -> None:
        spec = {"properties": {"securityGroupIDs": {"type": "string"}, "subnetIds": {"type": "array"}}}
        crd = {
            "kind": "CustomResourceDefinition",
            "spec": {
                "group": "apigatewayv2.services.k8s.aws",
                "names": {"kind": "VPCLink"},
                "versions": [{"storage": True, "schema": {"openAPIV3Schema": {"properties": {"spec": spec}}}}],
            },
        }
        generator = load(VPC_LINK_GENERATOR, "apigatewayv2.yaml", crds=dict([crd_spec("crd.yaml", crd)]))
        groups, subnets = generator.kinds[1].fields
        assert (groups.many, groups.reference_step, groups.required) == (False, "securityGroupRef", False)
        assert (subnets.many, subnets.required) == (True, True)
        assert (subnets.steps, subnets.reference_step) == (("subnetIds",), "subnetRefs")


class TestService:
    @pytest.mark.parametrize(
        ("source", "service"),
        [
            ("ec2-controller/generator.yaml", "ec2"),
            ("/src/ec2-controller/apis/v1alpha1/generator.yaml", "ec2"),
            ("old-controller/ec2-controller/generator.yaml", "ec2"),
            ("generators/ec2.yaml", "ec2"),
        ],
    )
    def test_it_follows_from_the_folder_or_the_files_name(self, source: str, service: str) -> None:
        assert load("resources: {}", source).service == service

    def test_the_given_service_overrides_the_one_in_the_file(self) -> None:
        text = "controller_name: prometheusservice\nresources: {}"
        assert load(text, "amp-controller/generator.yaml").service == "prometheusservice"
        assert load(text, "amp-controller/generator.yaml", "amp").service == "amp"

    def test_its_api_group_is_accepted(self) -> None:
        assert load("resources: {}", "generator.yaml", "ec2.services.k8s.aws").service == "ec2"

    @pytest.mark.parametrize(
        "service", ["EC2", "a b", "", "ec2\n", "a\n- apiGroups: ['*']", "ec2.services.k8s.aws.example.com", "ec2-a"]
    )
    def test_an_invalid_service_is_refused(self, service: str) -> None:
        with pytest.raises(UsageError, match=r"^--service must be a name of lowercase letters and digits, as in ec2$"):
            load("resources: {}", "ec2-controller/generator.yaml", service)

    @pytest.mark.parametrize("source", ["generator.yaml", "-", "a b.yaml", "My-controller/generator.yaml"])
    def test_without_a_service_it_is_required(self, source: str) -> None:
        with pytest.raises(ServiceUnknownError, match="--service"):
            load("resources: {}", source)


def fails(text: str) -> GeneratorError:
    with pytest.raises(GeneratorError) as caught:
        load(text, "ec2-controller/generator.yaml")
    return caught.value


FIELD = """\
resources:
  VpcLink:
    fields:
      SubnetIds:
        references:
"""


class TestBadReferences:
    @pytest.mark.parametrize(
        ("entry", "line", "where", "problem"),
        [
            ("          path: Status.ID\n", 5, "references.resource", "is missing; must be the name of a kind"),
            (
                "          resource: ''\n          path: Status.ID\n",
                6,
                "references.resource",
                "the name of a kind, got ''",
            ),
            ("          resource: Subnet\n", 5, "references.path", "is missing; must be a path below Spec or Status"),
            (
                "          resource: [Subnet]\n          path: Status.ID\n",
                6,
                "references.resource",
                "the name of a kind, got a list",
            ),
            (
                "          resource: Subnet\n          path: Status..ID\n",
                7,
                "references.path",
                "a path below Spec or Status",
            ),
            ("          resource: Subnet\n          path: 3\n", 7, "references.path", "a path below Spec or Status"),
            ("          resource: Subnet\n          path: ID\n", 7, "references.path", "a path below Spec or Status"),
            (
                "          resource: Subnet\n          path: Metadata.Name\n",
                7,
                "references.path",
                "a path below Spec or Status",
            ),
            (
                "          resource: Subnet\n          path: Status.ID\n          service_name: a b\n",
                8,
                "references.service_name",
                "a name of lowercase letters, digits and hyphens",
            ),
            (
                "          resource: Subnet\n          path: Status.ID\n          service_name: EC2-\n",
                8,
                "references.service_name",
                "a name of lowercase letters, digits and hyphens",
            ),
            (
                "          resource: Subnet\n          path: Status.ID\n          service_nam: ec2\n",
                8,
                "references.service_nam",
                "similar to service_name",
            ),
            (
                "          resource: Subnet\n          path: Status.ID\n          skip_resource_state_validations: x\n",
                8,
                "references.skip_resource_state_validations",
                "true or false",
            ),
            ("          - Subnet\n", 5, "references", "a map with resource and path"),
        ],
    )
    def test_kind_field_key_and_line_are_named(self, entry: str, line: int, where: str, problem: str) -> None:
        error = fails(FIELD + entry)
        assert (error.line, error.where) == (line, f"resources.VpcLink.fields.SubnetIds.{where}")
        assert problem in error.problem
        assert str(error).startswith(f"ec2-controller/generator.yaml, line {line}: resources.VpcLink.fields.SubnetIds.")

    def test_keys_of_newer_versions_of_ack_are_ignored(self) -> None:
        entry = "          resource: Subnet\n          path: Status.ID\n          cluster: other\n"
        assert kinds_of(FIELD + entry, "ec2")["VPCLink"].fields[0].reference.resource == "Subnet"

    @pytest.mark.parametrize("name", ["Id", "Config.Name"])
    def test_a_field_whose_name_is_a_suffix_has_no_reference_field(self, name: str) -> None:
        error = fails(
            f"resources:\n  A:\n    fields:\n      {name}:\n        references: {{resource: B, path: Status.ID}}\n"
        )
        assert (error.line, error.where) == (4, f"resources.A.fields.{name}")

    def test_two_fields_cannot_have_the_same_reference_field(self) -> None:
        entry = "references: {resource: Table, path: Status.ID}"
        error = fails(f"resources:\n  A:\n    fields:\n      TableId: {{{entry}}}\n      TableName: {{{entry}}}\n")
        assert (error.line, error.where) == (5, "resources.A.fields.TableName")
        assert error.problem == "has the same reference field as TableId: tableRef"

    def test_a_kind_has_one_spelling(self) -> None:
        error = fails("resources:\n  VpcLink: {}\n  VPCLink: {}\n")
        assert (error.line, error.where) == (3, "resources.VPCLink")
        assert error.problem == "VPCLink is defined already, in another spelling. Merge the two"

    @pytest.mark.parametrize("name", ["1", "~", "'a b'", "{a: b}"])
    def test_a_kind_has_a_name(self, name: str) -> None:
        error = fails(f"resources:\n  A: {{}}\n  ? {name}\n  : {{}}\n")
        assert "must be the name of a kind" in error.problem

    @pytest.mark.parametrize("value", ["maybe", "3", "[true]"])
    def test_whether_a_field_is_required_is_true_or_false(self, value: str) -> None:
        error = fails(
            FIELD.replace("        ref", f"        is_required: {value}\n        ref") + "          path: A\n"
        )
        assert (error.line, error.where) == (5, "resources.VpcLink.fields.SubnetIds.is_required")
        assert error.problem.startswith("must be true or false, got ")

    @pytest.mark.parametrize("name", ["'.'", "Vpc-Id", "'a b.C'", "1", "1.5", "true", "~"])
    def test_a_fields_path_consists_of_names(self, name: str) -> None:
        error = fails(
            f"resources:\n  A:\n    fields:\n      {name}:\n        references: {{resource: B, path: Status.ID}}\n"
        )
        assert "a path of names" in error.problem

    @pytest.mark.parametrize(
        ("text", "where", "line"),
        [
            ("resources: [A]", "resources", 1),
            ("resources:\n  A: text", "resources.A", 2),
            ("resources:\n  A:\n    fields: [B]", "resources.A.fields", 3),
            ("- a\n", "resources", None),
            ("", "resources", None),
            ("apiVersion: v1\nkind: List\n", "resources", None),
        ],
    )
    def test_other_yaml_is_refused(self, text: str, where: str, line: int | None) -> None:
        error = fails(text)
        assert (error.where, error.line) == (where, line)

    @pytest.mark.parametrize(
        ("text", "line"), [("a: [\n", 2), ("a: 'b\n", 2), ("a: b: c\n", 1), ("a: !!binary x\x00\n", None)]
    )
    def test_invalid_yaml_is_refused(self, text: str, line: int | None) -> None:
        error = fails(text)
        assert error.line == line
        assert "not valid YAML" in str(error)
