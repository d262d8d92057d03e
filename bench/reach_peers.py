#!/usr/bin/env python3
"""bench/reach_peers.py [--json FILE] [--poses N] [--ulna TOOL]: solvers from PyPI on the problems of `ulna reach --bench`.

Those of roboticstoolbox-python, eaik, pytracik, placo, mink and pin that can be imported run, each called as its documentation
shows; the others are named and left out, and so is everything without numpy. Nothing is installed.

N poses of each robot (300; a third of that for solvers whose loop is in Python) by forward kinematics of uniform joint values inside the
limits, starts uniform as well. Solved means: inside the limits, 1e-6 m and 1e-6 rad, by plain forward kinematics from the URDF. Times are CPU
time of the process, per pose, with the restarts that a solver needs: its own, or up to 30 random ones around it. Our tool runs before and after.
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml

try:
    import numpy as np
except ImportError:
    np = None

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROBOTS = [
    ("panda", "panda.urdf", "panda_hand_tcp"),
    ("iiwa", "kuka_iiwa_bullet.urdf", "lbr_iiwa_link_7"),
    ("ur5", "ur5_robot.urdf", "tool0"),
]
TOLERANCE = 1e-6
RESTARTS = 30


# ---- robots: read and multiplied out plainly ------------------------------------------------------------------------------

def rotation_about(axis, angle):
    axis = np.asarray(axis) / np.linalg.norm(axis)
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + math.sin(angle) * k + (1 - math.cos(angle)) * (k @ k)


def transform(rotation, position):
    t = np.eye(4)
    t[:3, :3], t[:3, 3] = rotation, position
    return t


def numbers(element, attribute, default):
    return [float(x) for x in element.get(attribute, default).split()] if element is not None else [float(x) for x in default.split()]


class Robot:
    """The chain from the root of a URDF to a link; all its moving joints are revolute."""

    def __init__(self, name, path, tip):
        self.name, self.tip = name, tip
        robot = xml.parse(path).getroot()
        above = {j.find("child").get("link"): j for j in robot.findall("joint")}
        joints, link = [], tip
        while link in above:
            joints.insert(0, above[link])
            link = above[link].find("parent").get("link")
        self.root = link
        self.joints = []  # (name, placement, axis or None)
        self.lower, self.upper = [], []
        for j in joints:
            origin = j.find("origin")
            roll, pitch, yaw = numbers(origin, "rpy", "0 0 0")
            turn = rotation_about([0, 0, 1], yaw) @ rotation_about([0, 1, 0], pitch) @ rotation_about([1, 0, 0], roll)
            moves = j.get("type") != "fixed"
            self.joints.append((j.get("name"), transform(turn, numbers(origin, "xyz", "0 0 0")),
                                np.array(numbers(j.find("axis"), "xyz", "1 0 0")) if moves else None))
            if moves:
                assert j.get("type") == "revolute", "only revolute joints are compared"
                self.lower.append(float(j.find("limit").get("lower", 0)))
                self.upper.append(float(j.find("limit").get("upper", 0)))
        self.lower, self.upper = np.array(self.lower), np.array(self.upper)
        self.names = [name for name, _, axis in self.joints if axis is not None]
        self.n = len(self.names)
        self.path = self.plain_urdf(robot, joints)

    def plain_urdf(self, robot, joints):
        """The chain alone, without shapes: what is not on it, and files of meshes, must not disturb anybody."""
        plain = xml.Element("robot", name=self.name)
        mujoco = xml.SubElement(plain, "mujoco")
        xml.SubElement(mujoco, "compiler", fusestatic="false", discardvisual="true")
        for name in [self.root] + [j.find("child").get("link") for j in joints]:
            link = xml.SubElement(plain, "link", name=name)
            if name == self.root:  # KDL under TRAC-IK does not like a root with a mass
                continue
            inertial = xml.SubElement(link, "inertial")
            xml.SubElement(inertial, "mass", value="1")
            xml.SubElement(inertial, "inertia", ixx="1", ixy="0", ixz="0", iyy="1", iyz="0", izz="1")
        for j in joints:
            for other in [part for part in j if part.tag not in ("origin", "parent", "child", "axis", "limit")]:
                j.remove(other)  # pytracik takes limits of 0 from <safety_controller>
            plain.append(j)
        with tempfile.NamedTemporaryFile("wb", suffix=".urdf", delete=False) as file:
            xml.ElementTree(plain).write(file)
        return file.name

    def forward(self, q):
        t, k = np.eye(4), 0
        for _, placement, axis in self.joints:
            t = t @ placement
            if axis is not None:
                t = t @ transform(rotation_about(axis, q[k]), [0, 0, 0])
                k += 1
        return t

    def is_solved(self, q, goal):
        if q is None or not np.all(np.isfinite(q)) or np.any(q < self.lower - 1e-9) or np.any(q > self.upper + 1e-9):
            return False
        t = self.forward(q)
        r = t[:3, :3].T @ goal[:3, :3]
        angle = math.atan2(np.linalg.norm([r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]]), np.trace(r) - 1)
        return np.linalg.norm(t[:3, 3] - goal[:3, 3]) <= TOLERANCE and angle <= TOLERANCE

    def brought_inside(self, q):
        """Whole turns off where that brings a joint inside its limits."""
        q = np.array(q, dtype=float)
        q -= 2 * np.pi * np.ceil(np.maximum(q - self.upper, 0) / (2 * np.pi))
        return q + 2 * np.pi * np.ceil(np.maximum(self.lower - q, 0) / (2 * np.pi))


# ---- peers: open(robot) gives solve(goal, start, random) -> q or None, or None if it does not know the robot ---------------------

def restarted(robot, attempt):
    """From the start, then from random values inside the limits, until it is solved."""
    def solve(goal, start, random):
        for _ in range(RESTARTS + 1):
            q = robot.brought_inside(attempt(goal, start))
            if robot.is_solved(q, goal):
                return q
            start = random.uniform(robot.lower, robot.upper)
        return None
    return solve


def open_toolbox(robot):
    import roboticstoolbox as rtb
    ets, k = None, 0
    for _, placement, axis in robot.joints:
        parts = [rtb.ET.SE3(placement)]
        if axis is not None:  # turned so that z is the axis, and back
            z = axis / np.linalg.norm(axis)
            x = np.cross([0, 1, 0] if abs(z[1]) < 0.9 else [1, 0, 0], z)
            x /= np.linalg.norm(x)
            frame = transform(np.column_stack([x, np.cross(z, x), z]), [0, 0, 0])
            parts += [rtb.ET.SE3(frame), rtb.ET.Rz(jindex=k, qlim=[robot.lower[k], robot.upper[k]]), rtb.ET.SE3(frame.T)]
            k += 1
        for part in parts:
            ets = rtb.ETS(part) if ets is None else ets * part

    def solve(goal, start, random):
        found = ets.ik_LM(goal, q0=start, ilimit=30, slimit=100, tol=1e-13, joint_limits=True, method="chan")
        return np.asarray(found.q if hasattr(found, "q") else found[0])
    return solve


def open_eaik_arm(robot):
    """The arm and the inverse of its tip's axes at zero; None if it has no solution in closed form."""
    from eaik.IK_HP import HPRobot
    if robot.n != 6:
        return None
    axes, places, t, last = [], [], np.eye(4), np.zeros(3)
    for _, placement, axis in robot.joints:
        t = t @ placement
        if axis is not None:
            axes.append(t[:3, :3] @ axis / np.linalg.norm(axis))
            places.append(t[:3, 3] - last)
            last = t[:3, 3]
    places.append(t[:3, 3] - last)
    arm = HPRobot(np.array(axes), np.array(places))
    return (arm, np.linalg.inv(transform(t[:3, :3], [0, 0, 0]))) if arm.hasKnownDecomposition() else None


def open_eaik(robot):
    """All branches of a 6R arm in closed form; the first inside the limits counts."""
    arm = open_eaik_arm(robot)

    def solve(goal, start, random):
        for q in np.atleast_2d(arm[0].IK(goal @ arm[1]).Q):
            q = robot.brought_inside(q)
            if robot.is_solved(q, goal):
                return q
        return None
    return solve if arm else None


def open_eaik_batched(robot):
    """All branches, as fast as it gives them, without limits: no success is counted."""
    arm = open_eaik_arm(robot)
    return arm and (lambda goals: arm[0].IK_batched([goal @ arm[1] for goal in goals], num_worker_threads=1))


def open_tracik(robot):
    from trac_ik import trac_ik
    solver = trac_ik.TracIK(robot.root, robot.tip, robot.path, timeout=0.005, epsilon=1e-7, solver_type="Speed")

    def solve(goal, start, random):
        found = solver.ik(goal[:3, 3], goal[:3, :3], seed_jnt_values=start)
        return None if found is None else np.asarray(found)
    return solve


def open_pin(robot):
    """The loop of Pinocchio's example of inverse kinematics, damped by the error (Levenberg-Marquardt), 40 steps."""
    import pinocchio as pin
    model = pin.buildModelFromUrdf(robot.path)
    data, frame = model.createData(), model.getFrameId(robot.tip)

    def attempt(goal, q):
        want = pin.SE3(goal[:3, :3], goal[:3, 3])
        for _ in range(40):
            pin.framesForwardKinematics(model, data, q)
            error = pin.log6(data.oMf[frame].actInv(want)).vector
            if np.linalg.norm(error) < 0.1 * TOLERANCE:
                break
            jacobian = pin.computeFrameJacobian(model, data, q, frame)
            damping = 0.1 * error @ error + 1e-12
            q = pin.integrate(model, q, jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + damping * np.eye(6), error))
            q = np.clip(q, robot.lower, robot.upper)
        return q
    return restarted(robot, attempt)


def open_placo(robot):
    import placo
    flags = getattr(placo.Flags, "ignore_collisions")
    wrapper = placo.RobotWrapper(robot.path, flags)
    solver = placo.KinematicsSolver(wrapper)
    solver.mask_fbase(True)
    solver.enable_joint_limits(True)
    task = solver.add_frame_task(robot.tip, np.eye(4))
    task.configure("tip", "soft", 1.0, 1.0)

    def attempt(goal, start):
        for name, value in zip(robot.names, start):
            wrapper.set_joint(name, value)
        wrapper.update_kinematics()
        task.T_world_frame = goal
        for _ in range(40):
            solver.solve(True)
            wrapper.update_kinematics()
            if task.position().error_norm() < 0.1 * TOLERANCE and task.orientation().error_norm() < 0.1 * TOLERANCE:
                break
        return [wrapper.get_joint(name) for name in robot.names]
    return restarted(robot, attempt)


def open_mink(robot):
    import mink
    import mujoco
    model = mujoco.MjModel.from_xml_path(robot.path)
    configuration = mink.Configuration(model)
    task = mink.FrameTask(frame_name=robot.tip, frame_type="body", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-3)
    limits = [mink.ConfigurationLimit(model)]

    def attempt(goal, start):
        configuration.update(np.asarray(start))
        task.set_target(mink.SE3.from_matrix(goal))
        for _ in range(40):
            velocity = mink.solve_ik(configuration, [task], 1.0, solver="daqp", damping=1e-9, limits=limits)
            configuration.integrate_inplace(velocity, 1.0)
            if np.linalg.norm(task.compute_error(configuration)) < 0.1 * TOLERANCE:
                break
        return configuration.q.copy()
    return restarted(robot, attempt)


# name, module, how it is opened, share of the poses
PEERS = [
    ("roboticstoolbox", "roboticstoolbox", open_toolbox, 1),
    ("eaik", "eaik", open_eaik, 1),
    ("pytracik", "trac_ik", open_tracik, 1),
    ("pin", "pinocchio", open_pin, 1 / 3),
    ("placo", "placo", open_placo, 1 / 3),
    ("mink", "mink", open_mink, 1 / 3),
]


# ---- the test ---------------------------------------------------------------------------------------------------------------

def run_ours(tool, path, tip, count):
    """Mean microseconds and success in % of our own tool, or None."""
    try:
        out = subprocess.run([tool, "reach", str(path), "--tip", tip, "--bench", str(count), "--start", "random", "--json"], check=True,
                             capture_output=True, text=True).stdout
        result = json.loads(out)
        return result["us"]["mean"], result["success_percent"]
    except (OSError, subprocess.CalledProcessError, ValueError, KeyError) as problem:
        print(f"reach_peers: our own tool did not run: {problem}")
        return None


def run_peer(robot, solve, goals, starts):
    times, solved, random = [], 0, np.random.default_rng(3)
    for goal, start in zip(goals, starts):
        before = time.process_time()
        q = solve(goal, start, random)
        times.append(1e6 * (time.process_time() - before))
        solved += robot.is_solved(q, goal)
    return float(np.mean(times)), float(np.percentile(times, 99)), 100.0 * solved / len(times)


def contest(robot, path, arguments, rows):
    random = np.random.default_rng(11)
    goals = [robot.forward(random.uniform(robot.lower, robot.upper)) for _ in range(arguments.poses)]
    starts = [random.uniform(robot.lower, robot.upper) for _ in range(arguments.poses)]
    ours = run_ours(arguments.ulna, path, robot.tip, arguments.poses)
    for name, module, opened, share in PEERS:
        try:
            __import__(module)
        except Exception as problem:
            print(f"reach_peers: {name} is left out: {problem}")
            continue
        try:
            solve = opened(robot)
            if not solve:
                print(f"reach_peers: {name} does not know this kind of arm: {robot.name}")
                continue
            count = max(1, round(share * len(goals)))
            mean, late, percent = run_peer(robot, solve, goals[:count], starts[:count])
        except Exception as problem:  # an interface that has changed must not end the others
            print(f"reach_peers: {name} failed on {robot.name}: {type(problem).__name__}: {problem}")
            continue
        rows[f"{name}_us_{robot.name}"] = mean
        rows[f"{name}_p99_us_{robot.name}"] = late
        rows[f"{name}_percent_{robot.name}"] = percent
        again = run_ours(arguments.ulna, path, robot.tip, arguments.poses) if ours else None
        ratio = ""
        if ours and again:
            rows[f"{name}_over_ulna_{robot.name}"] = mean / min(ours[0], again[0])
            ratio = f"  {rows[f'{name}_over_ulna_{robot.name}']:8.1f} x ours ({min(ours[0], again[0]):.2f} us, {again[1]:.2f} %)"
        if name == "eaik":
            batched, times = open_eaik_batched(robot), []
            for _ in range(5):
                before = time.process_time()
                batched(goals)
                times.append(1e6 * (time.process_time() - before) / len(goals))
            rows[f"eaik_batched_all_us_{robot.name}"] = min(times)
            print(f"  {robot.name:6} eaik, all branches in one call, without limits: {min(times):.1f} us")
        print(f"  {robot.name:6} {name:16} {percent:6.1f} %  mean {mean:10.1f} us  p99 {late:10.1f} us{ratio}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--poses", type=int, default=300)
    parser.add_argument("--ulna", default=str(ROOT / "build/ulna"), metavar="TOOL")
    arguments = parser.parse_args()
    if np is None:
        print("reach_peers: numpy is not installed, so no solver from PyPI runs")
        return 0
    data = pathlib.Path(os.environ.get("ULNA_DATA", ROOT.parent / "shared/data")) / "urdf"
    rows = {}
    for name, file, tip in ROBOTS:
        if not (data / file).exists():
            print(f"reach_peers: without {file} (docs/test-data.md) there is no contest on {name}")
            continue
        robot = Robot(name, data / file, tip)
        contest(robot, data / file, arguments, rows)
        os.unlink(robot.path)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(rows, indent=2) + "\n")
    return 0


sys.exit(main())
