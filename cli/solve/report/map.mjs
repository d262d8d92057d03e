/* All markers over time: how far each is from its place on the skeleton, and where it is missing. */
import {$, bytes, colour, markerNames, markerSides, numberOf, roomForNames, sizedWithBackground} from './data.mjs';
import {drawCursor, drawFrameNumbers, drawTip, listenToTime} from './chart.mjs';
import {time, whenTimeChanges} from './time.mjs';

const GAP = 255, cells = bytes(D.map.d); /* marker by marker: D.map.unit mm each, GAP where it is missing */
const columns = D.map.columns, framesPerColumn = D.frames / columns;
const picture = document.createElement('canvas');
let pointedCell = null;

/* Left, right and middle together; else as they come. */
const rank = {left: 0, right: 1, middle: 2};
const order = D.markers.map((_, i) => i).sort((a, b) => rank[markerSides[a].side] - rank[markerSides[b].side] || a - b);

function rgb(text) {
  const digits = text.slice(1), each = digits.length === 3 ? 1 : 2;
  return [0, 1, 2].map(i => Number.parseInt(digits.slice(i * each, (i + 1) * each).repeat(each === 1 ? 2 : 1), 16));
}

/* From paper over amber to red; D.map.full mm are full red. */
function cellColours() {
  const stops = ['card', 'c5', 'look', 'reject'].map(name => rgb(colour[name])), list = [];
  for (let value = 0; value < GAP; value++) {
    const place = Math.min(1, value * D.map.unit / D.map.full) ** 0.7 * (stops.length - 1);
    const k = Math.min(stops.length - 2, Math.floor(place)), rest = place - k;
    list.push(stops[k].map((x, i) => Math.round(x + rest * (stops[k + 1][i] - x))));
  }
  list.push(rgb(colour.ink));
  return list;
}

/* One pixel a cell; again when the colours change. */
export function paintMap() {
  picture.width = columns;
  picture.height = order.length;
  const g = picture.getContext('2d'), image = g.createImageData(columns, order.length), palette = cellColours();
  order.forEach((marker, row) => {
    for (let c = 0; c < columns; c++) {
      const at = 4 * (row * columns + c);
      image.data.set(palette[cells[marker * columns + c]], at);
      image.data[at + 3] = 255;
    }
  });
  g.putImageData(image, 0, 0);
}

function placeOfMap(width, height) {
  const left = roomForNames(width), top = 4, bottom = height - 20, w = width - left - 8, span = time.to - time.from;
  return {left, top, bottom, w, h: bottom - top, row: (bottom - top) / order.length,
          x: frame => left + w * (frame - time.from) / span,
          frameAt: x => Math.max(0, Math.min(D.frames - 1, Math.round(time.from + span * (x - left) / w)))};
}

function drawNames(g, at) {
  const skip = Math.ceil(11 / at.row);
  g.font = '10px system-ui, sans-serif';
  g.fillStyle = colour.faint;
  g.textAlign = 'right';
  g.textBaseline = 'middle';
  for (let row = 0; row < order.length; row += skip)
    g.fillText(markerNames[order[row]].slice(0, (at.left - 8) / 5.5), at.left - 4, at.top + (row + 0.5) * at.row);
}

function drawPointedCell(g, at, width) {
  const {frame, y} = pointedCell, row = Math.floor((y - at.top) / at.row);
  if (row < 0 || row >= order.length) return;
  const marker = order[row], value = cells[marker * columns + Math.min(columns - 1, Math.floor(frame / framesPerColumn))];
  const text = value === GAP ? 'missing' : `${value === GAP - 1 ? 'over ' : ''}${(value * D.map.unit).toFixed(1)} mm`;
  drawTip(g, at.x(frame), y, [`${markerNames[marker]}: ${text}`, `frame ${numberOf(frame)}`], width);
}

function drawCells(g, width, height) {
  const at = placeOfMap(width, height), from = time.from / framesPerColumn;
  const count = Math.max(0.01, (time.to - time.from) / framesPerColumn);
  g.imageSmoothingEnabled = false;
  g.drawImage(picture, from, 0, Math.min(count, columns - from), order.length, at.left, at.top, at.w, at.h);
  drawNames(g, at);
  drawFrameNumbers(g, at);
}

function drawMap() {
  const [g, width, height] = sizedWithBackground($('map'), `${time.from} ${time.to}`, drawCells);
  if (!width || !height) return;
  const at = placeOfMap(width, height);
  drawCursor(g, at);
  if (pointedCell) drawPointedCell(g, at, width);
}

export function startMap() {
  $('map').style.height = `${Math.max(90, Math.min(520, 12 * order.length)) + 24}px`;
  paintMap();
  listenToTime($('map'), x => placeOfMap($('map').clientWidth, $('map').clientHeight).frameAt(x), (frame, e) => {
    pointedCell = frame === null ? null : {frame, y: e.offsetY};
    drawMap();
  });
  whenTimeChanges(drawMap);
}
