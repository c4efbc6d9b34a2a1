import type { ObjectShape, Shape } from '../../src/protocol/shape/shape.ts';
import { runbookShape } from '../../src/runbook/shape/runbook-shape.ts';
import { joinSections, renderTable } from './table.ts';

/** Renders docs/reference/runbook.md from the shape of a runbook. */
export function renderRunbookPage(): string {
  return joinSections([HEAD, renderTable(['field', 'type', 'meaning'], rowsOf(runbookShape, ''))]);
}

const HEAD = `# Fields of a runbook

This page lists every field of \`baton.toml\` and \`.baton/runbooks\`. [Runbooks](../runbooks.md) explains them with examples,
and \`baton schema runbook\` prints the same as JSON Schema. \`npm run pages\` makes this page from the shape.

\`NAME\` stands for a name of your choice, and \`[]\` for each item of a list. A field with \`*\` is required.`;

function rowsOf(shape: ObjectShape, path: string): (readonly string[])[] {
  return Object.entries<Shape>(shape.fields).flatMap(([name, field]) => rowsOfField(field, `${path}${name}`));
}

function rowsOfField(field: Shape, path: string): (readonly string[])[] {
  const isRequired = field.optional !== true && path.includes('.');
  const row = [`\`${path}\`${isRequired ? ' *' : ''}`, typeOf(field), field.about ?? ''];
  return [row, ...innerRows(field, path)];
}

function innerRows(field: Shape, path: string): (readonly string[])[] {
  switch (field.kind) {
    case 'object':
      return rowsOf(field, `${path}.`);
    case 'map':
      return field.of.kind === 'text' ? [] : innerRows(field.of, `${path}.NAME`);
    case 'list':
      return innerRows(field.of, `${path}[]`);
    case 'either':
      return field.options.flatMap((option) => (option.kind === 'object' ? innerRows(option, path) : []));
    default:
      return [];
  }
}

function typeOf(shape: Shape): string {
  switch (shape.kind) {
    case 'choice':
      return shape.values.length > 8 ? 'text' : shape.values.map((value) => `\`${value}\``).join(', ');
    case 'number':
      return shape.whole === true ? 'whole number' : 'number';
    case 'flag':
      return 'true or false';
    case 'list':
      return shape.of.kind === 'object' ? 'list of tables' : `list; each item: ${typeOf(shape.of)}`;
    case 'map':
    case 'object':
      return 'table';
    case 'either':
      return [...new Set(shape.options.map(typeOf))].join('; or ');
    case 'any':
      return 'any value';
    default:
      return shape.expected?.replaceAll('*', String.raw`\*`) ?? 'text';
  }
}
