import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import { checkShape } from '../../protocol/shape/check-shape.ts';
import type { Finding } from '../../protocol/shape/finding.ts';
import { accepted, type Parsed, problem, refused, tooLarge } from '../../protocol/shape/problem.ts';
import type { ObjectNode, Unreadable } from '../../protocol/text/node.ts';
import { byteLengthOf, decodeUtf8, utf8Length } from '../../protocol/text/text-format.ts';
import { buildRunbook } from '../build/build-runbook.ts';
import { fileOffsets, joinFiles, type ParsedFile, problemOf } from '../read/join-files.ts';
import { parseTree, syntaxOf } from '../read/read-tree.ts';
import type { CheckedRunbook, Runbook, RunbookFile, RunbookProblem } from '../runbook.ts';
import { RUNBOOK_LIMITS } from '../shape/fields.ts';
import { runbookShape, type RunbookValue } from '../shape/runbook-shape.ts';
import { checkNetworks, checkSandboxes } from './access.ts';
import { checkAgents, checkBudgets, checkHandlers } from './agents.ts';
import { checkBranch, checkWebhook } from './branch-and-webhook.ts';
import { checkUnmetered } from './unmetered.ts';
import { checkLists, checkReferences, checkRoles, checkVariables, checkWorkers } from './references.ts';
import { checkSecrets } from './secrets.ts';
import { checkStore } from './store.ts';
import { checkCommands, checkNesting, checkPlans, checkSteps } from './steps.ts';
import { NAMED_SECTIONS, RunbookSubject } from './subject.ts';
import { checkTemplates } from './templates.ts';

/**
 * Checks files as one runbook and returns it, or all problems: unreadable files first, then wrong shapes, then
 * unresolved names. A definition with a wrong shape is not checked further, but its name is known, so that one mistake
 * is one problem.
 */
export function checkRunbook(files: readonly RunbookFile[]): CheckedRunbook {
  return examineRunbook(files).checked;
}

export interface ExaminedRunbook {
  readonly checked: CheckedRunbook;
  readonly subject: RunbookSubject;
  readonly isReadable: boolean;
}

export function examineRunbook(files: readonly RunbookFile[]): ExaminedRunbook {
  const oversized = sizeProblems(files);
  if (oversized.length > 0) {
    return { checked: refusedWith(oversized), subject: new RunbookSubject({}, NOTHING, files), isReadable: false };
  }
  const bases = fileOffsets(files);
  const read: ParsedFile[] = [];
  const unreadable: RunbookProblem[] = [];
  for (const [index, file] of files.entries()) {
    const base = bases[index] ?? 0;
    const syntax = syntaxOf(file.path, file.text);
    const tree = parseTree(syntax, file.text);
    if (!tree.ok) unreadable.push(unreadableProblem(tree.unreadable, syntax, base, files));
    else if (tree.node.kind === 'object') read.push({ file, base, node: tree.node });
    else unreadable.push(problemOf(notATable(base + tree.node.at), files));
  }
  const { node, findings: twice } = joinFiles(read, files);
  const { value, findings } = checkShape(runbookShape, node, 'Runbook');
  // The shape has checked the value field by field; this is the only cast.
  const typed = value as RunbookValue; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const subject = new RunbookSubject(withoutFaultyDefinitions(typed, findings), node, files);
  // With an unreadable file, names may be missing, so the rules are skipped.
  if (unreadable.length === 0 && findings.length < PROTOCOL_LIMITS.problems) for (const rule of RULES) rule(subject);
  const found = inOrder([...twice, ...findings, ...subject.findings]);
  const problems = [...unreadable, ...found.map((finding) => problemOf(finding, files))];
  const checked = problems.length > 0 ? refusedWith(problems) : finished(subject);
  return { checked, subject, isReadable: unreadable.length === 0 };
}

/** Builds the plans, because their size is known only then. */
function finished(subject: RunbookSubject): CheckedRunbook {
  const runbook = buildRunbook(subject.value);
  checkPlans(runbook, subject);
  const problems = inOrder(subject.findings).map((finding) => problemOf(finding, subject.files));
  return problems.length > 0 ? refusedWith(problems) : { ok: true, value: runbook };
}

function inOrder(findings: readonly Finding[]): Finding[] {
  return [...findings].sort((a, b) => a.at - b.at).slice(0, PROTOCOL_LIMITS.problems);
}

function refusedWith([first, ...rest]: readonly RunbookProblem[]): CheckedRunbook {
  if (first === undefined) throw new Error('refused without a problem');
  return { ok: false, problems: [first, ...rest] };
}

const NOTHING: ObjectNode = { kind: 'object', at: 0, end: 0, fields: new Map() };

function sizeProblems(files: readonly RunbookFile[]): RunbookProblem[] {
  const sizes = files.map(({ text }) => utf8Length(text));
  const oversized = files.flatMap(({ path }, index) => oversizedFile(path, sizes[index] ?? 0));
  if (oversized.length > 0) return oversized;
  const last = files.at(-1)?.path ?? '';
  const together = sizes.reduce((sum, bytes) => sum + bytes, 0);
  if (together > RUNBOOK_LIMITS.totalBytes) {
    const message = `all files together are too large: ${together} bytes > ${RUNBOOK_LIMITS.totalBytes} bytes maximum`;
    return [{ ...problem('too-large', message, 'Keep prompts in files of their own.'), file: last }];
  }
  if (files.length <= RUNBOOK_LIMITS.files) return [];
  const message = `too many files: ${files.length} > ${RUNBOOK_LIMITS.files} maximum`;
  return [{ ...problem('too-large', message, 'Join some of them.'), file: last }];
}

/** The problem of a file that is too large; also used before a file is read. */
export function oversizedFile(path: string, bytes: number): RunbookProblem[] {
  if (bytes <= RUNBOOK_LIMITS.fileBytes) return [];
  const hint = 'Spread it over several files in .baton/runbooks, and keep prompts in files of their own.';
  return [{ ...tooLarge(bytes, RUNBOOK_LIMITS.fileBytes), hint, file: path }];
}

function unreadableProblem(
  { code, what, at, hint }: Unreadable,
  syntax: string,
  base: number,
  files: readonly RunbookFile[],
): RunbookProblem {
  return problemOf({ code, message: `invalid ${syntax}: ${what}`, path: '', at: base + at, hint }, files);
}

function notATable(at: number): Finding {
  const hint = 'A runbook is a table of sections: agents, pipelines, commands, …';
  return { code: 'wrong-type', message: 'Runbook must be an object', path: '', at, hint };
}

/** Checks one file as a whole runbook, for `baton validate`. */
export function parseRunbook(input: string | Uint8Array, file: string): Parsed<Runbook> {
  const [tooLarge] = oversizedFile(file, byteLengthOf(input));
  if (tooLarge !== undefined) return refused(tooLarge);
  const text = decodeUtf8(input);
  if (text === undefined) return refused(problem('not-utf8', 'input is not valid UTF-8', 'Save the file as UTF-8.'));
  const checked = checkRunbook([{ path: file, text }]);
  return checked.ok ? accepted(checked.value) : checked;
}

/** Returns the definitions without findings, because the rules rely on a valid shape. */
function withoutFaultyDefinitions(value: RunbookValue, findings: readonly Finding[]): RunbookValue {
  if (findings.length === 0) return value;
  const paths = findings.map(({ path }) => path);
  const isSound = (path: string): boolean => !paths.some((found) => isWithin(found, path));
  const sections = Object.entries(value).flatMap(([name, section]): (readonly [string, unknown])[] => {
    if (!isNamed(name)) return isSound(name) ? [[name, section]] : [];
    if (typeof section !== 'object' || section === null) return [];
    return [[name, Object.fromEntries(Object.entries(section).filter(([inner]) => isSound(`${name}.${inner}`)))]];
  });
  // Removing definitions does not change the shape of the others.
  return Object.fromEntries(sections);
}

function isNamed(name: string): boolean {
  return NAMED_SECTIONS.some((section) => section === name);
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`);
}

/** Rules that a shape cannot express. */
const RULES: readonly ((subject: RunbookSubject) => void)[] = [
  checkReferences,
  checkRoles,
  checkWorkers,
  checkAgents,
  checkBudgets,
  checkUnmetered,
  checkHandlers,
  checkSteps,
  checkNesting,
  checkVariables,
  checkCommands,
  checkTemplates,
  checkWebhook,
  checkBranch,
  checkLists,
  checkSandboxes,
  checkNetworks,
  checkSecrets,
  checkStore,
];
