/*
 * Runs inside the page of `ulna batch` (report_page.sh adds it at the end): opens the page as wide as a phone, and writes what it found wrong
 * into the document.
 */
const problems = [...window.failures];
const phone = 390;

function expect(isTrue, what) {
  if (!isTrue) problems.push(what);
}

/* The page in a frame of that width, without this script. */
async function openNarrow() {
  const page = document.documentElement.cloneNode(true), frame = document.createElement('iframe');
  for (const script of page.querySelectorAll('script')) script.remove();
  frame.style.cssText = `width: ${phone}px; height: 2000px; border: 0`;
  frame.srcdoc = page.outerHTML;
  await new Promise(resolve => {
    frame.addEventListener('load', resolve);
    document.body.append(frame);
  });
  return frame.contentDocument;
}

function expectInside(element, what) {
  const box = element.getBoundingClientRect();
  expect(box.width > 0 && box.left >= 0 && box.right <= phone, `${what} reaches from ${box.left} to ${box.right}`);
}

async function tryNarrow() {
  const page = await openNarrow(), rows = [...page.querySelectorAll('.takes tbody tr')];
  expect(rows.length === 2, `${rows.length} takes`);
  expect(page.documentElement.scrollWidth <= phone, `the page is ${page.documentElement.scrollWidth} wide`);
  for (const row of rows) {
    const name = row.cells[0].textContent, verdict = row.cells[2];
    expect(['failed', 'not to be used', 'to look at', 'can be trusted'].includes(verdict.textContent), `${name}: '${verdict.textContent}'`);
    for (const cell of row.cells)
      if (cell.textContent) expectInside(cell, `${name}: '${cell.textContent}'`);
    expect(verdict.getBoundingClientRect().top < row.getBoundingClientRect().top + 40, `${name}: its verdict is far below`);
  }
  for (const square of page.querySelectorAll('.map a, .map span')) expectInside(square, 'a square');
}

try {
  await tryNarrow();
} catch (error) {
  problems.push(`tryNarrow: ${error.message}`);
}
problems.push(...window.failures.filter(text => !problems.includes(text)));
document.body.replaceChildren(`report-page: ${problems.length} problems\n${problems.join('\n')}\nreport-page: end`);
