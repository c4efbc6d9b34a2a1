import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../protocol/environment.ts';
import { parsePersonal } from '../../runbook/personal/personal.ts';
import { readPersonal } from '../../runbook/personal/read-personal.ts';

/**
 * Writes a copy of the person's own configuration that accepts approvals without proof, and returns the variables that
 * name it. For demos and dry runs, whose judges are known scripts. The person's floor stays in force.
 */
export function acceptUnproven(folder: string, env: Environment): Readonly<Record<string, string>> {
  const { path, exists } = readPersonal(env);
  const config = join(folder, 'config');
  mkdirSync(join(config, 'baton'), { recursive: true, mode: 0o700 });
  writeFileSync(join(config, 'baton', 'config.toml'), withAcceptance(exists ? readFileSync(path, 'utf8') : ''));
  return { XDG_CONFIG_HOME: config };
}

/** Replaces the section about reviews. A text that is not valid afterwards is kept, and its problem is reported. */
function withAcceptance(text: string): string {
  const others = text.split('\n').filter((line) => !REVIEW.test(line));
  const accepted = [...others, '', '[review]', 'unseparated = "accept"', ''].join('\n');
  return parsePersonal({ path: 'config.toml', text: accepted }).ok ? accepted : text;
}

const REVIEW = /^\s*(?:\[\s*review\s*\]|(?:review\s*\.\s*)?unseparated\s*=|review\s*=)/;
