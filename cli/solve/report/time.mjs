/* The current frame, and the stretch of frames that the charts show. Whoever draws is called when either changes. */
import {$, frameCount, flags, marks, timeText} from './data.mjs';

export const time = {frame: 0, playing: false, speed: 1, from: 0, to: Math.max(1, frameCount - 1)};
const listeners = [];
let clock = 0, pending = 0;

export function whenTimeChanges(draw) {
  listeners.push(draw);
}

export function drawAll() {
  for (const draw of listeners) draw();
}

const rmsOf = {values: null};

export function useErrors(values) {
  rmsOf.values = values;
}

function showLabel() {
  const rms = rmsOf.values ? rmsOf.values[time.frame] : NaN;
  const words = marks.filter(mark => flags[time.frame] & mark.flag).map(mark => mark.label);
  $('slider').value = time.frame;
  $('now').textContent = [timeText(time.frame), Number.isNaN(rms) ? '' : `${rms.toFixed(2)} mm`, ...words]
    .filter(part => part).join(' · ');
}

export function go(frame) {
  time.frame = Math.max(0, Math.min(frameCount - 1, frame));
  if (time.frame < time.from || time.frame > time.to) {
    const half = (time.to - time.from) / 2;
    moveWindow(time.frame - half, time.frame + half);
  }
  showLabel();
  drawAll();
}

function moveWindow(from, to) {
  const last = Math.max(1, frameCount - 1), span = Math.max(Math.min(4, last), Math.min(last, to - from));
  time.from = Math.max(0, Math.min(last - span, from));
  time.to = time.from + span;
}

/* Shows `factor` times as many frames, around one of them. */
export function zoomTime(around, factor) {
  moveWindow(around - (around - time.from) * factor, around + (time.to - around) * factor);
  drawAll();
}

export function panTime(frames) {
  moveWindow(time.from + frames, time.to + frames);
  drawAll();
}

export function showAllTime() {
  moveWindow(0, frameCount - 1);
  drawAll();
}

function tick(now) {
  if (!time.playing) return;
  pending += Math.min(0.2, (now - clock) / 1000) * time.speed * (D.rate || 60) / D.stride;
  clock = now;
  const whole = Math.floor(pending);
  pending -= whole;
  if (whole) go((time.frame + whole) % frameCount);
  requestAnimationFrame(tick);
}

export function play(isOn) {
  time.playing = isOn;
  $('play').textContent = isOn ? 'Pause' : 'Play';
  if (isOn) {
    clock = performance.now();
    requestAnimationFrame(tick);
  }
}
