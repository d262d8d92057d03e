/* The player of `ulna paper`: skeletons beside each other, moved by one slider. */
const ahead = [0.87, 0, 0.5], up = [-0.1, 0.98, 0.17];

function dot(a, places, at) {
  return a[0] * places[at] + a[1] * places[at + 1] + a[2] * places[at + 2];
}

/* Drawn so that the root stays in the middle, and all of a body fits. */
function drawSkeleton(canvas, parents, places, frame, reach) {
  const style = getComputedStyle(document.documentElement), context = canvas.getContext('2d');
  const count = parents.length, first = 3 * count * frame;
  const scale = 0.46 * Math.min(canvas.width, canvas.height) / reach;
  const x0 = dot(ahead, places, first), y0 = dot(up, places, first);
  const at = body => [canvas.width / 2 + scale * (dot(ahead, places, first + 3 * body) - x0),
                      canvas.height / 2 - scale * (dot(up, places, first + 3 * body) - y0)];
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.strokeStyle = style.getPropertyValue('--ink');
  context.lineWidth = Math.max(2, canvas.width / 90);
  context.lineCap = 'round';
  context.beginPath();
  for (let body = 0; body < count; body++) {
    if (parents[body] < 0) continue;
    context.moveTo(...at(parents[body]));
    context.lineTo(...at(body));
  }
  context.stroke();
}

/* The farthest that a body is from the root, in any frame. */
function findReach(parents, places) {
  const count = parents.length;
  let reach = 1;
  for (let at = 0; at < places.length; at += 3) {
    const root = at - at % (3 * count);
    reach = Math.max(reach, Math.hypot(places[at] - places[root], places[at + 1] - places[root + 1], places[at + 2] - places[root + 2]));
  }
  return reach;
}

function startPlayer(player) {
  const {parents, skeletons} = JSON.parse(player.querySelector('script').textContent);
  const stages = player.querySelector('.stages'), slider = player.querySelector('input');
  const button = player.querySelector('button'), output = player.querySelector('output');
  const frames = Math.floor(skeletons[0].places.length / (3 * parents.length));
  const reach = findReach(parents, skeletons[0].places);
  const canvases = skeletons.map(skeleton => {
    const figure = document.createElement('figure'), title = document.createElement('h4'), canvas = document.createElement('canvas');
    title.textContent = skeleton.name;
    canvas.width = 480;
    canvas.height = 600;
    figure.append(title, canvas);
    stages.append(figure);
    return canvas;
  });
  let isPlaying = !matchMedia('(prefers-reduced-motion: reduce)').matches, last = 0;
  slider.max = String(frames - 1);

  function show() {
    const frame = Number(slider.value);
    skeletons.forEach((skeleton, i) => { drawSkeleton(canvases[i], parents, skeleton.places, frame, reach); });
    output.textContent = `${frame + 1} / ${frames}`;
    button.textContent = isPlaying ? 'Pause' : 'Play';
  }
  function tick(time) {
    if (isPlaying && time - last > 33) {
      last = time;
      slider.value = String((Number(slider.value) + 1) % frames);
      show();
    }
    if (isPlaying) requestAnimationFrame(tick);
  }
  slider.addEventListener('input', () => {
    isPlaying = false;
    show();
  });
  button.addEventListener('click', () => {
    isPlaying = !isPlaying;
    show();
    if (isPlaying) requestAnimationFrame(tick);
  });
  show();
  requestAnimationFrame(tick);
}

for (const player of document.querySelectorAll('.player')) startPlayer(player);
