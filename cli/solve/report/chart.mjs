/* Values over frames: with limits, bands of uncertainty, marks of frames, and the values under the pointer. */
import {colour, frameCount, flags, markOf, numberOf, roomForNames, sizedWithBackground, timeText} from './data.mjs';
import {go, panTime, time, whenTimeChanges, zoomTime} from './time.mjs';

const charts = [];
let pointed = null; /* {chart, frame}: what the pointer is over */

/* ---- scales */

function niceStep(range, count) {
  const raw = range / count, power = 10 ** Math.floor(Math.log10(raw)), lead = raw / power;
  return power * (lead > 5 ? 10 : lead > 2 ? 5 : lead > 1 ? 2 : 1);
}

function numberText(v) {
  return Math.abs(v) >= 1e5 || (v && Math.abs(v) < 1e-3) ? v.toExponential(1) : String(+v.toFixed(4));
}

function rangeOf(lines) {
  let low = Infinity, high = -Infinity;
  for (const {values} of lines)
    for (const v of values) {
      if (v < low) low = v;
      if (v > high) high = v;
    }
  return low <= high ? [low, high] : [0, 1];
}

/* Frames that are marked as bad do not set the scale, if they are far above the others. */
function calmHigh(values, high) {
  let calm = 0;
  for (let i = 0; i < frameCount; i++) if (!flags[i] && values[i] > calm) calm = values[i];
  return calm > 0 && high > 4 * calm ? 2 * calm : high;
}

/* A few frames far above the others, as the first one, leave the picture. */
function usualHigh(values, high) {
  const sorted = Float32Array.from(values).sort(), usual = sorted[Math.floor(0.99 * (frameCount - 1))];
  return high > 3 * usual ? Math.max(1, 1.5 * usual) : high;
}

function setScale(chart) {
  let [low, high] = rangeOf(chart.lines);
  const top = high;
  if (chart.zero) low = Math.min(0, low);
  if (chart.clip) high = usualHigh(chart.lines[0].values, high);
  if (chart.marks) high = calmHigh(chart.lines[0].values, high);
  chart.beyond = chart.marks && top > high ? top : null;
  if (chart.least) high = Math.max(high, chart.least);
  const span = high - low || Math.abs(high) || 1;
  for (const v of chart.limits) if (v > low - span && v < high + span) {
    low = Math.min(low, v);
    high = Math.max(high, v);
  }
  const room = 0.06 * (high - low || span);
  chart.low = chart.zero && low === 0 ? 0 : low - room;
  chart.high = high + room;
}

/* Where things are on the canvas, at its present size and in the present stretch of time. */
function frameOfChart(chart, width, height) {
  const left = chart.small ? 34 : roomForNames(width), right = 8, top = 8, bottom = chart.small ? 4 : 20;
  const w = width - left - right, h = height - top - bottom, span = time.to - time.from;
  return {
    left, top, w, h, right: width - right, bottom: height - bottom,
    x: frame => left + w * (frame - time.from) / span,
    y: v => top + h * (1 - (v - chart.low) / (chart.high - chart.low)),
    frameAt: x => Math.max(0, Math.min(frameCount - 1, Math.round(time.from + span * (x - left) / w))),
  };
}

/* ---- drawing */

function drawGrid(g, chart, at) {
  const fine = niceStep(chart.high - chart.low, chart.small ? 2 : 4), step = chart.whole ? Math.max(1, fine) : fine;
  g.font = `${chart.small ? 10 : 11}px system-ui, sans-serif`;
  g.fillStyle = colour.faint;
  g.strokeStyle = colour.grid;
  g.lineWidth = 1;
  g.textAlign = 'right';
  g.textBaseline = 'middle';
  g.beginPath();
  for (let v = Math.ceil(chart.low / step) * step; v <= chart.high + 1e-9 * step; v += step) {
    g.moveTo(at.left, at.y(v));
    g.lineTo(at.right, at.y(v));
    g.fillText(numberText(v), at.left - 5, at.y(v));
  }
  g.stroke();
}

export function drawFrameNumbers(g, at) {
  const first = numberOf(time.from), last = D.first + time.to * D.stride;
  const step = Math.max(1, niceStep(last - first, Math.max(2, at.w / 90)));
  g.font = '11px system-ui, sans-serif';
  g.fillStyle = colour.faint;
  g.textAlign = 'center';
  g.textBaseline = 'top';
  for (let f = Math.ceil(first / step) * step; f <= last; f += step) {
    const text = String(f), most = at.left + at.w + 7 - g.measureText(text).width / 2;
    g.fillText(text, Math.min(most, at.x((f - D.first) / D.stride)), at.bottom + 5);
  }
}

export function drawMarks(g, at) {
  const to = Math.min(frameCount - 1, Math.floor(time.to));
  g.globalAlpha = 0.35;
  for (let i = Math.ceil(time.from), end; i <= to; i = end) {
    const mark = markOf(i);
    for (end = i + 1; end <= to && markOf(end) === mark;) end++;
    if (!mark || mark.isQuiet) continue;
    g.fillStyle = colour[mark.colour];
    g.fillRect(at.x(i - 0.5), at.top, Math.max(1.5, at.x(end) - at.x(i)), at.h);
  }
  g.globalAlpha = 1;
}

function drawLimits(g, chart, at) {
  g.strokeStyle = colour.reject;
  g.setLineDash([4, 3]);
  g.beginPath();
  for (const v of chart.limits) if (v >= chart.low && v <= chart.high) {
    g.moveTo(at.left, at.y(v));
    g.lineTo(at.right, at.y(v));
  }
  g.stroke();
  g.setLineDash([]);
}

/* The band is known at some frames, at equal distances. */
export function bandAt(line, frame) {
  const place = Math.min(line.band.length - 1, frame / line.bandStep), k = Math.floor(place), rest = place - k;
  const next = Math.min(line.band.length - 1, k + 1);
  return (1 - rest) * line.band[k] + rest * line.band[next];
}

function drawBand(g, line, at) {
  if (!line.band) return;
  const from = Math.max(0, Math.floor(time.from)), to = Math.min(frameCount - 1, Math.ceil(time.to));
  const step = Math.max(1, Math.floor((to - from) / (2 * at.w)));
  g.fillStyle = colour[line.colour];
  g.globalAlpha = 0.18;
  g.beginPath();
  for (let i = from; i <= to; i += step) g.lineTo(at.x(i), at.y(line.values[i] + bandAt(line, i)));
  for (let i = to; i >= from; i -= step) g.lineTo(at.x(i), at.y(line.values[i] - bandAt(line, i)));
  g.fill();
  g.globalAlpha = 1;
}

function drawLine(g, chart, line, at) {
  const from = Math.max(0, Math.floor(time.from)), to = Math.min(frameCount - 1, Math.ceil(time.to));
  let isDown = false;
  g.strokeStyle = colour[line.colour];
  g.lineWidth = chart.small ? 1.2 : 1.5;
  g.lineJoin = 'round';
  g.setLineDash(line.isDashed ? [5, 3] : []);
  g.globalAlpha = line.isDashed ? 0.6 : 1;
  g.beginPath();
  for (let i = from; i <= to; i++) {
    const v = line.values[i];
    if (Number.isNaN(v)) {
      isDown = false;
      continue;
    }
    if (isDown) g.lineTo(at.x(i), Math.max(at.top - 2, at.y(v)));
    else g.moveTo(at.x(i), Math.max(at.top - 2, at.y(v)));
    isDown = true;
  }
  g.stroke();
  g.setLineDash([]);
  g.globalAlpha = 1;
}

export function drawCursor(g, at) {
  if (time.frame < time.from || time.frame > time.to) return;
  g.strokeStyle = colour.ink;
  g.globalAlpha = 0.5;
  g.lineWidth = 1;
  g.beginPath();
  g.moveTo(at.x(time.frame), at.top);
  g.lineTo(at.x(time.frame), at.top + at.h);
  g.stroke();
  g.globalAlpha = 1;
}

/* A small box of text beside a point. */
export function drawTip(g, x, y, lines, width) {
  g.font = '11px system-ui, sans-serif';
  const w = Math.max(...lines.map(text => g.measureText(text).width)) + 12, h = 15 * lines.length + 6;
  const left = x + 10 + w > width ? x - 10 - w : x + 10, top = Math.max(2, y - h / 2);
  g.fillStyle = colour.paper;
  g.strokeStyle = colour.rule;
  g.lineWidth = 1;
  g.beginPath();
  g.rect(left, top, w, h);
  g.fill();
  g.stroke();
  g.fillStyle = colour.ink;
  g.textAlign = 'left';
  g.textBaseline = 'top';
  lines.forEach((text, i) => { g.fillText(text, left + 6, top + 5 + 15 * i); });
}

function valueText(chart, line, frame) {
  const v = line.values[frame], band = line.band ? ` ± ${bandAt(line, frame).toFixed(1)}` : '';
  const name = chart.lines.length > 1 ? `${line.name} ` : '';
  return `${name}${Number.isNaN(v) ? 'missing' : v.toFixed(chart.whole ? 0 : 2) + band} ${chart.unit}`;
}

function drawPointed(g, chart, at, width) {
  const {frame} = pointed, x = at.x(frame);
  g.fillStyle = colour.ink;
  for (const line of chart.lines) {
    if (Number.isNaN(line.values[frame])) continue;
    g.beginPath();
    g.arc(x, at.y(line.values[frame]), 2.5, 0, 7);
    g.fill();
  }
  const mark = markOf(frame), lines = [timeText(frame), ...chart.lines.map(line => valueText(chart, line, frame))];
  drawTip(g, x, at.top + at.h / 2, mark ? [...lines, mark.label] : lines, width);
}

/* All but the cursor and the pointer. */
function drawBackground(g, chart, width, height) {
  const at = frameOfChart(chart, width, height);
  drawGrid(g, chart, at);
  if (!chart.small) drawFrameNumbers(g, at);
  g.save();
  g.beginPath();
  g.rect(at.left, 0, at.w, height);
  g.clip();
  if (chart.marks) drawMarks(g, at);
  for (const line of chart.lines) drawBand(g, line, at);
  drawLimits(g, chart, at);
  for (const line of chart.lines) drawLine(g, chart, line, at);
  g.restore();
  if (chart.beyond !== null) {
    g.textAlign = 'right';
    g.textBaseline = 'top';
    g.fillStyle = colour.faint;
    g.fillText(`marked frames go beyond, up to ${chart.beyond.toFixed(1)}`, at.right - 4, at.top + 2);
  }
}

export function drawChart(chart) {
  const [g, width, height] = sizedWithBackground(chart.canvas, `${time.from} ${time.to}`,
    (layer, w, h) => drawBackground(layer, chart, w, h));
  if (!width || !height) return;
  const at = frameOfChart(chart, width, height);
  drawCursor(g, at);
  if (pointed && pointed.chart === chart) drawPointed(g, chart, at, width);
}

/* ---- pointer and wheel; `place` has the frame at a position and is asked anew each time */

export function listenToTime(canvas, frameAt, onPoint) {
  let isHeld = false;
  canvas.addEventListener('pointerdown', e => {
    isHeld = true;
    canvas.setPointerCapture(e.pointerId);
    go(frameAt(e.offsetX));
  });
  canvas.addEventListener('pointerup', () => { isHeld = false; });
  canvas.addEventListener('pointermove', e => {
    onPoint(frameAt(e.offsetX), e);
    if (isHeld) go(frameAt(e.offsetX));
  });
  canvas.addEventListener('pointerleave', () => { onPoint(null); });
  canvas.addEventListener('wheel', e => {
    if (!e.ctrlKey && !e.shiftKey && !canvas.closest('dialog')) return; /* the page scrolls */
    e.preventDefault();
    if (e.shiftKey) panTime((e.deltaX || e.deltaY) / 1000 * (time.to - time.from));
    else zoomTime(frameAt(e.offsetX), Math.exp(0.0015 * e.deltaY));
  }, {passive: false});
}

/* lines: {name, values, colour, band, bandStep, isDashed}; options: unit, small, zero, clip, marks, whole, least, limits */
export function addChart(canvas, lines, options) {
  const limits = (options.limits || []).filter(v => Number.isFinite(v));
  const chart = {...options, canvas, lines, limits, isVisible: !options.small};
  setScale(chart);
  charts.push(chart);
  listenToTime(canvas, x => frameOfChart(chart, canvas.clientWidth, canvas.clientHeight).frameAt(x), frame => {
    pointed = frame === null ? null : {chart, frame};
    drawChart(chart);
  });
  drawWhenVisible(chart);
  return chart;
}

function drawWhenVisible(chart) {
  chart.observer = new IntersectionObserver(list => {
    chart.isVisible = list[list.length - 1].isIntersecting;
    if (chart.isVisible) drawChart(chart);
  });
  chart.observer.observe(chart.canvas);
}

export function removeChart(chart) {
  charts.splice(charts.indexOf(chart), 1);
  if (chart.observer) chart.observer.disconnect();
}

whenTimeChanges(() => { for (const chart of charts) if (chart.isVisible) drawChart(chart); });
