/*
 * The script of the report's page: the player and the charts over time. It shows what report_data.c writes as `D`, and
 * uses nothing from elsewhere. The build embeds it in the tool.
 *
 *     bytes, shorts, series   the data, from base64
 *     camera, drawScene       the skeleton and its markers, seen from a camera that moves around them
 *     drawChart, addChart     a value over frames, with its limits and the current frame
 *     buildJoints, choose     small charts of joint values, by name
 *     go, tick, listen        time, mouse and keys
 */
'use strict';
const $ = id => document.getElementById(id), N = D.frames, colour = {};

function bytes(text) {
  const raw = atob(text), a = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) a[i] = raw.charCodeAt(i);
  return a;
}

function shorts(text) {
  const a = bytes(text), v = new DataView(a.buffer), r = new Int16Array(a.length / 2);
  for (let i = 0; i < r.length; i++) r[i] = v.getInt16(2 * i, true);
  return r;
}

/* A series is 16-bit numbers; -32768 is a gap. */
function series(s) {
  const q = shorts(s.d), r = new Float32Array(q.length);
  for (let i = 0; i < q.length; i++) r[i] = q[i] === -32768 ? NaN : s.o + s.s * q[i];
  return r;
}

const bodies = shorts(D.bodies), seen = shorts(D.seen), fitted = shorts(D.fitted), flags = bytes(D.flags);
let frame = 0, playing = false, speed = 1, clock = 0, pending = 0;
let yaw = 0.6, pitch = 0.18, zoom = 1, smooth = null;

/* ---- colours and canvases */
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const n of ['paper', 'card', 'ink', 'faint', 'grid', 'rule', 'c0', 'c1', 'c2', 'c3'])
    colour[n] = style.getPropertyValue('--' + n).trim();
}

function sized(canvas) {
  const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, w, h);
  return [g, w, h];
}

/* ---- the player: the model's up axis becomes the screen's */
const U = D.up, A = (U + 1) % 3, B = (U + 2) % 3;

function at(data, count, i, out) {
  const k = 3 * (frame * count + i);
  if (data[k] === -32768) return false;
  for (let j = 0; j < 3; j++) out[j] = D.center[j] + D.unit * data[k + j];
  return true;
}

function camera(w, h) {
  const p = [0, 0, 0], mean = [0, 0, 0];
  for (let i = 0; i < D.body_count; i++) {
    at(bodies, D.body_count, i, p);
    for (let j = 0; j < 3; j++) mean[j] += p[j] / D.body_count;
  }
  mean[U] = D.floor + 0.5 * D.height;
  if ($('follow').checked) {
    if (!smooth || !playing) smooth = mean;
    for (let j = 0; j < 3; j++) smooth[j] += 0.2 * (mean[j] - smooth[j]);
  } else if (!smooth) smooth = mean;
  const cy = Math.cos(yaw), sy = Math.sin(yaw), cp = Math.cos(pitch), sp = Math.sin(pitch);
  const far = 4.2 * D.height / zoom, scale = 3.5 * Math.min(w, h);
  return q => {
    const a = q[A] - smooth[A], b = q[B] - smooth[B], u = q[U] - smooth[U];
    const x = sy * a - cy * b, back = cy * a + sy * b, y = cp * u - sp * back, z = far - (sp * u + cp * back);
    return z < 0.02 * far ? null : [w / 2 - scale * x / z, h / 2 - scale * y / z];
  };
}

function line(g, see, p, q) {
  const a = see(p), b = see(q);
  if (!a || !b) return;
  g.moveTo(a[0], a[1]);
  g.lineTo(b[0], b[1]);
}

function drawFloor(g, see) {
  const step = D.height > 5 ? 2 : D.height > 0.6 ? 0.5 : 0.05, n = 8;
  const a0 = Math.round(smooth[A] / step), b0 = Math.round(smooth[B] / step);
  g.strokeStyle = colour.grid;
  g.lineWidth = 1;
  g.beginPath();
  for (let i = -n; i <= n; i++) {
    const p = [0, 0, 0], q = [0, 0, 0];
    p[U] = q[U] = D.floor;
    p[A] = q[A] = (a0 + i) * step; p[B] = (b0 - n) * step; q[B] = (b0 + n) * step;
    line(g, see, p, q);
    p[B] = q[B] = (b0 + i) * step; p[A] = (a0 - n) * step; q[A] = (a0 + n) * step;
    line(g, see, p, q);
  }
  g.stroke();
}
/* Bodies without children, and their markers. */
const tips = new Map();
D.on.forEach((b, m) => { if (!D.parents.includes(b)) tips.set(b, (tips.get(b) || []).concat(m)); });

function drawScene() {
  const [g, w, h] = sized($('scene')), see = camera(w, h), p = [0, 0, 0], q = [0, 0, 0];
  drawFloor(g, see);
  g.lineCap = 'round';
  g.strokeStyle = colour.ink;
  g.lineWidth = 3.2;
  g.beginPath();
  for (let i = 1; i < D.body_count; i++)
    if (at(bodies, D.body_count, i, p) && at(bodies, D.body_count, D.parents[i], q)) line(g, see, p, q);
  for (const [b, list] of tips) { /* how long the last body of a limb is, only its markers show */
    const mean = [0, 0, 0];
    let count = 0;
    for (const m of list) if (at(fitted, D.marker_count, m, p)) {
      for (let j = 0; j < 3; j++) mean[j] += p[j];
      count++;
    }
    if (count && at(bodies, D.body_count, b, q)) line(g, see, q, mean.map(x => x / count));
  }
  g.stroke();
  const names = $('names').checked;
  g.font = '11px system-ui, sans-serif';
  for (let m = 0; m < D.marker_count; m++) {
    const isSeen = at(seen, D.marker_count, m, p), has = at(fitted, D.marker_count, m, q);
    const s = see(isSeen ? p : q);
    if (!s) continue;
    if (isSeen && has) {
      g.strokeStyle = colour.c1;
      g.lineWidth = 1.5;
      g.beginPath();
      line(g, see, p, q);
      g.stroke();
    }
    const t = has ? see(q) : null;
    if (t) {
      g.fillStyle = colour.c0;
      g.beginPath();
      g.arc(t[0], t[1], 2.4, 0, 7);
      g.fill();
    }
    if (isSeen) {
      g.strokeStyle = colour.c1;
      g.lineWidth = 1.5;
      g.beginPath();
      g.arc(s[0], s[1], 4, 0, 7);
      g.stroke();
    }
    if (names) {
      g.fillStyle = colour.faint;
      g.fillText(D.markers[m], s[0] + 6, s[1] - 5);
    }
  }
}

/* ---- charts over time */
const charts = [];

function niceStep(range, count) {
  const raw = range / count, power = 10 ** Math.floor(Math.log10(raw)), m = raw / power;
  return power * (m > 5 ? 10 : m > 2 ? 5 : m > 1 ? 2 : 1);
}

function number(v) {
  return Math.abs(v) >= 1e5 || (v && Math.abs(v) < 1e-3) ? v.toExponential(1) : String(+v.toFixed(4));
}

function drawChart(c) {
  const [g, w, h] = sized(c.canvas);
  if (!w || !h) return;
  const left = c.small ? 34 : 52, right = 8, top = 8, bottom = c.small ? 4 : 20;
  const W = w - left - right, H = h - top - bottom;
  const X = i => left + (N > 1 ? W * i / (N - 1) : 0), Y = v => top + H * (1 - (v - c.low) / (c.high - c.low));
  g.font = (c.small ? 10 : 11) + 'px system-ui, sans-serif';
  g.fillStyle = colour.faint;
  g.strokeStyle = colour.grid;
  g.lineWidth = 1;
  g.textAlign = 'right';
  g.textBaseline = 'middle';
  const fine = niceStep(c.high - c.low, c.small ? 2 : 4), step = c.whole ? Math.max(1, fine) : fine;
  g.beginPath();
  for (let v = Math.ceil(c.low / step) * step; v <= c.high + 1e-9 * step; v += step) {
    g.moveTo(left, Y(v));
    g.lineTo(w - right, Y(v));
    g.fillText(number(v), left - 5, Y(v));
  }
  g.stroke();
  if (!c.small) {
    g.textAlign = 'center';
    g.textBaseline = 'top';
    const each = Math.max(1, niceStep(N * D.stride, Math.max(2, W / 90)));
    for (let f = Math.ceil(D.first / each) * each; f <= D.first + (N - 1) * D.stride; f += each)
      g.fillText(String(f), X((f - D.first) / D.stride), h - bottom + 5);
  }
  if (c.marks) for (let i = 0; i < N; i++) {
    const kind = flags[i] & 4 ? 'c1' : flags[i] & 2 ? 'c2' : flags[i] & 1 ? 'rule' : flags[i] & 8 ? 'c3' : '';
    if (!kind) continue;
    g.fillStyle = colour[kind];
    g.globalAlpha = 0.55;
    g.fillRect(X(i) - 1, top, Math.max(2, W / N), H);
    g.globalAlpha = 1;
  }
  g.strokeStyle = colour.c1;
  g.setLineDash([4, 3]);
  g.beginPath();
  for (const v of c.limits) if (v >= c.low && v <= c.high) {
    g.moveTo(left, Y(v));
    g.lineTo(w - right, Y(v));
  }
  g.stroke();
  g.setLineDash([]);
  g.strokeStyle = colour.c0;
  g.lineWidth = c.small ? 1.2 : 1.5;
  g.lineJoin = 'round';
  g.beginPath();
  let pen = false;
  for (let i = 0; i < N; i++) {
    const v = c.values[i];
    if (Number.isNaN(v)) { pen = false; continue; }
    const y = Math.max(top - 2, Y(v));
    if (pen) g.lineTo(X(i), y); else g.moveTo(X(i), y);
    pen = true;
  }
  g.stroke();
  if (c.beyond !== null) {
    g.textAlign = 'right';
    g.textBaseline = 'top';
    g.fillStyle = colour.faint;
    g.fillText('marked frames go beyond, up to ' + c.beyond.toFixed(1), w - right - 4, top + 2);
  }
  g.strokeStyle = colour.ink;
  g.globalAlpha = 0.5;
  g.lineWidth = 1;
  g.beginPath();
  g.moveTo(X(frame), top);
  g.lineTo(X(frame), top + H);
  g.stroke();
  g.globalAlpha = 1;
  c.seek = x => go(Math.round((x - left) / W * (N - 1)));
}

function addChart(canvas, values, options) {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (!Number.isNaN(v)) { low = Math.min(low, v); high = Math.max(high, v); }
  if (!(low <= high)) { low = 0; high = 1; }
  if (options.zero) low = Math.min(0, low);
  if (options.clip) { /* a few frames far above the others, as the first one, leave the picture */
    const sorted = Float32Array.from(values).sort(), usual = sorted[Math.floor(0.99 * (N - 1))];
    if (high > 3 * usual) high = Math.max(1, 1.5 * usual);
  }
  let beyond = null;
  if (options.marks) { /* frames that are marked as bad do not set the scale, if they are far above the others */
    let calm = 0;
    for (let i = 0; i < N; i++) if (!(flags[i] & 12) && values[i] > calm) calm = values[i];
    if (calm > 0 && high > 4 * calm) { beyond = high; high = 2 * calm; }
  }
  if (options.least) high = Math.max(high, options.least);
  const span = high - low || Math.abs(high) || 1;
  const limits = (options.limits || []).filter(v => v !== null && Number.isFinite(v));
  for (const v of limits) if (v > low - span && v < high + span) {
    low = Math.min(low, v);
    high = Math.max(high, v);
  }
  const room = 0.06 * (high - low || span);
  const c = {canvas, values, limits, low: options.zero && low === 0 ? 0 : low - room, high: high + room,
             small: options.small, marks: options.marks, whole: options.whole, beyond, visible: true};
  charts.push(c);
  let held = false;
  canvas.addEventListener('pointerdown', e => {
    held = true;
    canvas.setPointerCapture(e.pointerId);
    c.seek(e.offsetX);
  });
  canvas.addEventListener('pointermove', e => { if (held) c.seek(e.offsetX); });
  canvas.addEventListener('pointerup', () => { held = false; });
  if (options.small && window.IntersectionObserver) {
    c.visible = false;
    new IntersectionObserver(list => {
      c.visible = list[list.length - 1].isIntersecting;
      if (c.visible) drawChart(c);
    }).observe(canvas);
  }
}

/* ---- joints: small multiples, chosen by their names */
function buildJoints() {
  for (const dof of D.dofs) {
    const box = document.createElement('figure'), head = document.createElement('figcaption');
    const canvas = document.createElement('canvas'), values = series(dof);
    const out = values.some(v => v < dof.lo - 0.01 || v > dof.hi + 0.01);
    head.textContent = dof.n + ' (' + dof.u + ')' + (dof.lo !== null && out ? ' \u00b7 outside' : '');
    if (dof.lo !== null && out) head.className = 'out';
    canvas.className = 'small';
    box.dataset.name = dof.n.toLowerCase();
    box.dataset.out = dof.lo !== null && out ? '1' : '';
    box.append(head, canvas);
    $('joints').append(box);
    addChart(canvas, values, {small: true, limits: [dof.lo, dof.hi]});
  }
}

function choose() {
  const words = $('filter').value.toLowerCase().split(/[ ,]+/).filter(w => w);
  let shown = 0;
  for (const box of $('joints').children) {
    const named = !words.length || words.some(w => box.dataset.name.includes(w));
    const fits = named && (!$('only').checked || box.dataset.out === '1');
    box.hidden = !fits;
    shown += fits;
  }
  $('shown').textContent = shown + ' of ' + D.dofs.length;
  draw();
}

/* ---- time */
function draw() {
  drawScene();
  for (const c of charts) if (c.visible) drawChart(c);
}

function label() {
  const f = D.first + frame * D.stride, r = D.rms[frame], w = flags[frame];
  $('slider').value = frame;
  $('now').textContent = 'frame ' + f + (D.rate ? ' \u00b7 ' + ((f - D.first) / D.rate).toFixed(2) + ' s' : '') +
    (Number.isNaN(r) ? '' : ' \u00b7 ' + r.toFixed(2) + ' mm') + (w & 4 ? ' \u00b7 lost' : '') +
    (w & 2 ? ' \u00b7 recovered' : '') + (w & 1 ? ' \u00b7 no markers' : '') + (w & 8 ? ' \u00b7 outliers' : '');
}

function go(i) {
  frame = Math.max(0, Math.min(N - 1, i));
  label();
  draw();
}

function tick(now) {
  if (!playing) return;
  pending += Math.min(0.2, (now - clock) / 1000) * speed * (D.rate || 60) / D.stride;
  clock = now;
  const whole = Math.floor(pending);
  pending -= whole;
  if (whole) go((frame + whole) % N);
  requestAnimationFrame(tick);
}

function play(on) {
  playing = on;
  $('play').textContent = on ? 'Pause' : 'Play';
  if (on) { clock = performance.now(); requestAnimationFrame(tick); }
}

function listen() {
  const scene = $('scene');
  let held = null;
  $('play').onclick = () => play(!playing);
  $('slider').oninput = e => go(+e.target.value);
  $('speed').onchange = e => { speed = +e.target.value; };
  $('names').onchange = $('follow').onchange = draw;
  $('filter').oninput = $('only').onchange = choose;
  scene.addEventListener('pointerdown', e => {
    held = [e.clientX, e.clientY];
    scene.setPointerCapture(e.pointerId);
  });
  scene.addEventListener('pointerup', () => { held = null; });
  scene.addEventListener('pointermove', e => {
    if (!held) return;
    yaw -= 0.008 * (e.clientX - held[0]);
    pitch = Math.max(-1.5, Math.min(1.5, pitch + 0.008 * (e.clientY - held[1])));
    held = [e.clientX, e.clientY];
    if (!playing) drawScene();
  });
  scene.addEventListener('wheel', e => {
    e.preventDefault();
    zoom = Math.max(0.2, Math.min(12, zoom * Math.exp(-0.0015 * e.deltaY)));
    if (!playing) drawScene();
  }, {passive: false});
  document.addEventListener('keydown', e => {
    if (/INPUT|SELECT|BUTTON/.test(e.target.tagName) && e.target.type !== 'range') return;
    if (e.key === ' ') { e.preventDefault(); play(!playing); }
    if (e.target.type !== 'range' && e.key === 'ArrowRight') go(frame + 1);
    if (e.target.type !== 'range' && e.key === 'ArrowLeft') go(frame - 1);
  });
  document.addEventListener('click', e => {
    const link = e.target.closest('[data-frame]');
    if (!link) return;
    e.preventDefault();
    go(Math.round((+link.dataset.frame - D.first) / D.stride));
    $('player').scrollIntoView({behavior: 'smooth', block: 'nearest'});
  });
  window.addEventListener('resize', draw);
  if (window.matchMedia)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readColours(); draw(); });
}

readColours();
D.rms = series(D.rms);
addChart($('rms'), D.rms, {zero: true, marks: true});
addChart($('iterations'), series(D.iterations), {zero: true, clip: true, whole: true});
addChart($('missing'), series(D.missing), {zero: true, least: 1, whole: true});
buildJoints();
$('slider').max = N - 1;
listen();
label();
choose();
