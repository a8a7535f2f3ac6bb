#!/usr/bin/env python3
"""Makes the packages of a platform from the folder of its archive, with the same bytes each time:

    scripts/release/packages.py VERSION EPOCH OUT PLATFORM FOLDER      a wheel, an npm package, for Linux a .deb
    scripts/release/packages.py VERSION EPOCH OUT      the npm package that takes those of the platforms, a Homebrew formula of the archives in OUT
    scripts/release/packages.py VERSION      prints the version as Python, npm and Debian have it
"""

import base64
import gzip
import hashlib
import io
import json
import pathlib
import re
import stat
import sys
import tarfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUMMARY = "Self-hosted machine translation: the service, and a client for it"
LICENSE = "Apache-2.0"
# Of each platform: the tag of wheels, system and processor of npm, architecture of Debian, condition of Homebrew.
PLATFORMS = {
    "linux-amd64": ("manylinux_2_28_x86_64", "linux", "x64", "amd64", ("linux", "intel")),
    "linux-arm64": ("manylinux_2_28_aarch64", "linux", "arm64", "arm64", ("linux", "arm")),
    "macos-arm64": ("macosx_14_0_arm64", "darwin", "arm64", None, ("macos", "arm")),
    "windows-amd64": ("win_amd64", "win32", "x64", None, None),
}


def versions(described):
    """Return a version of git describe as Python, npm and Debian have it: 1.2.3, or of a commit after it, or of one without a tag."""
    tagged = re.fullmatch(r"v?(\d+\.\d+\.\d+)(?:-(rc|beta|alpha)\.?(\d+))?(?:-(\d+)-g([0-9a-f]+))?(-dirty)?", described)
    if tagged:
        base, stage, number, count, commit, dirty = tagged.groups()
        early = [stage, number] if stage else []
        local = list(filter(None, (count, commit and "g" + commit, dirty and "dirty")))
    else:
        base, early, local = "0.0.0", [], ["g" + re.sub(r"[^0-9A-Za-z]+", ".", described).strip(".").lower()]
    plus = "+" + ".".join(local) if local else ""
    return base + "".join(early) + plus, "-".join(filter(None, (base, ".".join(early + local)))), base + ("~" + "".join(early) if early else "") + plus


def executable(path):
    return bool(path.stat().st_mode & stat.S_IXUSR) or path.suffix == ".exe"


def files(folder, prefix):
    """Return the files below a folder as (name, content, executable), in order."""
    return [(f"{prefix}{path.relative_to(folder).as_posix()}", path.read_bytes(), executable(path)) for path in sorted(folder.rglob("*")) if path.is_file()]


def sources(folder, pattern, prefix):
    return [(prefix + path.name, path.read_bytes(), path.name == "bin.js") for path in sorted((ROOT / folder).glob(pattern))]


def tar(entries, epoch, links=()):
    """Return a .tar.gz: names in order, one time, no owners. entries end with / for folders."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0, compresslevel=9) as packed, tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content, program in entries:
            info = tarfile.TarInfo(name)
            info.mtime, info.mode, info.size = epoch, 0o755 if program else 0o644, len(content)
            if name.endswith("/"):
                info.type, info.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(info, io.BytesIO(content))
        for name, target in links:
            info = tarfile.TarInfo(name)
            info.mtime, info.type, info.linkname, info.mode = epoch, tarfile.SYMTYPE, target, 0o777
            archive.addfile(info)
    return out.getvalue()


def wheel(version, epoch, platform, folder, out):
    tag = f"py3-none-{PLATFORMS[platform][0]}"
    meta = f"dragoman-{version}.dist-info"
    entries = sources("app/client/python/dragoman", "*.py", "dragoman/") + sources("app/client/python/dragoman", "py.typed", "dragoman/")
    entries += files(folder, "dragoman/bin/")
    entries += [
        (f"{meta}/METADATA", f"Metadata-Version: 2.1\nName: dragoman\nVersion: {version}\nSummary: {SUMMARY}\nLicense: {LICENSE}\nRequires-Python: >=3.9\n".encode(), False),
        (f"{meta}/WHEEL", f"Wheel-Version: 1.0\nGenerator: dragoman\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), False),
        (f"{meta}/entry_points.txt", b"[console_scripts]\ndragoman = dragoman.__main__:main\n", False),
    ]
    rows = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}\n" for name, content, _ in entries]
    entries.append((f"{meta}/RECORD", "".join(rows + [f"{meta}/RECORD,,\n"]).encode(), False))
    with zipfile.ZipFile(out / f"dragoman-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content, program in entries:
            info = zipfile.ZipInfo(name, time.gmtime(max(epoch, 315532800))[:6])
            info.external_attr = (stat.S_IFREG | (0o755 if program else 0o644)) << 16
            info.create_system, info.compress_type = 3, zipfile.ZIP_DEFLATED
            archive.writestr(info, content)


def npm_name(platform):
    _, system, processor, *_ = PLATFORMS[platform]
    return f"{system}-{processor}"


def npm_platform(version, epoch, platform, folder, out):
    _, system, processor, *_ = PLATFORMS[platform]
    manifest = {"name": f"@dragoman/{npm_name(platform)}", "version": version, "description": f"dragoman for {npm_name(platform)}",
                "license": LICENSE, "os": [system], "cpu": [processor], "preferUnplugged": True}
    if system == "linux":
        manifest["libc"] = ["glibc"]
    entries = [("package/package.json", json.dumps(manifest, indent=2).encode() + b"\n", False)] + files(folder, "package/bin/")
    (out / f"dragoman-{npm_name(platform)}-{version}.tgz").write_bytes(tar(entries, epoch))


def npm_main(version, epoch, out):
    manifest = json.loads((ROOT / "app/client/javascript/package.json").read_text())
    manifest |= {"version": version, "bin": {"dragoman": "bin.js"},
                 "optionalDependencies": {f"@dragoman/{npm_name(platform)}": version for platform in PLATFORMS}}
    entries = [("package/package.json", json.dumps(manifest, indent=2).encode() + b"\n", False), ("package/LICENSE", (ROOT / "LICENSE").read_bytes(), False)]
    entries += sources("app/client/javascript", "*.js", "package/") + sources("app/client/javascript", "index.d.ts", "package/")
    (out / f"dragoman-npm-{version}.tgz").write_bytes(tar(entries, epoch))


def deb(version, epoch, platform, folder, out):
    arch = PLATFORMS[platform][3]
    unit = (folder / "dragoman.service").read_bytes().decode().replace("/opt/dragoman/", "/usr/lib/dragoman/")
    unit = "".join(line for line in unit.splitlines(keepends=True) if not line.startswith("# sudo"))
    data = [(f"./usr/lib/dragoman/{name}", content, program) for name, content, program in files(folder, "") if name != "dragoman.service"]
    data += [("./usr/lib/systemd/system/dragoman.service", unit.encode(), False), ("./usr/share/doc/dragoman/copyright", (folder / "NOTICE").read_bytes(), False)]
    folders = sorted({"/".join(name.split("/")[:depth]) + "/" for name, _, _ in data for depth in range(2, name.count("/") + 1)} | {"./usr/bin/"})
    size = sum(len(content) for _, content, _ in data) // 1024
    control = (f"Package: dragoman\nVersion: {version}\nArchitecture: {arch}\nMaintainer: dragoman <dragoman@localhost>\nInstalled-Size: {size}\n"
               f"Depends: libc6 (>= 2.28), libstdc++6, libgcc-s1 | libgcc1\nSection: net\nPriority: optional\nDescription: {SUMMARY}\n")
    sums = "".join(f"{hashlib.md5(content).hexdigest()}  {name[2:]}\n" for name, content, _ in data)
    members = [("debian-binary", b"2.0\n"),
               ("control.tar.gz", tar([("./control", control.encode(), False), ("./md5sums", sums.encode(), False)], epoch)),
               ("data.tar.gz", tar([(name, b"", False) for name in folders] + data, epoch, [("./usr/bin/dragoman", "../lib/dragoman/dragoman")]))]
    archive = b"!<arch>\n"
    for name, content in members:
        archive += f"{name:<16}{epoch:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode() + content + b"\n" * (len(content) % 2)
    (out / f"dragoman_{version}_{arch}.deb").write_bytes(archive)


def formula(version, described, out):
    """Write a formula of the archives that lie beside it, or below $HOMEBREW_DRAGOMAN_ARCHIVES."""
    blocks = []
    for platform, (*_, where) in PLATFORMS.items():
        archive = out / f"dragoman-{described}-{platform}.tar.gz"
        if where and archive.exists():
            digest = hashlib.sha256(archive.read_bytes()).hexdigest()
            blocks.append(f"  on_{where[0]} do\n    on_{where[1]} do\n      url \"#{{ARCHIVES}}/{archive.name}\"\n      sha256 \"{digest}\"\n    end\n  end\n")
    (out / "dragoman.rb").write_text(f"""class Dragoman < Formula
  ARCHIVES = ENV.fetch("HOMEBREW_DRAGOMAN_ARCHIVES", "file://#{{__dir__}}")
  desc "{SUMMARY}"
  version "{version}"
  license "{LICENSE}"
{"".join(blocks)}
  def install
    libexec.install Dir["*"]
    bin.install_symlink libexec/"dragoman"
  end

  test do
    assert_match "Où", shell_output("#{{bin}}/dragoman translate -f en -t fr 'Where is the station?'")
  end
end
""")


def main():
    described = sys.argv[1]
    python, npm, debian = versions(described)
    if len(sys.argv) == 2:
        print(python, npm, debian)
        return
    epoch, out = int(sys.argv[2]), pathlib.Path(sys.argv[3])
    if len(sys.argv) == 4:
        npm_main(npm, epoch, out)
        formula(debian, described.removeprefix("v"), out)
        return
    platform, folder = sys.argv[4], pathlib.Path(sys.argv[5])
    wheel(python, epoch, platform, folder, out)
    npm_platform(npm, epoch, platform, folder, out)
    if PLATFORMS[platform][3]:
        deb(debian, epoch, platform, folder, out)


if __name__ == "__main__":
    main()
