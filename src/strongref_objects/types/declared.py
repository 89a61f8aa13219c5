"""How a type of object is declared: its members, and where each comes from. Everything else follows.

    class Bucket(Declared, type_name="AWS::S3::Bucket", arn=ArnForm("arn:{partition}:s3:::{name}")):
        \"\"\"An S3 bucket.\"\"\"

        bucket_arn: Text = text("Arn", form="{arn}")
        bucket_name: Text = text(REF, form="{name}")

Such a class is a frozen dataclass. It writes and reads itself under the CDK's names, `BucketArn` and `BucketName`, and
can be made of a template's resource, of an ARN, of a name, or of a resource that Cloud Control describes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

from strongref.arns import Arn
from strongref_objects.base.errors import MissingMembersError, NotANameError, NotAnArnError, OtherArnError
from strongref_objects.types.arn_forms import ArnForm, check_location, check_text, fill, hashable, is_unresolved
from strongref_objects.types.members import REF, members
from strongref_objects.types.shared_object import SharedObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from strongref_objects.base import ObjectCache, Text


class Scope(Protocol):
    """Where objects are used: a stack."""

    made: ObjectCache  # its objects


class Declared(SharedObject):
    """The base class of declared types."""

    @classmethod
    def of_resource(cls, logical_id: str, **given: Any) -> Self:
        """The object that a resource of the same template is.

        Args:
            logical_id: the resource's.
            **given: members that do not follow from its attributes.

        Raises:
            MissingMembersError: such a member is missing.
            UnknownMembersError: the type has no such member.
        """

        def get(name: str) -> Text | None:
            attribute = members(cls)[name].attribute
            if attribute is None:
                return None
            return {REF: logical_id} if attribute == REF else {"Fn::GetAtt": [logical_id, attribute]}

        return cls.assembled_by(get, given, "its attributes in a template")

    @classmethod
    def from_arn(cls, arn: Text, *, scope: Scope | None = None, **given: Any) -> Self:
        """The object of an existing resource, by its ARN. No AWS call is made; existence is not checked.

        Args:
            arn: text, or an intrinsic function or token, which CloudFormation then takes apart.
            scope: a stack in which the same ARN always gives the same object.
            **given: members that do not follow from the ARN.

        Raises:
            WrongTypeError: the ARN is neither text nor an intrinsic function.
            NotAnArnError: the text is not an ARN.
            OtherArnError: it is the ARN of something else.
            MissingMembersError: a member that does not follow from the ARN is missing.
            UnknownMembersError: the type has no such member.
        """
        form = cls._form()
        check_text(cls.declared.label, "ARN", arn)
        fields = form.fields_of_unresolved(arn) if is_unresolved(arn) else form.fields(cls._parsed(str(arn)))
        return cls._once(scope, (arn, given), lambda: cls._filled(fields, given, "its ARN"))

    @classmethod
    def from_name(
        cls,
        name: Text,
        *,
        partition: Text | None = None,
        region: Text | None = None,
        account: Text | None = None,
        scope: Scope | None = None,
        **given: Any,
    ) -> Self:
        """The object of an existing resource, by its name. No AWS call is made; existence is not checked.

        Args:
            name: the end of its ARN: a name, or an ID if such resources have no names.
            partition: by default that of the region, or of the stack that uses it.
            region: by default that of the stack.
            account: by default that of the stack.
            scope: as in `from_arn`.
            **given: as in `from_arn`.

        Raises:
            NotANameError: it is not a valid name.
            BadLocationError: the partition, region or account is not valid.
            ObjectError: as `from_arn`.
        """
        form = cls._form()
        check_text(cls.declared.label, "name", name)
        check_location(cls.declared.label, {"partition": partition, "region": region, "account": account})
        if not is_unresolved(name) and not form.is_name(str(name)):
            raise NotANameError(cls.declared.label, str(name), form.name)
        fields = form.fields_of_name(name, partition, region, account)
        return cls._once(scope, (fields, given), lambda: cls._filled(fields, given, "its name"))

    @classmethod
    def _filled(cls, fields: Mapping[str, Text], given: Mapping[str, Any], source: str) -> Self:
        def get(name: str) -> Text | None:
            form = members(cls)[name].form
            return fill(form, fields) if form else None

        return cls.assembled_by(get, given, source)

    @classmethod
    def _once(cls, scope: Scope | None, key: object, make: Callable[[], Self]) -> Self:
        return scope.made.get((cls, hashable(key)), make) if scope else make()

    @classmethod
    def _form(cls) -> ArnForm:
        form = cls.declared.arn
        if form is None:
            raise MissingMembersError(
                cls.declared.label, list(members(cls)), "an ARN or a name, which it does not have"
            )
        return form

    @classmethod
    def _parsed(cls, text: str) -> Arn:
        form, arn = cls._form(), Arn.parse(text)
        if arn is None:
            raise NotAnArnError(cls.declared.label, text, is_name=form.is_name(text))
        if not form.fits(arn):
            fitting = (each.declared for each in every_type() if each.declared.arn and each.declared.arn.fits(arn))
            raise OtherArnError(cls.declared.label, text, form.text, next((each.label for each in fitting), None))
        return arn


def every_type(base: type[Declared] = Declared) -> Iterator[type[Declared]]:
    """Every type that is declared so far."""
    for each in base.__subclasses__():
        yield each
        yield from every_type(each)
