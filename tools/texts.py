"""`make texts`: writes what is generated into the pages, the template and the files for editors.

Tests check that all of it is current.
"""

from __future__ import annotations

from tests.support import error_texts
from tools import beliefs, cli_page, targets, template_schema, version

if __name__ == "__main__":
    error_texts.main()
    version.TEMPLATE.write_text(version.written(), "utf-8")
    beliefs.PAGE.write_text(beliefs.written(), "utf-8")
    for path, text in {**cli_page.pages(), **template_schema.pages(), **targets.pages()}.items():
        path.write_text(text, "utf-8")
