import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { textPositionAt } from '../../protocol/shape/place.ts';
import { problem } from '../../protocol/shape/problem.ts';
import { quote } from '../../protocol/shape/quote.ts';
import { decodeUtf8 } from '../../protocol/text/utf8.ts';
import { inheritedFields } from '../build/built-in-agents.ts';
import { positionIn } from '../read/join-files.ts';
import { resolvePromptPath } from '../library.ts';
import { RUNBOOK_LIMITS } from '../shape/limits.ts';
import type { ReadRunbook } from '../read/read-runbook.ts';
import { isModelClient } from './agents.ts';
import { findPromptFaults } from './templates.ts';
import type { RunbookFile, RunbookProblem } from '../runbook.ts';
import { renderPath, type RunbookSubject } from './subject.ts';

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
