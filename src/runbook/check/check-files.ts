import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { problem, quote, textPositionAt } from '../../protocol/shape/problem.ts';
import { decodeUtf8 } from '../../protocol/text/text-format.ts';
import { isModelClient } from '../../protocol/run-plan.ts';
import { inheritedFields } from '../build/build-agent.ts';
import { resolvePromptPath } from '../library.ts';
import { scriptOf } from '../plan.ts';
import { positionIn } from '../read/join-files.ts';
import type { ReadRunbook } from '../read/read-runbook.ts';
import type { RunbookFile, RunbookProblem } from '../runbook.ts';
import { RUNBOOK_LIMITS } from '../shape/fields.ts';
import { type Path, renderPath, type RunbookSubject } from './subject.ts';
import { findPromptFaults } from './templates.ts';

export interface CheckedPrompts {
  readonly problems: readonly RunbookProblem[];
  readonly files: readonly RunbookFile[];
}

/**
 * Requires that files exist and templates are valid. Runs only for an explicit check, because a file may appear before
 * the agent starts.
 */
export function checkPromptFiles(projectDir: string, { subject }: Pick<ReadRunbook, 'subject'>): CheckedPrompts {
  const problems: RunbookProblem[] = [];
  const files: RunbookFile[] = [];
  for (const [name, { run, prompt_file: path }] of Object.entries(subject.value.agents ?? {})) {
    problems.push(...missingScript(projectDir, name, run ?? '', subject));
    // A path with templates is known only after they are filled.
    if (path === undefined || path.includes('${')) continue;
    const text = readPrompt(resolvePromptPath(projectDir, path));
    if (typeof text === 'object') {
      problems.push(missingFile(name, path, text.wrong, subject));
      continue;
    }
    files.push({ path, text });
    if (text.trim() === '' && isModelClient(run ?? inheritedFields(name, {}).run ?? ''))
      problems.push(emptyFile(name, path, subject));
    for (const { code, source, message, hint } of findPromptFaults(name, text, subject)) {
      const place = textPositionAt(text, text.indexOf(source));
      problems.push({ code, message, path: renderPath(['agents', name, 'prompt_file']), ...place, hint, file: path });
    }
  }
  return { problems, files };
}

function missingScript(
  projectDir: string,
  agent: string,
  run: string,
  subject: RunbookSubject,
): readonly RunbookProblem[] {
  const file = scriptOf(run);
  if (file === undefined || file.includes('${')) return [];
  if (statSync(resolve(projectDir, file), { throwIfNoEntry: false })?.isFile() === true) return [];
  const message = `agent ${agent} cannot play ${quote(file)}: there is no such file`;
  const hint = 'Write the script, or correct the path: it is relative to the project.';
  return [problemAt(subject, ['agents', agent, 'run'], 'runbook/missing-script', message, hint)];
}

function missingFile(agent: string, file: string, wrong: string, subject: RunbookSubject): RunbookProblem {
  const hint = 'Create the file, or correct the path: it is relative to the project.';
  const message = `agent ${agent} cannot use the prompt ${quote(file)}: ${wrong}`;
  return problemAt(subject, ['agents', agent, 'prompt_file'], 'runbook/missing-prompt-file', message, hint);
}

/** An empty file is a problem, because a client without a first message waits forever. */
function emptyFile(agent: string, file: string, subject: RunbookSubject): RunbookProblem {
  const message = `agent ${agent} has no prompt: ${quote(file)} is empty`;
  const hint = 'Write the prompt into the file.';
  return problemAt(subject, ['agents', agent, 'prompt_file'], 'runbook/no-prompt', message, hint);
}

function problemAt(subject: RunbookSubject, path: Path, code: string, message: string, hint: string): RunbookProblem {
  const place = positionIn(subject.files, subject.placeOf(path));
  return { ...problem(code, message, hint), path: renderPath(path), ...place };
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
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { wrong: `it cannot be read (${code})` };
  }
}
