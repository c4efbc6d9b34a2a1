import type { DataElement } from './element.ts';

/**
 * Writes an element so that reading it gives the same again: what white space and characters would lose is escaped. Compact,
 * no spelling of the same element is shorter, so that what could arrive can always be sent on.
 */
export function renderXml(element: DataElement, layout: 'indented' | 'compact'): string {
  return layout === 'indented' ? write(element, '', '  ', '\n') : write(element, '', '', '');
}

function write({ name, attributes = {}, content }: DataElement, indent: string, step: string, end: string): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}=${quoteAttribute(value)}`);
  const start = `${indent}<${name}${written.join('')}`;
  if (content.length === 0) return `${start}/>${end}`;
  if (typeof content === 'string') return `${start}>${escapeText(content)}</${name}>${end}`;
  const children = content.map((child) => write(child, indent + step, step, end)).join('');
  return `${start}>${end}${children}${indent}</${name}>${end}`;
}

/** White space at the ends would be taken for layout, and a carriage return for a line feed. `>` matters only after `]]`. */
function escapeText(text: string): string {
  const escaped = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(']]>', ']]&gt;')
    .replaceAll('\r', '&#13;');
  const start = /^[ \t\n]*/.exec(escaped)?.[0].length ?? 0;
  let end = escaped.length;
  while (end > start && ' \t\n'.includes(escaped.charAt(end - 1))) end -= 1;
  return (
    asReferences(escaped.slice(0, start), /[ \t\n]/g) +
    escaped.slice(start, end) +
    asReferences(escaped.slice(end), /[ \t\n]/g)
  );
}

/** In the quotes that occur less often in the value. Other white space than spaces would be read as spaces. */
function quoteAttribute(value: string): string {
  const escaped = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const quote = value.split('"').length > value.split("'").length ? "'" : '"';
  return quote + asReferences(escaped, quote === '"' ? /["\t\n\r]/g : /['\t\n\r]/g) + quote;
}

function asReferences(text: string, characters: RegExp): string {
  return text.replace(characters, (character) => `&#${character.charCodeAt(0)};`);
}
