import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { problem, quote, textPositionAt } from '../../protocol/shape/problem.ts';
import { decodeUtf8 } from '../../protocol/text/text-format.ts';
import { inheritedFields } from '../build/build-agent.ts';
import { resolvePromptPath } from '../library.ts';
import { positionIn } from '../read/join-files.ts';
import type { ReadRunbook } from '../read/read-runbook.ts';
import type { RunbookFile, RunbookProblem } from '../runbook.ts';
import { RUNBOOK_LIMITS } from '../shape/fields.ts';
import { isModelClient } from './agents.ts';
import { renderPath, type RunbookSubject } from './subject.ts';
import { findPromptFaults } from './templates.ts';

export interface CheckedPrompts {
  readonly problems: readonly RunbookProblem[];
  /** What was read, for whoever shows lines of it. */
  readonly files: readonly RunbookFile[];
}

/**
 * The prompt files and scripts of a runbook that is otherwise fine: they are there, and the templates of prompts can be filled in. Only a check
 * asks for this: a file that is missing now may be there when the agent starts.
 */
export function checkPromptFiles(projectDir: string, { subject }: Pick<ReadRunbook, 'subject'>): CheckedPrompts {
  const problems: RunbookProblem[] = [];
  const files: RunbookFile[] = [];
  for (const [name, { run, prompt_file: path }] of Object.entries(subject.value.agents ?? {})) {
    problems.push(...missingScript(projectDir, name, run ?? '', subject));
    // Where a template is filled in, the path is only known when it is.
    if (path === undefined || path.includes('${')) continue;
    const text = readPrompt(resolvePromptPath(projectDir, path));
    if (typeof text === 'object') {
      problems.push(missingFile(name, path, text.wrong, subject));
      continue;
    }
    files.push({ path, text });
    if (text.trim() === '' && isModelClient(run ?? inheritedFields(name, {}).run))
      problems.push(emptyFile(name, path, subject));
    for (const { code, source, message, hint } of findPromptFaults(name, text, subject)) {
      const place = textPositionAt(text, text.indexOf(source));
      problems.push({ code, message, path: renderPath(['agents', name, 'prompt_file']), ...place, hint, file: path });
    }
  }
  return { problems, files };
}

/** `scripted FILE`, with or without an option before the file. */
const SCRIPTED = /^scripted\s+(?:--command-hook\s+)?(?!--)(\S.*?)\s*$/s;

function missingScript(
  projectDir: string,
  agent: string,
  run: string,
  subject: RunbookSubject,
): readonly RunbookProblem[] {
  const file = SCRIPTED.exec(run)?.[1];
  if (file === undefined || file.includes('${')) return [];
  if (statSync(resolve(projectDir, file), { throwIfNoEntry: false })?.isFile() === true) return [];
  const path = ['agents', agent, 'run'];
  const message = `agent ${agent} cannot play ${quote(file)}: there is no such file`;
  const hint = 'Write the script, or correct the path: it is relative to the project.';
  const place = positionIn(subject.files, subject.placeOf(path));
  return [{ ...problem('runbook/missing-script', message, hint), path: renderPath(path), ...place }];
}

function missingFile(agent: string, file: string, wrong: string, subject: RunbookSubject): RunbookProblem {
  const path = ['agents', agent, 'prompt_file'];
  const hint = 'Make the file, or correct the path: it is relative to the project.';
  const message = `agent ${agent} cannot be told what ${quote(file)} says: ${wrong}`;
  const place = positionIn(subject.files, subject.placeOf(path));
  return { ...problem('runbook/missing-prompt-file', message, hint), path: renderPath(path), ...place };
}

/** A client that gets no first message waits for one. */
function emptyFile(agent: string, file: string, subject: RunbookSubject): RunbookProblem {
  const path = ['agents', agent, 'prompt_file'];
  const message = `agent ${agent} has no prompt: ${quote(file)} is empty`;
  const place = positionIn(subject.files, subject.placeOf(path));
  return {
    ...problem('runbook/no-prompt', message, 'Write the prompt into the file.'),
    path: renderPath(path),
    ...place,
  };
}

function readPrompt(path: string): string | { readonly wrong: string } {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return { wrong: 'there is no such file' };
    if (!found.isFile()) return { wrong: 'it is not a file' };
    if (found.size > RUNBOOK_LIMITS.promptFileBytes) {
      return { wrong: `it is too large: ${found.size} bytes > ${RUNBOOK_LIMITS.promptFileBytes} bytes maximum` };
    }
    return decodeUtf8(readFileSync(path)) ?? { wrong: 'it is not UTF-8' };
  } catch (error) {
    return {
      wrong: `it cannot be read (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown'})`,
    };
  }
}

/** Said wherever somebody would rely on it: two daemons that each kept a ledger of their own would grant the same task twice. */
export const STORE_NOT_OFFERED = {
  message: 'the runbook wants the ledger on a PostgreSQL server, which the daemon does not offer yet',
  hint: 'Remove `store`: the ledger is then in the state folder, and one daemon works on it.',
} as const;

/** A runbook that is otherwise fine, and that no daemon takes. */
export function checkStore({ subject, checked }: Pick<ReadRunbook, 'subject' | 'checked'>): readonly RunbookProblem[] {
  if (!checked.ok || checked.value.store === undefined) return [];
  const { message, hint } = STORE_NOT_OFFERED;
  const place = positionIn(subject.files, subject.placeOf(['store']));
  return [{ ...problem('runbook/store-not-offered', message, hint), path: 'store', ...place }];
}
