import { OPERATIONS } from '../../src/api/operations/registry.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { errorShape, type JsonDocument, keptShape, storeAwayField } from '../../src/cli/json-output.ts';
import { object } from '../../src/protocol/shape/build-shape.ts';
import type { Shape } from '../../src/protocol/shape/shape.ts';
import { renderShapeType } from '../render-operations.ts';
import { operationsOf } from './json-documents.ts';
import { joinSections, renderTable } from './table.ts';

/** Renders docs/reference/json.md: what each command prints with `--json`. */
export async function renderJsonPage(): Promise<string> {
  const sections = await Promise.all(
    COMMANDS.map(async ({ name, load }) => {
      const { json = [] } = await load();
      return json.length === 0 ? '' : joinSections([`## baton ${name}`, ...json.map(renderDocument)]).trimEnd();
    }),
  );
  return joinSections([
    HEAD,
    renderFields(errorShape),
    KEPT,
    renderFields(keptShape),
    STORE,
    renderFields(AWAY),
    ...sections,
  ]);
}

const HEAD = `# JSON of the commands

This page lists what each command prints on standard output with \`--json\`. Tests compare the output of the commands with
these tables. \`npm run pages\` makes this page from the commands.

A document is one line of JSON. A field with \`?\` may be left out. \`[]\` is a list of objects. [Operations](../operations.md)
describes the results of operations.

## Errors

Every command that fails prints this, usage errors included. The exit code is the same as without \`--json\`.`;

const KEPT = `## A call that is stored

If no daemon can be reached, some writes are stored and delivered later. The command then prints this and exits with 0.`;

const STORE = `## While the database is away

The result of an operation has this field if the database of the project cannot be reached.`;

const AWAY = object(storeAwayField);

function renderDocument(document: JsonDocument): string {
  const parts = [
    document.when === undefined ? '' : `With \`${document.when}\``,
    document.lines === true ? 'one document on each line' : '',
  ].filter((part) => part !== '');
  const operations = operationsOf(document).map((name) => `[${name}](../operations.md#${name})`);
  const what = 'shape' in document ? '' : `the result of ${operations.join(' and ')}`;
  const said = [parts.join(', '), what].filter((part) => part !== '').join(': ');
  const head = said === '' ? '' : `${said.charAt(0).toUpperCase()}${said.slice(1)}${'shape' in document ? ':' : '.'}`;
  const about = 'shape' in document && document.shape.about !== undefined ? document.shape.about : '';
  return joinSections([head, about, 'shape' in document ? renderFields(document.shape) : '']).trimEnd();
}

/** Renders a table of the fields; one for each variant. */
function renderFields(shape: Shape): string {
  if (shape.kind === 'either') return shape.options.map((option) => renderFields(option)).join('\n\n');
  return renderTable(['field', 'type', 'meaning'], rowsOf(shape, ''));
}

function rowsOf(shape: Shape, path: string): string[][] {
  if (shape.kind !== 'object') return [];
  return Object.entries(shape.fields).flatMap(([name, field]) => {
    const inner = field.kind === 'list' ? field.of : field;
    const label = `${path === '' ? '' : `${path}.`}${name}${field.kind === 'list' && inner.kind === 'object' ? '[]' : ''}`;
    const known = operationWith(inner);
    const about = [field.about ?? '', known === undefined ? '' : `The fields are those of ${known}.`];
    const row = [`\`${label}${field.optional === true ? '?' : ''}\``, renderShapeType(field), about.join(' ').trim()];
    return [row, ...(known === undefined ? rowsOf(inner, label) : [])];
  });
}

/** Finds the operation that returns exactly this object. */
function operationWith(shape: Shape): string | undefined {
  if (shape.kind !== 'object' || Object.keys(shape.fields).length < 3) return undefined;
  const found = [...OPERATIONS.values()].find(({ result }) => result.fields === shape.fields);
  return found === undefined ? undefined : `[${found.name}](../operations.md#${found.name})`;
}
