/* The page of `ulna solve --report`: the player, the charts and the map, put together. */
import {$, colour, frameCount, frameOf, markOf, readColours, series, sizedWithBackground} from './data.mjs';
import {drawAll, go, play, showAllTime, time, useErrors, whenTimeChanges, zoomTime} from './time.mjs';
import {drawScene, listenToScene, lookFrom} from './scene.mjs';
import {addChart} from './chart.mjs';
import {paintMap, startMap} from './map.mjs';
import {startJoints} from './joints.mjs';

/* The marks of all frames, under the slider. */
function drawMarkedFrames(g, width, height) {
  const each = width / frameCount;
  g.fillStyle = colour.grid;
  g.fillRect(0, 0, width, height);
  for (let i = 0; i < frameCount; i++) {
    const mark = markOf(i);
    if (!mark) continue;
    g.fillStyle = colour[mark.colour];
    g.fillRect(i * each, mark.isQuiet ? height / 2 : 0, Math.max(1.5, each + 0.5), height);
  }
}

function drawStrip() {
  const [g, width, height] = sizedWithBackground($('strip'), '', drawMarkedFrames);
  g.fillStyle = colour.ink;
  g.fillRect(time.frame * width / frameCount - 1, 0, 2, height);
}

/* A chart, or nothing at all where there is nothing to see. */
function chartUnless(isEmpty, name, values, options) {
  if (isEmpty) $(name).closest('figure').remove();
  else addChart($(name), [{name, values, colour: 'c0'}], {zero: true, ...options});
}

function startCharts() {
  const rms = series(D.rms), iterations = series(D.iterations), missing = series(D.missing);
  useErrors(rms);
  chartUnless(false, 'rms', rms, {marks: true, unit: 'mm'});
  chartUnless(!missing.some(v => v > 0), 'missing', missing, {least: 1, whole: true, unit: ''});
  chartUnless(!iterations.some(v => v > 0), 'iterations', iterations, {clip: true, whole: true, unit: ''});
}

function followLinks() {
  document.addEventListener('click', e => {
    const link = e.target.closest('[data-frame]');
    if (!link) return;
    e.preventDefault();
    go(frameOf(+link.dataset.frame));
    $('player').scrollIntoView({behavior: 'smooth', block: 'nearest'});
  });
}

function listenToKeys() {
  document.addEventListener('keydown', e => {
    const isRange = e.target.type === 'range';
    if (/INPUT|SELECT|BUTTON/.test(e.target.tagName) && !isRange) return;
    if (e.key === ' ') {
      e.preventDefault();
      play(!time.playing);
    }
    if (!isRange && e.key === 'ArrowRight') go(time.frame + 1);
    if (!isRange && e.key === 'ArrowLeft') go(time.frame - 1);
  });
}

function listenToControls() {
  $('play').onclick = () => play(!time.playing);
  $('slider').max = frameCount - 1;
  $('slider').oninput = e => go(+e.target.value);
  $('speed').onchange = e => { time.speed = +e.target.value; };
  for (const button of document.querySelectorAll('[data-zoom]'))
    button.onclick = () => (+button.dataset.zoom ? zoomTime(time.frame, +button.dataset.zoom) : showAllTime());
  window.addEventListener('resize', drawAll);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    readColours();
    if (frameCount > 1) paintMap();
    drawAll();
  });
}

/* One frame has no course to be shown. */
function startTimePanels() {
  if (frameCount < 2) {
    $('course').remove();
    $('values').remove();
    return;
  }
  startCharts();
  startMap();
  startJoints();
}

readColours();
startTimePanels();
listenToScene();
listenToControls();
listenToKeys();
followLinks();
whenTimeChanges(drawStrip);
lookFrom('free');
go(0);
drawScene();
