import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readInside } from '../../git/worktree/read-inside.ts';
import { isRelativePath } from '../../protocol/text/text-format.ts';

export interface ReadingList {
  readonly prompt: { readonly path: string; readonly text: string } | null;
  /** Existing files of a folder to read first, in the order of source document 004. */
  readonly references: readonly string[];
}

export async function readReadingList(folder: string, promptFile: string | null): Promise<ReadingList> {
  const prompt = promptFile === null ? null : await readPrompt(folder, promptFile);
  const named = [
    ...(promptFile === null ? [] : [promptFile]),
    ...findMentionedPaths(prompt?.text ?? ''),
    'CLAUDE.md',
    'AGENTS.md',
    'docs/guides/agent-bootstrap.md',
  ];
  const references = [...new Set(named)].filter((path) => isRelativePath(path) && existsSync(join(folder, path)));
  return { prompt, references };
}

async function readPrompt(folder: string, path: string): Promise<ReadingList['prompt']> {
  const bytes = isRelativePath(path) ? await readInside(folder, path, MAX_PROMPT_BYTES) : undefined;
  return bytes === undefined ? null : { path, text: bytes.toString('utf8') };
}

/** Finds paths in links, in backticks, or plain with a folder in front. */
function findMentionedPaths(text: string): string[] {
  return [...text.matchAll(/(?:^|[\s("'`])((?:[\w.-]+\/)+[\w.-]+\.\w{1,8})/gm)]
    .map((match) => match[1] ?? '')
    .slice(0, 50);
}

const MAX_PROMPT_BYTES = 65_536;
