#!/usr/bin/env python3
"""memory_faults.py TOOL FOLDER [--all] [NAME...]: runs commands of the tool while allocations fail, in FOLDER, which it makes anew.

TOOL is build/tests/faults/ulna: ULNA_MEMORY_FAULT says which allocation fails, alone or with all that follow (tests/cli/faults). A command
must then end with exit code 1 and a message about memory, or with the exit code and the output of the undisturbed run, if it can do without that
memory. Its files are complete or absent, and no temporary ones are left.

Without --all, some 30 allocations of each command fail, from the first to the last. NAME: only commands with this in their words.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

RUNS = 16 # of each command, for one failure and for all later ones
SECONDS = 60 # in which an undisturbed command ends a hundred times
NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?")
TAKE = "-s ../s/human.asf -m ../s/walk.c3d -a ../s/walk-markers.csv --frames 1:8"
# Options and files of each command, separated by blanks, or by tabs where an argument has blanks. All write to the folder that they run in.
COMMANDS = [
    "help", "help solve", "help --man", "help --completion bash", "help --completion zsh", "help --completion fish", "--version", "--version --json",
    "methods", "methods hybrid", "methods --json",
    "info ../s/human.json", "info ../s/walk.c3d", "info --draw --tree ../s/human.asf", "info --json --draw --tree ../s/human.json",
    "info --json ../s/walk.c3d", "info --values ../s/human.asf ../s/walk-true.amc",
    "sample out", "sample --json --only two-link out",
    "convert ../s/walk.c3d -o w.trc", "convert --json ../s/walk.c3d -o w.csv", "convert ../s/human.asf -o h.bvh", "convert ../s/human.json -o h.glb",
    "convert --json ../s/human.asf ../s/walk-true.amc -o h.bvh -o h.gltf", "convert h.gltf -o h.json", "convert h.gltf -o h.glb", "convert ../s/walk.c3d -o w.c3d", "convert r.urdf -o r.json",
    "reach\tarm\t--goal\t0.4 0.1 0.5\t--json", "reach\tarm\t--goal\t0.4 0.1 0.5\t-o\tr.json\t--all", "reach\tarm\t--nearest\t--json\t--goal\t0.4 0.1 0.5",
    "reach arm --path path.csv -o p.csv", "reach arm --each path.csv -o e.csv -o e.jsonl", "reach arm --bench 20",
    f"solve {TAKE} -o o.amc -o o.bvh -o o.glb -r r.html --json", f"solve {TAKE} -o o.csv -o o.trc --constraints c.json", f"solve {TAKE} -o out/ --json ../again/walk2.c3d",
    f"solve {TAKE} --attach names --threads 2", "solve -m ../s/walk.c3d --frames 1:40 -o o.bvh -o o.c3d",
    "calibrate -s ../s/human.asf -m ../s/walk.c3d --frames 1:40 -o c.csv --scale --model-out m.json --json",
    "batch db -s ../s/human.asf -a ../s/walk-markers.csv -o OUT --options=--frames=1:8", "batch db -s ../s/human.asf -a ../s/walk-markers.csv -o OUT --json --options=--frames=1:8 --isolate=off",
    "batch db -s ../s/human.asf -a ../s/walk-markers.csv -o OUT --dry-run", "batch db -s ../s/human.asf -a ../s/walk-markers.csv -o OUT --slurm 2 --json",
    "global\ttwo-link\t--goal\ttip 1 1 0\t--json\t-o\tg.json", "global\ttwo-link\t--goal\ttip 1 1 0\t-o\tg.csv\t--sdpa\tg.dat-s",
    "compare two-link --frames 1:2 -m hybrid,lm,bfgs -r c.html", "compare two-link --json --frames 1:2 -m hybrid",
    "definiteness two-link --size 12 -o d.svg", "definiteness two-link --size 12 --json",
    "compare two-link --frames 1:1 -m pinv,qr,penalty,sdp --json",
    "paper", "paper a10 --quick -o out", "paper recipe --quick -o out",
]


class Run:
    """One run in a folder of its own, made from the folder `given`."""

    def __init__(self, tool, folder, given, words, fault, seconds):
        if folder.exists():
            shutil.rmtree(folder)
        shutil.copytree(given, folder)
        before = {path for path in folder.rglob("*") if path.is_file()}
        environment = dict(os.environ, ULNA_MEMORY_FAULT=fault, OPENBLAS_NUM_THREADS="1", OMP_WAIT_POLICY="passive", LC_ALL="C.UTF-8")
        try:
            done = subprocess.run([tool, *words], cwd=folder, env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds)
            self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            self.code, self.out, self.err = "none: it hangs", b"", b""
        self.files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path not in before}


def normal(data, name=""):
    """What does not depend on how long something took: curves over time in pages do, too."""
    if re.search(r"\.(html|svg)$", name):
        return data[-20:], set(re.findall(rb"[A-Za-z_]{3,}", data))
    return data if re.search(r"\.(amc|bvh|glb|trc|c3d|asf)$", name) else re.sub(rb"[\s#]+", b" ", NUMBER.sub(b"#", data))


def objects(out, is_batch):
    try:
        return [json.loads(line) for line in (out.splitlines() if is_batch else [out])]
    except ValueError:
        return None


def complaints(run, well, words):
    """What is wrong with a run whose allocation failed, beside `well`, which none failed."""
    is_batch = words[0] == "batch"
    found = []
    if run.code not in (well.code, 1):
        found.append(f"exit code {run.code}: {run.err.decode(errors='replace').strip()[:300]}")
    elif run.code == well.code and not is_batch and normal(run.out) != normal(well.out):
        found.append(f"exit code {run.code}, but other output: {len(run.out)} bytes, not {len(well.out)}")
    elif run.code != well.code and b"memory" not in run.err + run.out:
        found.append(f"exit code {run.code}, and nothing about memory: {run.err.decode(errors='replace').strip()[:300]}")
    if "--json" in words and "--version" not in words:
        all_objects = objects(run.out, is_batch)
        if not all_objects or not all(all_objects):
            found.append(f"exit code {run.code}, and no object of JSON: {run.out[:100]}")
        elif run.code != well.code and "error" not in json.dumps(all_objects):
            found.append(f"exit code {run.code}, and no error in the object of JSON: {json.dumps(all_objects)[:300]}")
    for name, data in run.files.items():
        if re.search(r"^OUT/journal/", name): # continued by the next run
            continue
        if ".tmp" in name or ".work" in name:
            found.append(f"exit code {run.code}, and left {name}")
        elif name not in well.files:
            found.append(f"exit code {run.code}, and wrote {name}")
        elif is_batch and name.count("/") == 1: # tables of all takes, failed ones too, in the order in which they ended
            continue
        elif name.endswith(".html") and run.code != well.code: # it says what failed
            if data[-20:] != well.files[name][-20:]:
                found.append(f"exit code {run.code}, and {name} has no end")
        elif normal(data, name) != normal(well.files[name], name):
            found.append(f"exit code {run.code}, and {name} is not what it should be: {len(data)} bytes, not {len(well.files[name])}")
    if run.code == well.code:
        found += [f"exit code {run.code}, but {name} is missing" for name in well.files if name not in run.files and "journal" not in name]
    return found


def schedule(count, is_all):
    if is_all or count <= RUNS:
        return range(1, count + 1)
    return sorted({1 + round(i * (count - 1) / (RUNS - 1)) for i in range(RUNS)})


def try_command(tool, place, words, is_all):
    given = place.parent / "given"
    wells = [Run(tool, place, given, words, "count", SECONDS) for _ in range(2)]
    well = wells[0]
    counts = [int(count) for run in wells for count in re.findall(rb"(\d+) allocations", run.err)]
    if well.code != 0:
        print(f"{' '.join(words)}: exit code {well.code} without a failure: {well.err.decode()}", flush=True)
        return 0, 1
    failures, runs = [], 0
    for suffix in ("", "-"):
        for n in schedule(max(counts), is_all):
            found = complaints(Run(tool, place, given, words, f"{n}{suffix}", SECONDS), well, words)
            for text in found:
                print(f"{' '.join(words)}: allocation {n}{suffix} of {max(counts)}: {text}", flush=True)
            failures += found
            runs += 1
    return runs, len(failures)


def prepare(tool, folder):
    given = folder / "given"
    given.mkdir(parents=True)
    subprocess.run([tool, "sample", "--quiet", folder / "s"], check=True)
    (folder / "again").mkdir()
    shutil.copy(folder / "s/walk.c3d", folder / "again/walk2.c3d")
    (given / "db").mkdir()
    shutil.copy(folder / "s/walk.c3d", given / "db/walk.c3d")
    shutil.copy(folder / "s/walk.c3d", given / "db/walk2.c3d")
    (given / "path.csv").write_text("x,y,z\n0.4,0.1,0.5\n0.4,0.12,0.5\n0.4,0.14,0.5\n")
    (given / "c.json").write_text('{"constraints": [{"type": "plane", "body": "left_hand", "relation": "at least", "through": [0, -1, 0], "normal": [0, 1, 0], "frames": [2, 4]}]}')
    (given / "r.urdf").write_text('<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="revolute"><parent link="a"/><child link="b"/>'
                                  '<axis xyz="0 0 1"/><limit lower="-1" upper="1"/></joint></robot>')
    subprocess.run([tool, "convert", "--quiet", folder / "s/human.json", "-o", given / "h.gltf"], check=True)


def main():
    arguments = [word for word in sys.argv[1:] if word != "--all"]
    tool, folder, names = str(pathlib.Path(arguments[0]).resolve()), pathlib.Path(arguments[1]).resolve(), arguments[2:]
    probe = subprocess.run([tool, "--version"], env=dict(os.environ, ULNA_MEMORY_FAULT="count"), capture_output=True)
    if probe.returncode == 77:
        print("memory_faults: SKIPPED: in this build no allocation can be made to fail (a sanitizer, or another C library)")
        return 77
    if folder.exists():
        shutil.rmtree(folder)
    prepare(tool, folder)
    chosen = [re.split("\t" if "\t" in line else " ", line) for line in COMMANDS if not names or any(name in line for name in names)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(lambda at: try_command(tool, folder / f"run{at[0]}", at[1], "--all" in sys.argv), enumerate(chosen)))
    runs, failures = (sum(numbers) for numbers in zip(*results))
    print(f"memory_faults: {len(chosen)} commands, {runs} runs, {failures} failures")
    return 1 if failures else 0


sys.exit(main())
