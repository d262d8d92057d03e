/*
 * Runs inside the page of `ulna paper` (report_page.sh adds it at the end): looks at it as a reader does, and writes what it found wrong
 * into the document.
 */
const problems = [...window.failures];

function expect(isTrue, what) {
  if (!isTrue) problems.push(what);
}

function pictureOf(canvas) {
  const copy = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  copy.canvas.width = canvas.width;
  copy.canvas.height = canvas.height;
  copy.drawImage(canvas, 0, 0);
  const data = copy.getImageData(0, 0, canvas.width, canvas.height).data;
  let painted = 0, sum = 0;
  for (let i = 3; i < data.length; i += 4)
    if (data[i]) {
      painted++;
      sum = (sum + i) % 1000000007;
    }
  return {painted, sum};
}

function trySections() {
  const sections = [...document.querySelectorAll('section')];
  expect(sections.length === 7, `${sections.length} items`);
  for (const section of sections) {
    expect(section.querySelector('.paper .claim').textContent.length > 20, `${section.id}: nothing about the paper`);
    expect(section.querySelector('.why').textContent.length > 40, `${section.id}: no reason`);
    expect(section.querySelector('.ours svg, .ours table, .ours canvas'), `${section.id}: nothing is shown`);
    for (const svg of section.querySelectorAll('svg')) {
      const box = svg.getBoundingClientRect();
      expect(box.width > 150 && box.height > 80, `${section.id}: a picture of ${box.width} x ${box.height}`);
      expect(svg.querySelectorAll('path, circle').length > 2, `${section.id}: an empty picture`);
    }
  }
  expect(document.documentElement.scrollWidth <= window.innerWidth, 'the page is wider than the window');
  for (const link of document.querySelectorAll('.contents a'))
    expect(document.querySelector(link.getAttribute('href')), `${link.getAttribute('href')} leads nowhere`);
}

function tryPlayer() {
  const player = document.querySelector('.player'), slider = player.querySelector('input');
  const canvases = [...player.querySelectorAll('canvas')], button = player.querySelector('button');
  expect(canvases.length === 3, `${canvases.length} skeletons`);
  for (const canvas of canvases) expect(pictureOf(canvas).painted > 500, 'a skeleton is not drawn');
  const before = canvases.map(canvas => pictureOf(canvas).sum);
  slider.value = String(Math.floor(slider.max * 0.9));
  slider.dispatchEvent(new Event('input'));
  canvases.forEach((canvas, i) => { expect(pictureOf(canvas).sum !== before[i], 'the slider moves nothing'); });
  expect(button.textContent === 'Play', 'the slider does not stop the player');
  button.click();
  expect(button.textContent === 'Pause', 'the button does not start the player');
  button.click();
}

for (const attempt of [trySections, tryPlayer])
  try {
    attempt();
  } catch (error) {
    problems.push(`${attempt.name}: ${error.message}`);
  }
problems.push(...window.failures.filter(text => !problems.includes(text)));
document.body.replaceChildren(`report-page: ${problems.length} problems\n${problems.join('\n')}\nreport-page: end`);
