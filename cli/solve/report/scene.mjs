/* The player: the skeleton, its markers and a ghost, seen from a camera that moves around them. */
import {$, bodySides, colour, hasSides, markerNames, markerSides, MISSING, shorts, sized} from './data.mjs';
import {time, whenTimeChanges} from './time.mjs';

const bodies = shorts(D.bodies), seen = shorts(D.seen), fitted = shorts(D.fitted), ghost = D.ghost ? shorts(D.ghost) : null;
const up = D.up, across = (up + 1) % 3, along = (up + 2) % 3; /* the model's up axis becomes the screen's */
const camera = {yaw: 0.6, pitch: 0.18, zoom: 1, isFlat: false, target: null};

/* ---- places */

function placeOf(data, count, i, out) {
  const k = 3 * (time.frame * count + i);
  if (data[k] === MISSING) return false;
  for (let j = 0; j < 3; j++) out[j] = D.center[j] + D.unit * data[k + j];
  return true;
}

function middleOfBodies() {
  const mean = [0, 0, 0], p = [0, 0, 0];
  for (let i = 0; i < D.body_count; i++) {
    placeOf(bodies, D.body_count, i, p);
    for (let j = 0; j < 3; j++) mean[j] += p[j] / D.body_count;
  }
  mean[up] = D.floor + 0.53 * D.height; /* markers are above the last joint of a head */
  return mean;
}

/* From right to left, in the plane of the floor; null if the skeleton has no sides. */
function leftward() {
  const sum = [0, 0, 0], p = [0, 0, 0], q = [0, 0, 0];
  bodySides.forEach(({side, other}, i) => {
    if (side !== 'left') return;
    placeOf(bodies, D.body_count, i, p);
    placeOf(bodies, D.body_count, other, q);
    for (let j = 0; j < 3; j++) sum[j] += p[j] - q[j];
  });
  const length = Math.hypot(sum[across], sum[along]);
  return length > 1e-6 ? [sum[across] / length, sum[along] / length] : null;
}

/* ---- the camera */

/* Where the ghost stands: over the skeleton, or beside it, to the right of the screen. */
function ghostShift() {
  const shift = [0, 0, 0];
  if ($('ghost').value !== 'beside') return shift;
  shift[across] = -Math.sin(camera.yaw) * 0.9 * D.size;
  shift[along] = Math.cos(camera.yaw) * 0.9 * D.size;
  return shift;
}

function followTarget() {
  const middle = middleOfBodies();
  if (!camera.target || ($('follow').checked && !time.playing)) camera.target = middle;
  if ($('follow').checked) for (let j = 0; j < 3; j++) camera.target[j] += 0.2 * (middle[j] - camera.target[j]);
}

/* A function from a place to the screen: x, y and how far away; null behind the camera. */
function projection(width, height) {
  const {yaw, pitch, zoom, isFlat, target} = camera;
  const cy = Math.cos(yaw), sy = Math.sin(yaw), cp = Math.cos(pitch), sp = Math.sin(pitch);
  const far = 4.2 * D.size / zoom, scale = 3.1 * Math.min(height, 1.4 * width);
  return p => {
    const a = p[across] - target[across], b = p[along] - target[along], u = p[up] - target[up];
    const x = sy * a - cy * b, back = cy * a + sy * b, y = cp * u - sp * back, depth = far - (sp * u + cp * back);
    const z = isFlat ? far : depth;
    return z < 0.02 * far ? null : [width / 2 - scale * x / z, height / 2 - scale * y / z, depth];
  };
}

/* front, side, top or free */
export function lookFrom(name) {
  const left = leftward() || [1, 0], ahead = Math.atan2(-left[0], left[1]);
  camera.isFlat = name !== 'free';
  camera.pitch = name === 'top' ? Math.PI / 2 : name === 'free' ? 0.18 : 0;
  camera.yaw = name === 'side' ? Math.atan2(left[1], left[0]) : name === 'free' ? ahead + 0.6 : ahead;
  showView(name);
  drawScene();
}

function showView(name) {
  for (const button of document.querySelectorAll('#views button'))
    button.setAttribute('aria-pressed', String(button.dataset.view === name));
}

/* ---- drawing */

function strokeSegments(g, see, segments) {
  g.beginPath();
  for (const [p, q] of segments) {
    const a = see(p), b = see(q);
    if (!a || !b) continue;
    g.moveTo(a[0], a[1]);
    g.lineTo(b[0], b[1]);
  }
  g.stroke();
}

function drawFloor(g, see) {
  const step = D.size > 5 ? 2 : D.size > 0.6 ? 0.5 : 0.05, n = 8, segments = [];
  const a0 = Math.round(camera.target[across] / step), b0 = Math.round(camera.target[along] / step);
  const at = (a, b) => {
    const p = [0, 0, 0];
    p[up] = D.floor;
    p[across] = (a0 + a) * step;
    p[along] = (b0 + b) * step;
    return p;
  };
  for (let i = -n; i <= n; i++) segments.push([at(i, -n), at(i, n)], [at(-n, i), at(n, i)]);
  g.strokeStyle = colour.grid;
  g.lineWidth = 1;
  strokeSegments(g, see, segments);
}

/* How long the last body of a limb is, only its markers show. */
const tips = new Map();
D.on.forEach((body, marker) => {
  if (!D.parents.includes(body)) tips.set(body, [...(tips.get(body) || []), marker]);
});

/* The middle of the markers that are far from its joint: some key points are at the joint itself. */
function tipOf(joint, markers) {
  const places = [], p = [0, 0, 0];
  for (const m of markers)
    if (placeOf(fitted, D.marker_count, m, p)) places.push({at: [...p], far: Math.hypot(...p.map((x, j) => x - joint[j]))});
  const most = Math.max(...places.map(({far}) => far)), ends = places.filter(({far}) => far >= 0.5 * most);
  return ends.length ? [0, 1, 2].map(j => ends.reduce((sum, {at}) => sum + at[j] / ends.length, 0)) : null;
}

function bonesOf(data, hasTips) {
  const bones = {left: [], right: [], middle: []};
  for (let i = 1; i < D.body_count; i++) {
    const p = [0, 0, 0], q = [0, 0, 0];
    if (placeOf(data, D.body_count, i, p) && placeOf(data, D.body_count, D.parents[i], q)) bones[bodySides[i].side].push([p, q]);
  }
  for (const [body, markers] of hasTips ? tips : []) {
    const p = [0, 0, 0], isThere = placeOf(data, D.body_count, body, p), tip = isThere ? tipOf(p, markers) : null;
    if (tip) bones[bodySides[body].side].push([p, tip]);
  }
  return bones;
}

function drawBones(g, see) {
  const bones = bonesOf(bodies, true);
  g.lineCap = 'round';
  g.lineWidth = 3.2;
  for (const side of ['middle', 'left', 'right']) {
    g.strokeStyle = colour[side];
    strokeSegments(g, see, bones[side]);
  }
}

function drawGhost(g, see) {
  if (!ghost || $('ghost').value === 'off') return;
  const shift = ghostShift(), moved = p => see(p.map((x, j) => x + shift[j])), bones = bonesOf(ghost, false);
  g.lineCap = 'round';
  g.lineWidth = 5;
  g.strokeStyle = colour.ghost;
  g.globalAlpha = 0.55;
  for (const side of Object.keys(bones)) strokeSegments(g, moved, bones[side]);
  g.globalAlpha = 1;
}

function drawDot(g, at, radius, isFilled) {
  g.beginPath();
  g.arc(at[0], at[1], radius, 0, 7);
  if (isFilled) g.fill();
  else g.stroke();
}

/* Returns where the marker is on the screen, or null. */
function drawMarker(g, see, m) {
  const p = [0, 0, 0], q = [0, 0, 0];
  const isSeen = placeOf(seen, D.marker_count, m, p), isFitted = placeOf(fitted, D.marker_count, m, q);
  if (!isSeen && !isFitted) return null;
  g.strokeStyle = g.fillStyle = colour[markerSides[m].side];
  g.lineWidth = 1.5;
  if (isSeen && isFitted) {
    g.strokeStyle = colour.reject;
    strokeSegments(g, see, [[p, q]]);
    g.strokeStyle = g.fillStyle;
  }
  const ring = isSeen ? see(p) : null, dot = isFitted ? see(q) : null;
  if (dot) drawDot(g, dot, 2.4, true);
  if (ring) drawDot(g, ring, 4, false);
  return ring || dot;
}

/* ---- labels: near markers first, and only where there is room */

function boxesOverlap(a, b) {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

function roomFor(text, at, taken, g) {
  const w = g.measureText(text).width + 4, h = 13;
  const corners = [[7, -16], [-7 - w, -16], [7, 4], [-7 - w, 4], [9, -6], [-9 - w, -6]];
  return corners.map(([dx, dy]) => ({x: at[0] + dx, y: at[1] + dy, w, h}))
    .find(box => !taken.some(other => boxesOverlap(box, other)));
}

function drawLabels(g, points) {
  const taken = points.map(({at}) => ({x: at[0] - 5, y: at[1] - 5, w: 10, h: 10}));
  g.font = '11px system-ui, sans-serif';
  g.textAlign = 'left';
  g.textBaseline = 'top';
  g.fillStyle = colour.ink;
  for (const {at, text} of [...points].sort((a, b) => a.at[2] - b.at[2])) {
    const box = roomFor(text, at, taken, g);
    if (!box) continue;
    taken.push(box);
    g.fillText(text, box.x + 2, box.y + 1);
  }
}

export function drawScene() {
  const [g, width, height] = sized($('scene'));
  followTarget();
  const see = projection(width, height), points = [];
  drawFloor(g, see);
  drawGhost(g, see);
  drawBones(g, see);
  for (let m = 0; m < D.marker_count; m++) {
    const at = drawMarker(g, see, m);
    if (at) points.push({at, text: markerNames[m]});
  }
  if ($('names').checked) drawLabels(g, points);
}

/* ---- mouse */

export function listenToScene() {
  const scene = $('scene');
  let held = null;
  scene.addEventListener('pointerdown', e => {
    held = [e.clientX, e.clientY];
    scene.setPointerCapture(e.pointerId);
  });
  scene.addEventListener('pointerup', () => { held = null; });
  scene.addEventListener('pointermove', e => {
    if (!held) return;
    camera.yaw -= 0.008 * (e.clientX - held[0]);
    camera.pitch = Math.max(-1.57, Math.min(1.57, camera.pitch + 0.008 * (e.clientY - held[1])));
    camera.isFlat = false;
    held = [e.clientX, e.clientY];
    showView('free');
    drawScene();
  });
  scene.addEventListener('wheel', e => {
    e.preventDefault();
    camera.zoom = Math.max(0.2, Math.min(12, camera.zoom * Math.exp(-0.0015 * e.deltaY)));
    drawScene();
  }, {passive: false});
  $('views').addEventListener('click', e => { if (e.target.dataset.view) lookFrom(e.target.dataset.view); });
  $('names').onchange = $('follow').onchange = $('ghost').onchange = drawScene;
  $('ghostbox').hidden = !ghost;
  $('sides').hidden = !hasSides;
  whenTimeChanges(drawScene);
}
