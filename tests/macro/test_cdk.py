"""What becomes of the CDK's cross-region references, in the templates that the CDK synthesizes."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from strongref.contract.names import StackArn
from strongref.contract.requests import ExportRequest, ImportRequest, OnChange
from strongref.macro.edits import TemplateEdits
from strongref.macro.transform import Settings, plan
from tests.cfn_lint.linting import lint
from tests.support.builders import WEB
from tests.support.macro import (
    EXPORTS,
    IMPORTS,
    READER,
    WRITER,
    Template,
    cdk_name,
    get,
    imports,
    problems,
    provider,
    reader,
    ref,
    resource,
    template,
    transformed,
    writer,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

SHAPES = sorted(Path(__file__).with_name("cdk").glob("*.json"))
"""What aws-cdk-lib synthesizes, without what does not matter here, and the releases of it that synthesize the same."""

SYNTHESIZED = {
    f"{path.stem}-{stack}": each for path in SHAPES for stack, each in json.loads(path.read_text())["stacks"].items()
}
VERSION = re.compile("CurrentVersion[0-9A-F]{8}[0-9a-f]{32}")
CERTIFICATE = cdk_name("CertificateArn")
LAMBDA = cdk_name("ApiuseastRefFCurrentVersion58B8A55D7749ed525f29a5cb49be4da2f7c731104A799A6C")


def shape(name: str) -> Template:
    return deepcopy(SYNTHESIZED[name])


def with_settings(given: Template, **settings: Any) -> Template:
    return {**given, "Metadata": {**given.get("Metadata", {}), "StrongRef": settings}}


def of_type(given: Template, kind: str) -> dict[str, Template]:
    return {name: each for name, each in given["Resources"].items() if each["Type"] == kind}


def properties_of(given: Template, kind: str) -> list[Template]:
    return [each["Properties"] for each in of_type(given, kind).values()]


def reads(node: Any, readers: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """The paths at which a Reader's values are used, and their names."""
    if isinstance(node, dict) and list(node) == ["Fn::GetAtt"] and node["Fn::GetAtt"][0] in readers:
        yield path, node["Fn::GetAtt"][1]
    elif isinstance(node, dict | list):
        for step, below in node.items() if isinstance(node, dict) else enumerate(node):
            yield from reads(below, readers, (*path, step))


def at(node: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        node = node[step]
    return node


@pytest.fixture(params=SYNTHESIZED)
def synthesized(request: pytest.FixtureRequest) -> Template:
    return shape(request.param)


def test_every_value_of_a_writer_is_exported_to_its_stack_before_the_writer_changes(synthesized: Template) -> None:
    done = transformed(synthesized)
    exported = {
        (each["Region"], each["Consumer"], key): (logical_id, value)
        for logical_id, each in ((name, made["Properties"]) for name, made in of_type(done, EXPORTS).items())
        for key, value in each["Values"].items()
    }
    expected = set()
    for logical_id, each in of_type(synthesized, WRITER).items():
        stays = done["Resources"][logical_id]
        for name, value in each["Properties"]["WriterProps"]["exports"].items():
            if not VERSION.search(name):
                _, _, _, consumer, key = name.split("/")
                expected.add(where := (each["Properties"]["WriterProps"]["region"], consumer, key))
                export, found = exported[where]
                assert found == value
                assert export in stays["DependsOn"]
        assert {key: value for key, value in stays.items() if key != "DependsOn"} == each
    assert set(exported) == expected


def test_every_use_of_a_reader_reads_its_own_key_from_an_import(synthesized: Template) -> None:
    done = transformed(synthesized)
    readers = of_type(synthesized, READER)
    made = of_type(done, IMPORTS)
    for path, name in reads(synthesized, readers):
        if VERSION.search(name):
            assert at(done, path) == at(synthesized, path)
        else:
            import_, key = at(done, path)["Fn::GetAtt"]
            assert key == name.rpartition("/")[2]
            assert key in made[import_]["Properties"]["Names"]
    names = {name for each in readers.values() for name in each["Properties"]["ReaderProps"]["imports"]}
    moved = sorted(name.rpartition("/")[2] for name in names if not VERSION.search(name))
    assert sorted(name for each in made.values() for name in each["Properties"]["Names"]) == moved


def test_nothing_refers_to_what_is_gone_and_the_rest_is_as_it_was(synthesized: Template) -> None:
    done = transformed(synthesized)
    gone = set(synthesized["Resources"]) - set(done["Resources"])
    assert [each for each in gone if f'"{each}"' in json.dumps(done)] == []
    for path, _ in reads(synthesized, of_type(synthesized, READER)):
        at(synthesized, path[:-1])[path[-1]] = at(done, path)
    for section in {*synthesized, *done} - {"Resources", "Outputs"}:
        assert done[section] == synthesized[section]
    own = {EXPORTS, IMPORTS, WRITER, READER}
    for name, each in done["Resources"].items():
        assert each["Type"] in own or each == synthesized["Resources"][name]
    for name, each in synthesized.get("Outputs", {}).items():
        assert done["Outputs"][name] == each


@pytest.mark.parametrize("settings", [{}, {"Writers": "remove"}, {"Readers": "keep"}], ids=str)
def test_the_template_stays_as_it_was_and_what_it_becomes_stays_so(
    synthesized: Template, settings: dict[str, str]
) -> None:
    given = with_settings(synthesized, **settings)
    before = deepcopy(given)
    done = transformed(given)
    assert given == before
    assert plan(done, Settings()) == TemplateEdits()


def test_the_functions_accept_what_is_made(synthesized: Template) -> None:
    done = transformed(synthesized)
    for each in properties_of(done, EXPORTS):
        keys = {key: ["x"] if "NameServers" in key else "x" for key in each["Values"]}
        sent = {**each, "Values": keys, "Hold": "hold"}
        del sent["ServiceToken"]
        assert ExportRequest.parse(sent, StackArn.parse(WEB)).on_change is OnChange.REFUSE
    for each in properties_of(done, IMPORTS):
        assert ImportRequest.parse({"Names": each["Names"]}, StackArn.parse(WEB)).producer is None
        assert set(each) == {"ServiceToken", "Names"}


def test_cfn_lint_finds_nothing_new(synthesized: Template) -> None:
    assert findings(transformed(synthesized)) - findings(synthesized) == set()


def findings(given: Template) -> set[tuple[str, str]]:
    """What cfn-lint finds, whatever the resource is called that a value comes from or goes to."""
    other = re.compile(r"'(ExportsReader|Imports)\w*', '(/cdk/exports/[\w-]+/)?| at Resources/.*")
    return {(each.rule, other.sub("", each.text)) for each in lint(json.dumps(given))}


def test_a_certificate() -> None:
    """The whole of it: what the exporting and the importing stack become."""
    key = "Certuseast1RefC375D67C5555DFCB4"
    exporting, importing = shape("certificate-Cert"), shape("certificate-Site")
    hold = {"Fn::Sub": "${AWS::StackName}-ExportsSitea4ae220b"}
    export = {
        "ServiceToken": {"Fn::ImportValue": "strongref-exporter"},
        "Region": "eu-west-1",
        "Consumer": "Site",
        "Hold": hold,
        "Values": {key: {"Ref": "C375D67C5"}},
    }
    done = deepcopy(transformed(exporting))
    (writer_id,) = of_type(exporting, WRITER)
    exporting["Resources"][writer_id]["DependsOn"] = ["ExportsSitea4ae220b"]
    exporting["Resources"]["ExportsSitea4ae220b"] = {"Type": EXPORTS, "Properties": export}
    output = {"Value": get("ExportsSitea4ae220b", "Hold"), "Export": {"Name": hold}}
    assert done == {**exporting, "Outputs": {"ExportsSitea4ae220bHold": output}}
    viewer = {"ViewerCertificate": {"AcmCertificateArn": get("Imports2fb6f13b", key)}}
    importer = {"ServiceToken": {"Fn::ImportValue": "strongref-importer"}, "Names": [key]}
    assert transformed(importing)["Resources"] == {
        "DCB28BBFE": {"Type": "AWS::CloudFront::Distribution", "Properties": {"DistributionConfig": viewer}},
        "Imports2fb6f13b": {"Type": IMPORTS, "Properties": importer},
    }


def test_names_of_lambda_versions_stay_with_the_cdk_on_both_sides() -> None:
    names = ["/cdk/exports/Cons/Produseast1RefFCurrentVersion58B8A55D7749ed525f29a5cb49be4da2f7c731104A799A6C"]
    names += [
        "/cdk/exports/Cons/Produseast1FnGetAttFCurrentVersion58B8A55D7749ed525f29a5cb49be4da2f7c73110Version8749FC94"
    ]
    exporting = with_settings(shape("lambda_version-Prod"), Writers="remove")
    (written,) = properties_of(transformed(exporting), WRITER)
    assert list(written["WriterProps"]["exports"]) == names
    done = transformed(shape("lambda_version-Cons"))
    ((_, left),) = of_type(done, READER).items()
    assert list(left["Properties"]["ReaderProps"]["imports"]) == names
    assert left["DependsOn"] == [*of_type(done, IMPORTS)]
    only = template(Reader=reader([LAMBDA]), Site=resource({"Arn": get("Reader", LAMBDA)}), **provider("Reader"))
    assert plan(only, Settings()) == TemplateEdits()


def test_other_references_of_the_cdk_are_untouched() -> None:
    for name in ("strength_both-Cons", "strength_weak-Cons"):
        assert plan(shape(name), Settings()) == TemplateEdits()
    name = "nested_lambda_version_and_edge_function-Cons"
    (edge,) = of_type(shape(name), "Custom::CrossRegionStringParameterReader").items()
    assert edge in transformed(shape(name))["Resources"].items()


def test_120_names_take_eight_imports() -> None:
    names = [cdk_name(f"Produseast1RefTopicT{number:03}{number:08X}{number:08X}") for number in range(120)]
    given = template(Reader=reader(names), Site=resource({name: get("Reader", name) for name in names}))
    assert len(imports(given)) == 8
    assert len(imports(given, value_bytes=256)) == 16
    assert len(imports(with_settings(given, ValueBytes=256), value_bytes=1)) == 16


def test_writers_can_be_removed_with_their_provider() -> None:
    exported = {CERTIFICATE: {"Ref": "Certificate"}, cdk_name("Zone", "Shop"): get("Zone", "NameServers")}
    given = template(Writer=writer(exported), Other=writer(exported, "ap-south-1"), **provider("Writer"))
    done = transformed(with_settings(given, Writers="remove"))
    assert {each["Type"] for each in done["Resources"].values()} == {EXPORTS}
    made = [(each["Region"], each["Consumer"], each["Values"]) for each in properties_of(done, EXPORTS)]
    assert made == [
        (region, consumer, {key: value})
        for region in ("eu-west-1", "ap-south-1")
        for consumer, key, value in (
            ("Site", "CertificateArn", {"Ref": "Certificate"}),
            ("Shop", "Zone", get("Zone", "NameServers")),
        )
    ]


@pytest.mark.parametrize(
    "user",
    [
        {"Arn": get("ReaderFunction", "Arn")},
        {"Arn": {"Fn::GetAtt": "ReaderFunction.Arn"}},
        {"Name": {"Fn::Sub": "x-${ReaderFunction}"}},
        {"Name": {"Fn::Sub": ["${Name}-${ReaderFunction.Arn}", {"Name": "x"}]}},
    ],
    ids=str,
)
def test_a_provider_that_something_else_uses_stays(user: Template) -> None:
    given = template(Reader=reader([CERTIFICATE]), Site=resource(user), **provider("Reader"))
    assert provider("Reader").items() <= transformed(given)["Resources"].items()
    given["Resources"]["Site"] = resource({}, DependsOn="ReaderFunction")
    assert provider("Reader").items() <= transformed(given)["Resources"].items()


def test_a_role_that_something_else_uses_stays_without_its_function() -> None:
    site = resource({"Name": {"Fn::Sub": ["${ReaderFunction}", {"ReaderFunction": {"Ref": "ReaderRole"}}]}})
    given = template(Reader=reader([CERTIFICATE]), Site=site, **provider("Reader"))
    done = transformed(given)["Resources"]
    assert "ReaderFunction" not in done
    assert done["ReaderRole"] == given["Resources"]["ReaderRole"]


def test_a_service_token_of_something_else_stays() -> None:
    given = template(Reader=reader([CERTIFICATE]), ReaderFunction={"Type": "AWS::SNS::Topic"})
    assert transformed(given)["Resources"].keys() >= {"ReaderFunction"}


def test_a_writer_without_values_is_removed_too() -> None:
    given = with_settings(template(Writer=writer({}), Site=resource({}), **provider("Writer")), Writers="remove")
    assert [*transformed(given)["Resources"]] == ["Site"]


def test_a_property_with_the_name_of_an_attribute_is_none() -> None:
    given = template(Reader=reader([CERTIFICATE]), Site=resource({"Containers": [{"DependsOn": ["Reader"]}]}))
    assert transformed(given)["Resources"]["Site"] == given["Resources"]["Site"]


def test_readers_can_be_kept() -> None:
    given = template(
        Reader=reader([CERTIFICATE]), Site=resource({"A": {"Ref": "Reader"}}), Writer=writer({CERTIFICATE: "a"})
    )
    done = transformed(with_settings(given, Readers="keep"))
    assert [done["Resources"][each] for each in ("Reader", "Site")] == [
        given["Resources"][each] for each in ("Reader", "Site")
    ]
    assert [*of_type(done, EXPORTS)] == done["Resources"]["Writer"]["DependsOn"]


def test_changes_can_be_propagated_and_holds_be_left_out() -> None:
    given = with_settings(template(Writer=writer({CERTIFICATE: "a"})), OnChange="propagate")
    (export,) = properties_of(transformed(given, hold=False), EXPORTS)
    assert export["OnChange"] == "propagate"
    assert "Hold" not in export
    assert transformed(given, hold=False).keys() == given.keys()


def test_a_writer_shares_an_export_with_the_resources_that_export_to_the_same_stack() -> None:
    exports = {"As": "Vpc", "Region": "eu-west-1", "Consumer": "Site"}
    given = template(Vpc=resource({}, Exports=exports), Writer=writer({CERTIFICATE: {"Ref": "Certificate"}}))
    ((logical_id, export),) = of_type(transformed(given), EXPORTS).items()
    assert export["Properties"]["Values"] == {"CertificateArn": {"Ref": "Certificate"}, "Vpc": {"Ref": "Vpc"}}
    assert "DependsOn" not in export
    assert transformed(given)["Resources"]["Writer"]["DependsOn"] == [logical_id]
    given["Resources"]["Vpc"]["Exports"]["As"] = "CertificateArn"
    (conflict,) = problems(given)
    assert "in the value of CertificateArn" in conflict


def test_what_depends_on_a_reader_depends_on_its_imports() -> None:
    names = [CERTIFICATE, cdk_name("Zone")]
    given = template(
        Reader=reader(names),
        One=resource({}, DependsOn="Reader"),
        Several=resource({}, DependsOn=["One", "Reader"]),
        Writer=writer({CERTIFICATE: ""}, "us-east-1", DependsOn="Reader"),
        Other=writer({CERTIFICATE: ""}, DependsOn=["One"]),
        Last=resource({}, DependsOn="Other"),
    )
    done = transformed(given)
    made, (first, second) = [*of_type(done, IMPORTS)], of_type(done, EXPORTS)
    orders = {name: each.get("DependsOn") for name, each in done["Resources"].items() if name in given["Resources"]}
    assert orders == {
        "One": made,
        "Several": ["One", *made],
        "Writer": [*made, first],
        "Other": ["One", second],
        "Last": "Other",
    }
    assert transformed(with_settings(given, Writers="remove"))["Resources"]["Last"]["DependsOn"] == [second]


def test_values_that_move_into_an_export_read_from_imports_too() -> None:
    read = get("Reader", CERTIFICATE)
    given = template(
        Reader=reader([CERTIFICATE]),
        Vpc=resource({}, Exports={"Values": {"Own": {"Fn::Join": ["", ["x", read]]}}, "Consumer": "Shop"}),
        Writer=writer({cdk_name("Cert", "Shop"): read}),
        Site=resource({"ARef": ref("A", stack=read)}),
    )
    done = transformed(given)
    assert '"Reader"' not in json.dumps(done)
    assert [*of_type(done, IMPORTS)] != []
    text = json.dumps([properties_of(done, EXPORTS), properties_of(done, IMPORTS), properties_of(done, WRITER)])
    assert text.count('"CertificateArn"]}') == 5  # one of them is in `Names`


def test_a_reader_may_have_a_condition() -> None:
    given = template(
        Reader=reader([CERTIFICATE], Condition="IsNew"), Writer=writer({CERTIFICATE: "a"}, Condition="IsNew")
    )
    done = transformed(given | {"Conditions": {"IsNew": {"Fn::Equals": ["a", {"Ref": "AWS::Region"}]}}})
    assert [each["Condition"] for each in of_type(done, IMPORTS).values()] == ["IsNew"]
    (export,) = properties_of(done, EXPORTS)
    assert export["Values"] == {"CertificateArn": {"Fn::If": ["IsNew", "a", {"Ref": "AWS::NoValue"}]}}


def test_uses_are_found_as_text_and_anywhere() -> None:
    read = {"Fn::GetAtt": f"Reader.{CERTIFICATE}"}
    loop = [
        "Name",
        ["a"],
        {"Site${Name}": resource({"A": {"Fn::If": ["C", read, {"Fn::Sub": ["${A}", {"A": read}]}]}})},
    ]
    given = template(Reader=reader([CERTIFICATE]), **{"Fn::ForEach::Sites": loop})
    ((logical_id, _),) = imports(given | {"Resources": {"Reader": reader([CERTIFICATE])}}).items()
    done = json.dumps(transformed(given))
    assert "Reader" not in done
    assert done.count(json.dumps(get(logical_id, "CertificateArn"))) == 2


REPLACES = "StrongRef replaces Reader, and cannot replace this use of it; "


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"Site": resource({"A": {"Ref": "Reader"}})}, "Site.Properties.A"),
        ({"Site": resource({"A": get("Reader", cdk_name("Other"))})}, "Site.Properties.A"),
        ({"Site": resource({"A": {"Fn::Sub": "x${Reader}"}})}, "Site.Properties.A.Fn::Sub"),
        ({"Site": resource({"A": {"Fn::Sub": [f"${{Reader.{CERTIFICATE}}}", {}]}})}, "Site.Properties.A.Fn::Sub"),
        (
            {"Fn::ForEach::Sites": ["Name", ["a"], {"Site${Name}": resource({}, DependsOn="Reader")}]},
            "Fn::ForEach::Sites[2].Site${Name}.DependsOn",
        ),
    ],
    ids=str,
)
def test_a_use_that_cannot_be_replaced_is_reported(given: Template, where: str) -> None:
    (text,) = problems(template(Reader=reader([CERTIFICATE]), **given))
    assert text.startswith(f"{where}: {REPLACES}")
    if "DependsOn" not in where:  # a Reader that stays for a Lambda version loses its other names
        read = "Other" not in str(given) and CERTIFICATE in str(given)
        assert bool(problems(template(Reader=reader([CERTIFICATE, LAMBDA]), **given))) is read


def test_a_function_in_conditions_is_reported() -> None:
    equal = {"Fn::Equals": [get("Reader", CERTIFICATE), ""]}
    for section in ("Conditions", "Rules"):
        (text,) = problems(template(Reader=reader([CERTIFICATE])) | {section: {"IsNew": equal}})
        assert text.startswith(f"{section}.IsNew.Fn::Equals[0]: {REPLACES}CloudFormation reads this before")


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ([], "Metadata.StrongRef: must be a map of settings, got a list"),
        ({"Reader": "keep"}, "Metadata.StrongRef.Reader: no such key (did you mean Readers?); allowed are Writers, "),
        ({"Readers": "remove"}, "Metadata.StrongRef.Readers: must be replace or keep, got 'remove'"),
        ({"Writers": True}, "Metadata.StrongRef.Writers: must be keep or remove, got 'true'"),
        ({"OnChange": "ask"}, "Metadata.StrongRef.OnChange: must be refuse or propagate, got 'ask'"),
        ({"ValueBytes": 0}, "Metadata.StrongRef.ValueBytes: must be a number from 1 to 3296"),
    ],
)
def test_a_wrong_setting_is_reported(given: object, reported: str) -> None:
    (text,) = problems(template({}) | {"Metadata": {"StrongRef": given}})
    assert text.startswith(reported)


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        (
            writer({"Ref": "A"}),
            ".Properties.WriterProps.exports: must be a map of names, as the CDK writes it, got a function",
        ),
        (
            writer({CERTIFICATE: "a"}, {"Ref": "AWS::Region"}),
            ".Properties.WriterProps.region: must be a region code such as",
        ),
        (
            writer({"/cdk/exports/Cert": "a"}),
            ".Properties.WriterProps.exports./cdk/exports/Cert: must be /cdk/exports/, a",
        ),
        (
            reader(["/cdk/exports/Site/A.B"]),
            ".Properties.ReaderProps.imports./cdk/exports/Site/A.B: must be /cdk/exports/",
        ),
        ({"Type": READER}, ".Properties.ReaderProps"),
    ],
)
def test_what_the_cdk_does_not_write_is_reported(given: Template, reported: str) -> None:
    (text,) = problems(template(Custom=given))
    assert text.startswith(f"Custom{reported}")


def test_a_logical_id_that_an_export_or_an_import_needs_is_reported() -> None:
    given = template(Writer=writer({CERTIFICATE: "a"}), ExportsSitea4ae220b={"Type": EXPORTS, "Properties": {}})
    (text,) = problems(given)
    assert text.startswith("ExportsSitea4ae220b: this name is reserved for an Export")


def test_resources_that_are_removed_make_room() -> None:
    plenty = {f"R{number}": resource({}) for number in range(497)}
    assert problems(template(Reader=reader([CERTIFICATE]), **provider("Reader"), **plenty)) == []
    named = [cdk_name(f"Name{number}") for number in range(120)]
    (text,) = problems(template(Reader=reader(named), **provider("Reader"), **plenty))
    assert "must be at most 500 resources, got 50" in text
