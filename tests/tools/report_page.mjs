/*
 * Runs inside the report page (report_page.sh adds it at the end): uses the page as a reader does, and writes what it found
 * wrong into the document. Only what the reader sees is looked at: elements and pixels.
 */
const find = id => document.getElementById(id);
const problems = [...window.failures];

function expect(isTrue, what) {
  if (!isTrue) problems.push(what);
}

/* Read from a copy: Chromium complains about canvases of the page that are read often. */
const copy = document.createElement('canvas').getContext('2d', {willReadFrequently: true});

function pixelsOf(canvas) {
  copy.canvas.width = canvas.width;
  copy.canvas.height = canvas.height;
  copy.drawImage(canvas, 0, 0);
  return copy.getImageData(0, 0, canvas.width, canvas.height).data;
}

/* Numbers that change when the picture does: pixels that are painted, and a sum over all. */
function pictureOf(canvas) {
  if (!canvas.width || !canvas.height) return {painted: 0, sum: 0};
  const data = pixelsOf(canvas);
  let painted = 0, sum = 0;
  for (let i = 0; i < data.length; i += 4) {
    painted += data[i + 3] > 0;
    sum = (sum * 31 + data[i] + 256 * data[i + 1] + 65536 * data[i + 2] + data[i + 3]) % 1000000007;
  }
  return {painted, sum};
}

/* How many pixels have exactly the colour of that name. */
function countColour(canvas, name) {
  const text = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const want = [1, 3, 5].map(at => Number.parseInt(text.slice(at, at + 2), 16));
  const data = pixelsOf(canvas);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) count += data[i + 3] === 255 && want.every((x, k) => Math.abs(data[i + k] - x) < 3);
  return count;
}

function expectChange(canvas, what, act) {
  const before = pictureOf(canvas).sum;
  act();
  expect(pictureOf(canvas).sum !== before, `${what} does not change the picture`);
}

function point(canvas, type, options) {
  const box = canvas.getBoundingClientRect(), Kind = type === 'wheel' ? WheelEvent : PointerEvent;
  canvas.dispatchEvent(new Kind(type, {clientX: box.left + 0.6 * box.width, clientY: box.top + 0.5 * box.height,
                                       bubbles: true, cancelable: true, pointerId: 1, ...options}));
}

function set(id, change) {
  Object.assign(find(id), change);
  find(id).dispatchEvent(new Event('change'));
}

function tryPlayer() {
  const scene = find('scene');
  expect(pictureOf(scene).painted > 1000, 'the player draws nothing');
  for (const [side, least] of [['left', 600], ['right', 600], ['middle', 180]]) { /* markers alone have half of it */
    const count = countColour(scene, side);
    expect(count > least, `bones and markers of the ${side}: only ${count} pixels`);
  }
  for (const view of ['front', 'side', 'top', 'free'])
    expectChange(scene, `the view ${view}`, () => document.querySelector(`[data-view=${view}]`).click());
  expectChange(scene, 'names', () => set('names', {checked: true}));
  expectChange(scene, 'the ghost', () => set('ghost', {value: 'off'}));
  expectChange(scene, 'the ghost beside', () => set('ghost', {value: 'beside'}));
  const link = document.querySelector('#frames [data-frame]');
  expectChange(scene, 'a link to a frame', () => link.click());
  expect(find('now').textContent.startsWith(`frame ${link.dataset.frame} `), 'a link leads to another frame');
}

function tryCharts() {
  for (const name of ['rms', 'map', 'missing', 'iterations', 'strip'])
    expect(pictureOf(find(name)).painted > 300, `${name} is not drawn`);
  for (const name of ['rms', 'map']) {
    expectChange(find(name), `the pointer over ${name}`, () => point(find(name), 'pointermove'));
    point(find(name), 'pointerleave');
    expectChange(find(name), `zoom of ${name}`, () => point(find(name), 'wheel', {deltaY: -400, ctrlKey: true}));
    expectChange(find(name), `all of ${name}`, () => document.querySelector('[data-zoom="0"]').click());
  }
}

function tryJoints() {
  const count = () => document.querySelectorAll('#joints figure').length, paired = count();
  expect(paired > 10, 'joints have no charts');
  document.querySelector('#joints button').click();
  expect(find('big').open && pictureOf(find('bigchart')).painted > 1000, 'a chart does not open');
  expectChange(find('bigchart'), 'zoom of the open chart', () => point(find('bigchart'), 'wheel', {deltaY: -400}));
  expectChange(find('bigchart'), 'the pointer over the open chart', () => point(find('bigchart'), 'pointermove'));
  find('big').close();
  set('paired', {checked: false});
  expect(count() > paired, 'left and right do not come apart');
  find('filter').value = 'left_shank';
  find('filter').dispatchEvent(new Event('input'));
  const shown = [...document.querySelectorAll('#joints figure')].filter(box => !box.hidden);
  expect(shown.length > 0 && shown.length < 7, `the filter leaves ${shown.length} charts`);
}

const wait = () => new Promise(resolve => { setTimeout(resolve, 200); });

await wait(); /* charts are drawn when they come into view */
for (const attempt of [tryPlayer, tryCharts, tryJoints])
  try {
    attempt();
  } catch (error) {
    problems.push(`${attempt.name}: ${error.message}`);
  }
await wait(); /* the dialog says that it is closed */
problems.push(...window.failures.filter(text => !problems.includes(text)));
document.body.replaceChildren(`report-page: ${problems.length} problems\n${problems.join('\n')}\nreport-page: end`);
