import { printable } from '../protocol/text/printable.ts';

export { printable };

export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** Shortens an id. Every command accepts the start of one. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}

/** Joins lines with ` · `. Spaces within a line stay. */
export function oneLine(text: string): string {
  return text.replaceAll(/(?<=\S)[^\S\r\n]*[\r\n]\s*(?=\S)/g, ' · ').replaceAll(/[\t\r\n]+/g, ' ');
}

/** Renders a number as `12,345`. */
export function renderCount(value: number): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}
