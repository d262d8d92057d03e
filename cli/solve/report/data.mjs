/* What report_data.c writes as `D`: decoded, with short names and sides. */

export const $ = id => document.getElementById(id);
export const frameCount = D.frames;
export const MISSING = -32768;

/* Marks of a frame, as the C code has them in solve_marks: the worst first. */
export const marks = D.marks;

export function bytes(text) {
  const raw = atob(text), list = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) list[i] = raw.charCodeAt(i);
  return list;
}

export function shorts(text) {
  const list = bytes(text), view = new DataView(list.buffer), numbers = new Int16Array(list.length / 2);
  for (let i = 0; i < numbers.length; i++) numbers[i] = view.getInt16(2 * i, true);
  return numbers;
}

/* A series is 16-bit numbers; MISSING is a gap. */
export function series(coded) {
  const numbers = shorts(coded.d), values = new Float32Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) values[i] = numbers[i] === MISSING ? NaN : coded.o + coded.s * numbers[i];
  return values;
}

export const flags = shorts(D.flags);

/* The worst mark of a frame, or undefined. */
export function markOf(frame) {
  return marks.find(mark => flags[frame] & mark.flag);
}

/* The recording's number of a frame of the page, and the other way round. */
export function numberOf(frame) {
  return Math.min(D.last, D.first + frame * D.stride);
}

export function frameOf(number) {
  return Math.round((number - D.first) / D.stride);
}

export function timeText(frame) {
  const number = numberOf(frame);
  return `frame ${number}${D.rate ? ` · ${((number - D.first) / D.rate).toFixed(2)} s` : ''}`;
}

/* ---- names */

/* Without the prefix that all share, up to its last separator: "Daniel:LFHD" is "LFHD". */
function withoutPrefix(names) {
  let shared = names[0] || '';
  for (const name of names)
    while (!name.startsWith(shared)) shared = shared.slice(0, -1);
  const end = Math.max(shared.lastIndexOf(':'), shared.lastIndexOf('|'), shared.lastIndexOf('/')) + 1;
  return names.length > 1 ? names.map(name => name.slice(end)) : names;
}

const mirrorWords = [['left', 'right'], ['Left', 'Right'], ['LEFT', 'RIGHT'], ['l', 'r'], ['L', 'R']];

/* Names that differ from this one in left and right alone, as far as one can tell by name. */
function mirrorsOf(name) {
  const mirrors = [];
  for (const [left, right] of mirrorWords)
    for (const [own, other, side] of [[left, right, 'left'], [right, left, 'right']]) {
      const isLetter = own.length === 1;
      const pattern = isLetter ? new RegExp(`^${own}|(?<=[_.: -])${own}(?=$|[_.: -])`) : new RegExp(own);
      if (pattern.test(name)) mirrors.push({name: name.replace(pattern, other), side});
    }
  return mirrors;
}

/* For each name: its side, and the index of the other side's (-1: none). A side needs the other one: "lowerback" has none. */
export function sidesOf(names) {
  const index = new Map(names.map((name, i) => [name, i]));
  return names.map(name => {
    const found = mirrorsOf(name).find(mirror => index.has(mirror.name));
    return found ? {side: found.side, other: index.get(found.name)} : {side: 'middle', other: -1};
  });
}

export const markerNames = withoutPrefix(D.markers);
export const markerSides = sidesOf(markerNames);
export const bodySides = sidesOf(D.body_names);
export const dofSides = sidesOf(D.dofs.map(dof => dof.n));

export const hasSides = [...markerSides, ...bodySides].some(({side}) => side !== 'middle');

/* Left of all charts over time, so that their frames are below each other: room for the names of markers, if there is any. */
export function roomForNames(width) {
  const longest = Math.max(...markerNames.map(name => name.length));
  return Math.max(52, Math.min(5.8 * longest + 10, 0.18 * width));
}

/* ---- colours and canvases */

export const colour = {};
const colourNames = ['paper', 'card', 'ink', 'faint', 'grid', 'rule', 'left', 'right', 'middle', 'ghost', 'trust', 'look', 'reject',
                     'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7'];

export function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of colourNames) colour[name] = style.getPropertyValue(`--${name}`).trim();
}

/* An empty context that takes pixels of the page, at the resolution of the screen. */
function contextOf(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1, w = Math.round(width * ratio), h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const g = canvas.getContext('2d');
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  return g;
}

/* A canvas to draw on: its context, width and height. */
export function sized(canvas) {
  const width = canvas.clientWidth, height = canvas.clientHeight;
  return [contextOf(canvas, width, height), width, height];
}

/* The same, with a background that paint(g, width, height) draws: anew only if the key, the size or the colours change. */
const backgrounds = new WeakMap();
export function sizedWithBackground(canvas, key, paint) {
  const [g, width, height] = sized(canvas), now = [key, width, height, window.devicePixelRatio, colour.paper].join();
  if (!width || !height) return [g, width, height];
  const layer = backgrounds.get(canvas) || {canvas: document.createElement('canvas')};
  if (layer.key !== now) paint(contextOf(layer.canvas, width, height), width, height);
  layer.key = now;
  backgrounds.set(canvas, layer);
  g.drawImage(layer.canvas, 0, 0, width, height);
  return [g, width, height];
}
