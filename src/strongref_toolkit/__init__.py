"""What the packages on people's machines share: session, calls to AWS, files, memos. Nothing is public."""

__all__: list[str] = []
