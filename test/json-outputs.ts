import { shapeOfDocument } from '../scripts/reference/json-documents.ts';
import { EXIT, type ListedCommand } from '../src/cli/command.ts';
import { COMMANDS } from '../src/cli/commands.ts';
import { findCommand } from '../src/cli/help/find-command.ts';
import { errorShape, keptShape } from '../src/cli/json-output.ts';
import { compileMisfitFinder } from '../src/protocol/shape/find-misfit.ts';
import { isObject } from '../src/protocol/shape/read-unknown.ts';
import type { Shape } from '../src/protocol/shape/shape.ts';

/**
 * Throws if a command printed JSON that its declaration does not allow, or whose kind does not fit its exit code. Every helper of the
 * tests that runs commands calls it. `code` is undefined if it is not known, or if the command was still running.
 */
export async function requireDeclaredJson(argv: readonly string[], out: string, code?: number): Promise<void> {
  const listed = findJsonCommand(argv);
  if (listed === undefined) return;
  const problem = (await findMissingJson(listed, out, code)) ?? (await findJsonProblem(listed, out));
  if (problem !== undefined) throw new Error(`baton ${argv.join(' ')}: ${problem}`);
}

/** A command that was interrupted prints nothing, and one that prints lines may have none. */
async function findMissingJson({ load }: ListedCommand, out: string, code?: number): Promise<string | undefined> {
  if (code === undefined || code === EXIT.interrupted) return undefined;
  const hasError = /^\{"error":/m.test(out);
  if (code === EXIT.ok && hasError) return 'it exits with 0 after an error';
  if (out !== '') return undefined;
  const mayBeEmpty = (await load()).json?.some(({ lines }) => lines === true) === true;
  return code === EXIT.ok && mayBeEmpty ? undefined : `it prints no JSON, and exits with ${code}`;
}

/** The command that these words call with `--json`; undefined for help, and for all others. */
function findJsonCommand(argv: readonly string[]): ListedCommand | undefined {
  const end = argv.indexOf('--');
  const options = new Set(argv.slice(0, end === -1 ? argv.length : end));
  if (!options.has('--json') || options.has('--help') || options.has('-h')) return undefined;
  return findCommand(argv, COMMANDS);
}

/** Why the output matches none of the command's declared documents; undefined if it does. */
export async function findJsonProblem({ name, load }: ListedCommand, out: string): Promise<string | undefined> {
  const { json: declared = [] } = await load();
  if (declared.length === 0) return `${name} declares no JSON`;
  const lines = out.split('\n').filter((line) => line !== '');
  const ofOneLine = lines.length === 1 ? declared : declared.filter((document) => document.lines === true);
  const allowed = ofOneLine.map(shapeOfDocument);
  const outcomes = [errorShape, keptShape];
  for (const line of lines) {
    const value = parseJson(line);
    if (value === undefined) return `not JSON: ${line}`;
    const shapes = [...allowed, ...outcomes];
    if (!shapes.some((shape) => findStrictMisfit(shape, value) === undefined)) {
      const found = shapes.map((shape) => findStrictMisfit(shape, value));
      return `${line}\nfits none of the declared documents: ${found.join('; ')}`;
    }
  }
  return undefined;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function findStrictMisfit(shape: Shape, value: unknown): string | undefined {
  const misfit = compileMisfitFinder(shape)(value);
  if (misfit !== undefined) return `${misfit.path || 'it'} is not ${misfit.expected}`;
  return findUnknownField(shape, value, '');
}

/** The first field of a valid value that its shape does not declare. */
export function findUnknownField(shape: Shape, value: unknown, path: string): string | undefined {
  if (shape.kind === 'list' && Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      const found = findUnknownField(shape.of, item, `${path}[${i}]`);
      if (found !== undefined) return found;
    }
  }
  if (shape.kind === 'either') {
    const fitting = shape.options.filter((option) => compileMisfitFinder(option)(value) === undefined);
    const found = fitting.map((option) => findUnknownField(option, value, path));
    return found.includes(undefined) ? undefined : found[0];
  }
  if (!isObject(value)) return undefined;
  for (const [name, field] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`;
    const isKnown = shape.kind !== 'object' || shape.open === true || Object.hasOwn(shape.fields, name);
    if (!isKnown) return `${at} is not declared`;
    const inner = shape.kind === 'object' ? shape.fields[name] : shape.kind === 'map' ? shape.of : undefined;
    const found = inner === undefined ? undefined : findUnknownField(inner, field, at);
    if (found !== undefined) return found;
  }
  return undefined;
}
