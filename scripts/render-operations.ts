import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Operation } from '../src/api/operations/operation.ts';
import { OPERATIONS } from '../src/api/operations/registry.ts';
import type { ObjectShape, Shape } from '../src/protocol/shape/shape.ts';

/** Renders docs/operations.md from the declarations in src/api; `node scripts/render-operations.ts` writes it. */
export function renderOperations(): string {
  const seen = new Map<object, string>();
  const sorted = [...OPERATIONS.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const sections = sorted.map((each) => sectionOf(each, seen));
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

const INTRODUCTION = `# Operations

This page lists every operation of the daemon with its input and its result. Over [HTTP](api.md), call one with \`POST /v1/NAME\`; from a
program, with \`client.call('NAME', input)\`. An operation marked *MCP tool* is also a tool of the [MCP server](mcp.md).
[openapi.json](reference/openapi.json) has the same as an OpenAPI document.

A field with \`?\` may be left out. \`[]\` is a list of objects. Times (\`at\`, \`…_at\`) are RFC 3339 in UTC. \`npm run pages\`
makes this page from the declarations.
`;

function sectionOf({ name, about, access, kind, tool, input, result }: Operation, seen: Map<object, string>): string {
  const lines = [
    `## ${name}`,
    '',
    about,
    '',
    `${kind === 'write' ? 'Writes' : 'Reads'}. Callers: ${access.join(', ')}.${tool ? ' MCP tool.' : ''}`,
    '',
    ...tableOf('input', input, name, new Map()),
    ...tableOf('result', result, name, seen),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

function tableOf(title: string, shape: ObjectShape, place: string, seen: Map<object, string>): string[] {
  const rows = rowsOf(shape, '', place, seen);
  return rows.length === 0 ? [] : [`| ${title} | type | meaning |`, '|---|---|---|', ...rows, ''];
}

/** Renders one row per field. An object that an earlier operation returned is named, not repeated. */
function rowsOf(shape: ObjectShape, path: string, place: string, seen: Map<object, string>): string[] {
  const known = findKnown(shape, place, seen);
  if (known !== undefined) return [`| all fields | | The same as in [${known}](#${known}). |`];
  if (Object.keys(shape.fields).length > 2) seen.set(shape.fields, place);
  return Object.entries(shape.fields).flatMap(([name, field]) => {
    const at = `${path === '' ? '' : `${path}.`}${name}`;
    const inner = field.kind === 'list' ? field.of : field;
    const label = `${at}${field.kind === 'list' && inner.kind === 'object' ? '[]' : ''}`;
    const same = inner.kind === 'object' ? findKnown(inner, place, seen) : undefined;
    const about = [field.about, same === undefined ? undefined : `Its fields are those of [${same}](#${same}).`];
    const meaning = about.filter((part) => part !== undefined).join(' ');
    const row = `| \`${label}${field.optional ? '?' : ''}\` | ${renderShapeType(field)} |${meaning === '' ? '' : ` ${meaning}`} |`;
    return inner.kind === 'object' && same === undefined ? [row, ...rowsOf(inner, label, place, seen)] : [row];
  });
}

/** The earlier operation that has these fields. */
function findKnown(shape: ObjectShape, place: string, seen: ReadonlyMap<object, string>): string | undefined {
  const known = seen.get(shape.fields);
  return known === place ? undefined : known;
}

export function renderShapeType(shape: Shape): string {
  return `${nameOf(shape)}${shape.nullable ? ' or null' : ''}`;
}

function nameOf(shape: Shape): string {
  switch (shape.kind) {
    case 'choice':
      return shape.values.map((value) => `\`${value}\``).join(', ');
    case 'number':
      return shape.whole ? 'whole number' : 'number';
    case 'flag':
      return 'true or false';
    case 'list':
      return shape.of.kind === 'object' ? 'list' : `list of ${nameOf(shape.of)}`;
    case 'map':
      return `object of ${nameOf(shape.of)}`;
    case 'any':
      return 'JSON';
    case 'either':
      return `object, by \`kind\`: ${shape.expected}`;
    default:
      return shape.kind;
  }
}

if (process.argv[1] === import.meta.filename)
  writeFileSync(join(import.meta.dirname, '../docs/operations.md'), renderOperations());
