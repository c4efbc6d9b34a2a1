/** The search of the documentation: every word must occur; matches in a title or heading come first, pages for users before all others. */
const root = document.documentElement.dataset.root;
const input = document.getElementById('search');
const found = document.getElementById('found');
const MAX_FOUND = 20;
let index;

async function loadIndex() {
  index ??= fetch(`${root}/search-index.json`).then((response) => response.json());
  return index;
}

function score([address, title, heading, words], terms) {
  const [inTitle, inHeading, inWords] = [title, heading, words].map((text) => text.toLowerCase());
  let sum = 0;
  for (const term of terms) {
    const points =
      (inTitle.includes(term) ? 4 : 0) + (inHeading.includes(term) ? 6 : 0) + (inWords.includes(term) ? 1 : 0);
    if (points === 0) return 0;
    sum += points;
  }
  return /^(?:adr|project)\//.test(address) ? sum / 4 : sum;
}

function excerpt(words, term) {
  const at = Math.max(0, words.toLowerCase().indexOf(term) - 40);
  return `${at > 0 ? '…' : ''}${words.slice(at, at + 120)}…`;
}

function renderRow([address, title, heading, words], term) {
  const link = document.createElement('a');
  link.href = `${root}/${address}`;
  link.textContent = heading === title ? title : `${title}: ${heading}`;
  const small = document.createElement('small');
  small.textContent = excerpt(words, term);
  link.append(small);
  const item = document.createElement('li');
  item.append(link);
  return item;
}

async function search() {
  const terms = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = terms.length === 0;
  if (terms.length === 0) return;
  const rows = (await loadIndex())
    .map((row) => ({ row, points: score(row, terms) }))
    .filter(({ points }) => points > 0)
    .sort((a, b) => b.points - a.points)
    .slice(0, MAX_FOUND);
  const none = document.createElement('li');
  none.textContent = 'Nothing found.';
  found.replaceChildren(...(rows.length === 0 ? [none] : rows.map(({ row }) => renderRow(row, terms[0]))));
}

input.addEventListener('input', () => void search());
/** Moves from the input through the results; returns whether there was one to move to. */
function moveFocus(by) {
  const stops = [input, ...found.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement);
  if (found.hidden || at < 0) return false;
  stops[Math.min(Math.max(at + by, 0), stops.length - 1)].focus();
  return true;
}

document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    if (moveFocus(event.key === 'ArrowDown' ? 1 : -1)) event.preventDefault();
  } else if (event.key === 'Escape') {
    input.value = '';
    found.hidden = true;
  } else if (event.key === 'Enter' && document.activeElement === input) found.querySelector('a')?.click();
});
