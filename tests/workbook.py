"""Excel files without a library that writes them."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path


def write_workbook(path: Path, sheets: dict[str, Sequence[Sequence[str | float]]]) -> None:
    """An Excel file as small as one can be."""
    with zipfile.ZipFile(path, "w") as file:
        names = list(enumerate(sheets, start=1))
        main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        linked = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        package = "http://schemas.openxmlformats.org/package/2006"
        listed = "".join(f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in names)
        links = "".join(
            f'<Relationship Id="r{n}" Type="{linked}/worksheet" Target="worksheets/s{n}.xml"/>'
            for n, _ in names
        )
        kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
        parts = "".join(
            f'<Override PartName="/xl/worksheets/s{n}.xml" ContentType="{kind}.worksheet+xml"/>'
            for n, _ in names
        )
        file.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/><Override PartName='
            f'"/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>{parts}</Types>',
        )
        file.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r0" '
            f'Type="{linked}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        file.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{linked}"><sheets>{listed}</sheets></workbook>',
        )
        file.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships">{links}</Relationships>',
        )
        for number, name in names:
            rows = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in sheets[name])
            file.writestr(
                f"xl/worksheets/s{number}.xml",
                f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>',
            )


def _cell(value: str | float) -> str:
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c><v>{value}</v></c>"
