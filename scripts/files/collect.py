"""Collects files to translate from packages: collect.py PACKAGES CORPUS

Of each extension it takes at most MOST files, of each package in turn, none twice. A package or a .ts has at most LARGEST bytes and
another file LONGEST: more of the same finds little. Which ones is always the same: those whose hashes are the smallest.
"""
import hashlib
import io
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

MOST, LARGEST, LONGEST = 80, 2 << 20, 100 << 10
EXTENSIONS = set("""
txt md markdown mdx ipynb html htm xhtml srt vtt sbv lrc ass ssa ttml dfxp itt csv tsv json arb jsonl yaml yml po pot xlf xliff
sdlxliff mqxliff mxliff tmx ts properties resx resw strings stringsdict xcstrings xml ftl php eml svg
docx docm dotx dotm pptx pptm ppsx ppsm potx potm xlsx xlsm xltx xltm odt ott odp otp ods ots fodt fods fodp odg epub
""".split())
PACKAGE = re.compile("(doc|dot|ppt|pps|pot|xls|xlt)[xm]|o[td][tpsg]|epub|ts")
ROOT = re.compile(rb"<(?:\w+:)?([A-Za-z][\w.-]*)[\s/>]")
ROOTS = {b"resources", b"xliff", b"tt", b"TS"}


def wanted(name, content):
    if name.endswith(".lbx.strings"):  # of biblatex
        return False
    extension = name.rpartition(".")[2].lower()
    if extension in ("xml", "ts"):  # other kinds have these extensions too
        root = ROOT.search(re.sub(rb"<!--.*?-->|<\?.*?\?>", b"", content.replace(b"\0", b"")[:1 << 16], flags=re.S))
        return root and root[1] in ROOTS and content.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \n\r\t")[:1] == b"<"
    return content.strip()


def entries(path):
    """Yields names and contents of the files of a package."""
    data, name = None, path.name
    if name.endswith(".deb"):
        data = io.BytesIO(subprocess.run(["dpkg-deb", "--fsys-tarfile", path], check=True, capture_output=True).stdout)
    if name.endswith((".jar", ".aar", ".whl", ".zip")):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if suits(entry.filename, entry.file_size):
                    yield entry.filename, archive.read(entry)
    elif data or ".tar." in name or name.endswith(".tgz"):
        with tarfile.open(path if data is None else None, "r:*", data) as archive:
            for entry in archive:
                if entry.isfile() and suits(entry.name, entry.size):
                    yield entry.name, archive.extractfile(entry).read()


def suits(name, size):
    extension = name.rpartition(".")[2].lower()
    return extension in EXTENSIONS and 0 < size <= (LARGEST if PACKAGE.fullmatch(extension) else LONGEST)


def main(packages, corpus):
    found, seen = {}, set()  # by extension and package: files by hash
    for package in sorted(pathlib.Path(packages).iterdir()):
        for path in sorted(package.iterdir()) if package.is_dir() else []:
            if path.name.endswith((".debian.tar.xz", ".asc")) or "-git.tar" in path.name:
                continue
            for name, content in entries(path):
                digest = hashlib.sha256(content).hexdigest()
                if digest not in seen and wanted(name, content):
                    seen.add(digest)
                    extension = name.rpartition(".")[2].lower()
                    short = f"{package.name.split('-', 1)[1].rsplit('-', 1)[0]}-{digest[:8]}-{re.sub(r'[^A-Za-z0-9.-]', '_', pathlib.PurePath(name).name)}"
                    found.setdefault(extension, {}).setdefault(package.name, []).append((digest, short, content))
    shutil.rmtree(corpus, ignore_errors=True)
    for extension, by_package in sorted(found.items()):
        folder = pathlib.Path(corpus, extension)
        folder.mkdir(parents=True)
        lists = [sorted(files, reverse=True, key=lambda f: f[0]) for _, files in sorted(by_package.items())]
        left = MOST
        while left and any(lists):
            for files in lists:
                if files and left:
                    _, short, content = files.pop()
                    (folder / short).write_bytes(content)
                    left -= 1


main(*sys.argv[1:])
