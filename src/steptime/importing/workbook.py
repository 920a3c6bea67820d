"""Sheets of an .xlsx workbook: a zip of XML, read with limits, since both can be made to explode.

openpyxl would be 250 kB of dependency for cells that are text or figures; what is needed here fits on a page.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

from steptime.importing.source_file import Refused

MAX_MEMBERS = 500
MAX_MEMBER_BYTES = 16 << 20
MAX_RATIO = 100
NAMESPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

Row = dict[str, str]
"""a cell's column letters to its text"""


def is_workbook(content: bytes) -> bool:
    return content[:4] == b"PK\x03\x04" and b"xl/" in content


def sheets(content: bytes) -> Iterator[tuple[str, list[tuple[int, Row]]]]:
    """The name of each sheet, and its rows with their numbers."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if len(archive.infolist()) > MAX_MEMBERS:
                raise Refused(f"{len(archive.infolist())} parts; the limit is {MAX_MEMBERS}")
            strings = _strings(archive)
            targets = {r.get("Id"): r.get("Target", "") for r in _xml(archive, "xl/_rels/workbook.xml.rels")}
            for sheet in _xml(archive, "xl/workbook.xml").iter(f"{NAMESPACE}sheet"):
                target = targets.get(sheet.get(RELATION), "").lstrip("/").removeprefix("xl/")
                yield sheet.get("name", ""), list(_rows(_xml(archive, f"xl/{target}"), strings))
    except (zipfile.BadZipFile, KeyError, NotImplementedError, EOFError, OSError) as problem:
        raise Refused(f"damaged workbook: {problem}") from None


def _xml(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    member = archive.getinfo(name)
    if member.file_size > MAX_MEMBER_BYTES or member.file_size > MAX_RATIO * member.compress_size + 65536:
        raise Refused(f"{name} unpacks from {member.compress_size} to {member.file_size} bytes, beyond the limit")
    with archive.open(member) as file:
        content = file.read(MAX_MEMBER_BYTES + 1)
    if len(content) > MAX_MEMBER_BYTES:
        raise Refused(f"{name} is larger than it says")
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise Refused(f"{name} declares entities, which no spreadsheet needs")
    try:
        return ElementTree.fromstring(content)
    except ElementTree.ParseError as problem:
        raise Refused(f"{name}: {problem}") from None


def _strings(archive: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in archive.namelist():
        return []
    items = _xml(archive, "xl/sharedStrings.xml").findall(f"{NAMESPACE}si")
    return ["".join(text.text or "" for text in item.iter(f"{NAMESPACE}t")) for item in items]


def _rows(sheet: ElementTree.Element, strings: list[str]) -> Iterator[tuple[int, Row]]:
    for count, row in enumerate(sheet.iter(f"{NAMESPACE}row"), start=1):
        cells = {}
        for cell in row.findall(f"{NAMESPACE}c"):
            text = _text(cell, strings)
            if text:
                cells[re.sub(r"\d", "", cell.get("r", ""))] = text
        yield int(row.get("r", count)), cells


def _text(cell: ElementTree.Element, strings: list[str]) -> str:
    if cell.get("t") == "inlineStr":
        return "".join(text.text or "" for text in cell.iter(f"{NAMESPACE}t")).strip()
    value = cell.find(f"{NAMESPACE}v")
    text = (value.text or "").strip() if value is not None else ""
    if cell.get("t") == "s" and text.isdigit():
        return strings[int(text)].strip() if int(text) < len(strings) else ""
    return text
