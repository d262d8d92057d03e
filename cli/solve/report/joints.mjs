/* Joint values: small charts, left over right, each of which opens to the full width. */
import {$, bodySides, dofSides, series} from './data.mjs';
import {addChart, drawChart, removeChart} from './chart.mjs';
import {drawAll} from './time.mjs';

/* A band this wide, in degrees or metres, says that the markers do not determine the value. */
const UNSURE = {'°': 60, m: 0.25 * D.size};

/* A frame without markers does not count. */
function bandOf(dof) {
  if (!dof.band) return null;
  const values = series(dof.band).map(v => (Number.isNaN(v) ? UNSURE[dof.u] : v));
  return Float32Array.from(values).sort()[Math.floor(values.length / 2)] < UNSURE[dof.u] ? values : null;
}

const dofs = D.dofs.map((dof, i) => {
  const values = series(dof), hasLimits = dof.lo !== null || dof.hi !== null;
  const low = dof.lo ?? -Infinity, high = dof.hi ?? Infinity;
  return {
    ...dof, ...dofSides[i], axis: D.axes[i], values, low, high, band: bandOf(dof), ghost: dof.ghost ? series(dof.ghost) : null,
    isOutside: hasLimits && values.some(v => v < low - 0.01 || v > high + 0.01),
    isUndetermined: Boolean(dof.band) && !bandOf(dof), side: bodySides[dof.body].side === 'middle' ? 'middle' : dofSides[i].side,
  };
});

/* From right to left, on the skeleton at rest. */
function leftAtRest() {
  const sum = [0, 0, 0];
  bodySides.forEach(({side, other}, i) => {
    if (side === 'left') D.rest[i].forEach((x, j) => { sum[j] += x - D.rest[other][j]; });
  });
  const length = Math.hypot(...sum) || 1;
  return sum.map(x => x / length);
}

function dot(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Whether the right one moves the other way: against the mirror image of the left one. Axes of rotations are mirrored the other way round. */
function isMirrored(left, right) {
  const n = leftAtRest(), across = dot(left.axis, n), image = left.axis.map((x, j) => x - 2 * across * n[j]);
  return (left.u === 'm' ? 1 : -1) * dot(image, right.axis) < 0;
}

function negated(values) {
  return values.map(v => -v);
}

function linesOf(dof, name, isFlipped) {
  const place = {values: isFlipped ? negated(dof.values) : dof.values, name: isFlipped ? `${name} (mirrored)` : name};
  const lines = [{...place, colour: dof.side, band: dof.band, bandStep: D.band_step}];
  if (dof.ghost)
    lines.push({name: `${name} of the ghost`, colour: dof.side, isDashed: true,
                values: isFlipped ? negated(dof.ghost) : dof.ghost});
  return lines;
}

/* One chart for a joint value, or for those of both sides. */
function groupOf(dof, isPaired) {
  const other = isPaired && dof.other >= 0 ? dofs[dof.other] : null;
  if (!other) return {list: [dof], title: dof.n, lines: linesOf(dof, dof.n, false)};
  const [left, right] = dof.side === 'left' ? [dof, other] : [other, dof];
  return {list: [left, right], title: `${left.n} / ${right.n}`,
          lines: [...linesOf(left, 'left', false), ...linesOf(right, 'right', isMirrored(left, right))]};
}

function groups(isPaired) {
  return dofs.filter(dof => !(isPaired && dof.other >= 0 && dof.side === 'right')).map(dof => groupOf(dof, isPaired));
}

function captionOf(group) {
  const remarks = [];
  if (group.list.some(dof => dof.isOutside)) remarks.push('outside');
  if (group.list.some(dof => dof.isUndetermined)) remarks.push('not determined');
  return [`${group.title} (${group.list[0].u})`, ...remarks].join(' · ');
}

function chartOf(canvas, group, isSmall) {
  const {low, high, u} = group.list[0];
  return addChart(canvas, group.lines, {small: isSmall, unit: u, limits: [low, high], marks: false});
}

/* ---- the chart in full width */

let opened = null;

function open(group) {
  $('bigtitle').textContent = captionOf(group);
  $('key').replaceChildren(...group.lines.map(line => {
    const item = document.createElement('span'), dot = document.createElement('span');
    dot.className = `key ${line.colour}${line.isDashed ? ' dashed' : ''}`;
    item.append(dot, line.name);
    return item;
  }));
  $('big').showModal();
  opened = chartOf($('bigchart'), group, false);
  drawChart(opened);
}

function close() {
  if (opened) removeChart(opened);
  $('bigchart').replaceWith($('bigchart').cloneNode()); /* without listeners */
  opened = null;
}

/* ---- the small ones */

let shown = [];

function boxOf(group) {
  const box = document.createElement('figure'), head = document.createElement('figcaption'), button = document.createElement('button');
  const canvas = document.createElement('canvas');
  button.type = 'button';
  button.textContent = captionOf(group);
  button.title = 'Open in full width';
  button.className = group.list.some(dof => dof.isOutside) ? 'out' : '';
  button.onclick = () => open(group);
  head.append(button);
  canvas.className = 'small';
  box.append(head, canvas);
  return {box, group, chart: chartOf(canvas, group, true), name: group.title.toLowerCase(),
          isOutside: group.list.some(dof => dof.isOutside)};
}

function build() {
  for (const {chart} of shown) removeChart(chart);
  shown = groups($('paired').checked).map(boxOf);
  $('joints').replaceChildren(...shown.map(({box}) => box));
  choose();
}

function choose() {
  const words = $('filter').value.toLowerCase().split(/[ ,]+/).filter(word => word);
  for (const {box, name, isOutside} of shown) {
    const isNamed = !words.length || words.some(word => name.includes(word));
    box.hidden = !isNamed || ($('only').checked && !isOutside);
  }
  $('shown').textContent = `${shown.filter(({box}) => !box.hidden).length} of ${shown.length}`;
  drawAll();
}

export function startJoints() {
  if (!dofs.length) {
    $('values').remove();
    return;
  }
  $('pairedbox').hidden = !dofs.some(dof => dof.other >= 0);
  $('onlybox').hidden = !dofs.some(dof => dof.isOutside);
  $('bandnote').hidden = !dofs.some(dof => dof.band);
  if (D.band_offsets) $('bandoffsets').textContent = 'most of their width may come from the offsets, whose deviations the attachment gives: such errors last all take';
  $('filter').oninput = $('only').onchange = choose;
  $('paired').onchange = build;
  $('big').addEventListener('close', close);
  build();
}
