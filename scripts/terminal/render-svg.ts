import type { Film, Size } from './frames.ts';
import { cutPieces, type Piece } from './pieces.ts';

export interface Picture extends Size {
  readonly film: Film;
  readonly title: string;
  /** A description for screen readers. */
  readonly description: string;
}

/**
 * Renders an animated SVG. Without animation, and for readers who prefer less motion, it shows the last frame. It
 * contains no script, because an SVG inside `<img>` runs none.
 */
export function renderSvg({ film, title, description, columns, rows }: Picture): string {
  const width = PAD * 2 + columns * CHAR;
  const height = BAR + PAD * 2 + rows * LINE;
  const seconds = round(film.durationMs / 1000);
  const at = (ms: number): string => `${round((ms / film.durationMs) * 100)}%`;
  const groups = Map.groupBy(cutPieces(film), ({ fromMs, toMs }) => `${fromMs} ${toMs ?? ''}`);
  const named = [...groups.values()].map((pieces, i) => ({ pieces, name: `k${i}` }));
  const last = film.frames.at(-1)?.view;
  const keyframes = [
    steps(
      's',
      changes(film, ({ top }) => `transform:translateY(${-top * LINE}px)`),
      at,
    ),
    steps(
      'c',
      changes(film, ({ cursor }) => showCursor(cursor)),
      at,
    ),
    ...named.map(({ pieces, name }) => showBetween(name, pieces[0], at)),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="t d">
<title id="t">${escape(title)}</title>
<desc id="d">${escape(description)}</desc>
<style>
${THEMES}
text{font:${SIZE}px ui-monospace,SFMono-Regular,'Cascadia Mono','Liberation Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:var(--ink)}
.n{font:12px system-ui,-apple-system,'Segoe UI','Liberation Sans',sans-serif;fill:var(--dim);text-anchor:middle}
.b{font-weight:700}.d{fill:var(--dim)}.red{fill:var(--bad)}.green{fill:var(--good)}.yellow{fill:var(--wait)}.cyan{fill:var(--busy)}
.h{visibility:hidden}
.a{animation:${seconds}s step-end infinite}
.p{transform-origin:0 0;animation:p ${seconds}s linear infinite}
@keyframes p{0%{transform:scaleX(0)}}
${keyframes.join('\n')}
${named.map(({ name }) => `.${name}{animation-name:${name}}`).join('')}
.s{animation-name:s;transform:translateY(${-(last?.top ?? 0) * LINE}px)}.c{animation-name:c;${showCursor(last?.cursor)}}
@media (prefers-reduced-motion:reduce){*{animation:none!important}}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="var(--back)" stroke="var(--line)"/>
<path d="M.5 ${BAR}.5H${width - 0.5}" stroke="var(--line)"/>
${[18, 36, 54].map((x) => `<circle cx="${x}" cy="${BAR / 2}" r="5.5" fill="var(--line)"/>`).join('')}
<text class="n" x="${width / 2}" y="${BAR / 2 + 4}">${escape(title)}</text>
<svg x="${PAD}" y="${BAR + PAD}" width="${columns * CHAR}" height="${rows * LINE}">
<g class="a s">
<rect class="a c" width="${CHAR}" height="${LINE}" fill="var(--dim)"/>
${named.map(({ pieces, name }) => renderGroup(pieces, name)).join('\n')}
</g>
</svg>
<rect class="p" x="0" y="${BAR - 1}" width="${width}" height="2" fill="var(--accent)"/>
</svg>
`;
}

const SIZE = 13;
const CHAR = 7.8;
const LINE = 19;
const PAD = 14;
const BAR = 32;

/** The colours of the page. */
const THEMES = `:root{--back:#fff;--line:#e3e3e8;--ink:#1a1b1e;--dim:#5b5e69;--accent:#4338ca;--good:#166534;--busy:#1d4ed8;--wait:#92400e;--bad:#b91c1c}
@media (prefers-color-scheme:dark){:root{--back:#17181a;--line:#2d2f34;--ink:#ececee;--dim:#a2a5b0;--accent:#a5b4fc;--good:#6ee7a0;--busy:#93c5fd;--wait:#fcd34d;--bad:#fca5a5}}`;

const CLASSES: Readonly<Record<Piece['style'], string>> = {
  '': '',
  '1': 'b',
  '2': 'd',
  '31': 'red',
  '32': 'green',
  '33': 'yellow',
  '36': 'cyan',
  '1;33': 'b yellow',
};

function renderGroup(pieces: readonly Piece[], name: string): string {
  const hides = pieces[0]?.toMs === undefined ? '' : ' h';
  return `<g class="a ${name}${hides}">${pieces.map(renderPiece).join('')}</g>`;
}

/** Renders a piece with its length, because the width of a character depends on the font. */
function renderPiece({ line, column, text, style }: Piece): string {
  const painted = style === '' ? '' : ` class="${CLASSES[style]}"`;
  const length = text.length === 1 ? '' : ` textLength="${round(text.length * CHAR)}"`;
  return `<text x="${round(column * CHAR)}" y="${line * LINE + 14}"${length}${painted}>${escape(text)}</text>`;
}

function showBetween(name: string, piece: Piece | undefined, at: (ms: number) => string): string {
  const { fromMs = 0, toMs } = piece ?? {};
  const to = toMs === undefined ? '' : `${at(toMs)}{visibility:hidden}`;
  return `@keyframes ${name}{0%{visibility:hidden}${at(fromMs)}{visibility:visible}${to}}`;
}

function showCursor(cursor: { readonly line: number; readonly column: number } | undefined): string {
  if (cursor === undefined) return 'visibility:hidden';
  // Each step names both properties, because an omitted property would keep its value.
  return `visibility:visible;transform:translate(${round(cursor.column * CHAR)}px,${cursor.line * LINE}px)`;
}

/** The output of `show` for the views, at each time at which it changes. */
function changes(film: Film, show: (view: Film['frames'][number]['view']) => string): [ms: number, css: string][] {
  const all = film.frames.map(({ atMs, view }, i): [number, string] => [i === 0 ? 0 : atMs, show(view)]);
  return all.filter(([, css], i) => css !== all[i - 1]?.[1]);
}

function steps(
  name: string,
  changed: readonly (readonly [ms: number, css: string])[],
  at: (ms: number) => string,
): string {
  return `@keyframes ${name}{${changed.map(([ms, css]) => `${at(ms)}{${css}}`).join('')}}`;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
