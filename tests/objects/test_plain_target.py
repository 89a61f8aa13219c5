"""A template that is a dictionary, and what is read of JSON and of variables."""

from __future__ import annotations

import pytest

from strongref_objects import PlainTarget, Stack, from_environment, from_json
from strongref_objects.base.errors import (
    BadValueError,
    NameClashError,
    NothingToImportError,
    UnreadableError,
    WrongKindError,
)
from strongref_objects.channels.texts import EnvironmentSerializationContext

TEMPLATE = {
    "Description": "mine",
    "Parameters": {"Given": {"Type": "String"}},
    "Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}},
    "Outputs": {"Bucket": {"Value": {"Ref": "Bucket"}}},
}


def test_what_is_put_comes_next_to_what_there_is_which_stays_as_it_is() -> None:
    target = PlainTarget("storage", template=TEMPLATE)
    Stack(target).export_string("Name", {"Ref": "Bucket"})
    target.put_resource("Topic", "AWS::SNS::Topic", {"DisplayName": "d"})
    target.put_resource("Other", "AWS::SNS::Topic", {})
    target.put_output("Plain", "p", export=None, description=None)
    whole = target.template()
    assert whole["Description"] == "mine"
    assert whole["Resources"] == {
        "Bucket": {"Type": "AWS::S3::Bucket"},
        "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": "d"}},
        "Other": {"Type": "AWS::SNS::Topic"},
    }
    assert len(whole["Outputs"]) == 3
    assert whole["Outputs"]["Plain"] == {"Value": "p"}
    assert list(TEMPLATE["Outputs"]) == ["Bucket"]


def test_the_template_is_a_copy() -> None:
    target = PlainTarget("storage", template=TEMPLATE)
    target.put_resource("Topic", "AWS::SNS::Topic", {"Tags": []})
    target.template()["Resources"]["Topic"]["Properties"]["Tags"].append("x")
    assert target.template()["Resources"]["Topic"]["Properties"] == {"Tags": []}


def test_what_is_put_twice_is_replaced_and_not_taken() -> None:
    target = PlainTarget("storage", template=TEMPLATE)
    target.put_output("A", "1", export="x", description=None)
    target.put_output("A", "2", export=None, description="d")
    assert target.template()["Outputs"]["A"] == {"Description": "d", "Value": "2"}
    assert [each for each in ("A", "Bucket", "Given", "Unknown") if target.has(each)] == ["Bucket", "Given"]


def test_a_function_is_the_same_however_it_is_written() -> None:
    target = PlainTarget("storage")
    assert target.canonical({"Fn::GetAtt": "A.B.C"}) == target.canonical({"Fn::GetAtt": ["A", "B.C"]})
    assert target.canonical({"Fn::Join": [",", [{"Fn::GetAtt": "A.B"}, "x"]]}) == {
        "Fn::Join": [",", [{"Fn::GetAtt": ["A", "B"]}, "x"]]
    }
    assert target.canonical(("a", "b")) == ["a", "b"]


def test_a_map_is_unresolved_and_a_list_that_holds_one() -> None:
    target = PlainTarget("storage")
    assert [target.is_unresolved(each) for each in ({"Ref": "A"}, ["a", {"Ref": "A"}], ["a"], "a")] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "said"), [("{", "it is not valid JSON"), ("[]", "its JSON is not an object"), ("1", "not an object")]
)
def test_what_is_no_objects_json_is_reported(text: str, said: str) -> None:
    with pytest.raises(UnreadableError, match=said):
        from_json(text)
    with pytest.raises(UnreadableError, match="Web cannot be read"):
        from_environment("Web", {"WEB": text})


def test_what_is_not_in_the_json_is_reported_with_what_is_close() -> None:
    ctx = from_json({"loadBalancerArn": "a", "group": {"id": "1"}}, "Web")
    with pytest.raises(NothingToImportError) as caught:
        ctx.read_string("LoadBalancerArm")
    assert "There is no LoadBalancerArm in the JSON of Web. Did you mean loadBalancerArn?" in str(caught.value)
    with pytest.raises(NothingToImportError, match=r"There is no Group.Id.X in the JSON of Web"):
        ctx.read_object("Group").read_object("Id").read_string("X")
    with pytest.raises(NothingToImportError, match="in the JSON"):
        from_json("{}").read_string("A")


def test_json_that_someone_else_wrote_may_hold_what_objects_do_not() -> None:
    ctx = from_json('{"port": 5432, "zones": ["a", 1], "tls": true}')
    for key in ("Port", "Tls", "Zones"):
        with pytest.raises(WrongKindError, match="neither a text, a list of texts nor an object: write it as a string"):
            ctx.read_string(key)
    with pytest.raises(WrongKindError):
        ctx.read_string_list("Zones")


def test_what_is_in_no_variable_is_reported() -> None:
    with pytest.raises(NothingToImportError, match=r"There is no Web in the environment variables. Did you mean WEBB?"):
        from_environment("Web", {"WEBB": "x"})
    ctx = from_environment("Web", {"WEB_ARN": "a"})
    with pytest.raises(NothingToImportError, match=r"no Web.Group.Id in .* \(WEB_GROUP_ID is not set\)"):
        ctx.read_object("Group").read_string("Id")


def test_variables_are_the_processs_own_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_SITE_URL", "https://example.com")
    assert from_environment("WebSite").read_string("Url") == "https://example.com"


def test_one_variable_that_is_no_json_is_not_the_object_where_each_value_has_its_own() -> None:
    variables = {"APP": "prod", "APP_URL": "u"}
    assert from_environment("App", variables).read_string("Url") == "u"
    assert from_environment("App", {**variables, "APP": ' {"url": "v"}'}).read_string("Url") == "v"


def test_two_objects_whose_variables_would_be_one_are_refused_where_they_are_put_together() -> None:
    web = EnvironmentSerializationContext("Web")
    web.write_string("ApiUrl", "1")
    for value, same in (("1", True), ("2", False)):
        other = EnvironmentSerializationContext("WebApi", into={"STAGE": "prod", **web.variables})
        other.write_string("Url", value)
        other.write_string("Arn", "a")
        if same:
            assert other.variables == {"STAGE": "prod", "WEB_API_URL": "1", "WEB_API_ARN": "a"}
        else:
            with pytest.raises(NameClashError) as caught:
                _ = other.variables
            assert str(caught.value).startswith(
                "'WEB_API_URL' and 'WebApi.Url' would both be written as WEB_API_URL. Rename one of them."
            )


def test_what_is_dropped_is_there_no_longer() -> None:
    target = PlainTarget("storage", template=TEMPLATE)
    target.put_resource("Topic", "AWS::SNS::Topic", {})
    target.drop_resource("Topic")
    assert target.template() == PlainTarget("storage", template=TEMPLATE).template()


def test_the_exports_of_the_template_s_own_outputs_are_known() -> None:
    exported = {"Bucket": {"Value": "b", "Export": {"Name": "Store"}}, "Other": {"Value": "o"}}
    target = PlainTarget("storage", template={"Outputs": exported})
    target.put_output("Put", "p", export="Put", description=None)
    assert target.exports() == {"Store": "Bucket"}


def test_a_list_that_variables_cannot_hold_is_refused() -> None:
    ctx = EnvironmentSerializationContext("Web")
    ctx.write_string_list("Zones", ["a,b"])
    with pytest.raises(BadValueError, match="contains a comma"):
        _ = ctx.variables


def test_a_context_of_json_has_the_objects_name_for_its_id() -> None:
    assert from_json("{}", "Web").id == "Web"
    assert from_json("{}").id == "json"
    assert from_environment("Web", {"WEB_ARN": "a"}).id == "Web"
