import { checkShape } from '../../protocol/shape/check-shape.ts';
import type { Finding } from '../../protocol/shape/finding.ts';
import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import type { ObjectNode, Unreadable } from '../../protocol/text/node.ts';
import { problem, tooLarge } from '../../protocol/shape/problem.ts';
import { utf8Length } from '../../protocol/text/utf8.ts';
import { buildRunbook } from '../build/build-runbook.ts';
import { fileOffsets, joinFiles, problemOf, type ParsedFile } from '../read/join-files.ts';
import { RUNBOOK_LIMITS } from '../shape/limits.ts';
import { parseTree, syntaxOf } from '../read/read-tree.ts';
import { checkPlans } from './plans.ts';
import { RULES } from './rules.ts';
import type { CheckedRunbook, RunbookFile, RunbookProblem } from '../runbook.ts';
import { runbookShape, type RunbookValue } from '../shape/runbook-shape.ts';
import { withoutFaultyDefinitions } from './sound-part.ts';
import { RunbookSubject } from './subject.ts';

/**
 * One or more files to one runbook, or to everything that is wrong with them: first what cannot be read, then what has the wrong form, then
 * what leads nowhere. A definition of the wrong form is not looked at further, but its name is known, so that one slip is one problem.
 */
export function checkRunbook(files: readonly RunbookFile[]): CheckedRunbook {
  return examineRunbook(files).checked;
}

export interface ExaminedRunbook {
  readonly checked: CheckedRunbook;
  /** What could be made out all the same, with its places. */
  readonly subject: RunbookSubject;
  /** Every file could be read, whatever is wrong with what it says. */
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
  // The shape has vouched for the value, field by field; this is the one place where that becomes a type.
  const typed = value as RunbookValue; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const subject = new RunbookSubject(withoutFaultyDefinitions(typed, findings), node, files);
  // What an unreadable file defines is missing everywhere else: nothing can be said about names.
  if (unreadable.length === 0 && findings.length < PROTOCOL_LIMITS.problems) for (const rule of RULES) rule(subject);
  const found = inOrder([...twice, ...findings, ...subject.findings]);
  const problems = [...unreadable, ...found.map((finding) => problemOf(finding, files))];
  const checked = problems.length > 0 ? refusedWith(problems) : finished(subject);
  return { checked, subject, isReadable: unreadable.length === 0 };
}

/** Whether the plans fit an entry is known when there are plans. */
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

/** Used by whoever reads files, too, who need not read what is too large. */
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
