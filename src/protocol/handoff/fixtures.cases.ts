import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from '../shape/problem.ts';
import { parseHandoff, type HandoffMessage } from './index.ts';

/** The examples of the source document, and the edge that was added to it. */
export const FIXTURES = [
  'base',
  'issue-manager-to-prep-agent',
  'prep-agent-to-implementer-agent',
  'implementer-agent-to-reviewer-agent',
  'ci-gate-to-fixer-agent',
  'reviewer-agent-to-fixer-agent',
  'reviewer-agent-to-validator-agent',
  'fixer-agent-to-reviewer-agent',
  'validator-agent-to-closer-agent',
  'validator-agent-to-fixer-agent',
  'workflow-complete',
  'error',
] as const;

export type Fixture = (typeof FIXTURES)[number];

export function fixture(name: Fixture): string {
  return readFileSync(join(import.meta.dirname, `../../../test/fixtures/handoff/${name}.xml`), 'utf8');
}

/** The example with a changed text. Throws if the text does not change, since the test would then check nothing. */
export function changed(name: Fixture, from: string | RegExp, to: string): string {
  const text = fixture(name);
  const result = text.replace(from, () => to);
  if (result === text) throw new Error(`nothing to change in ${name}: ${String(from)}`);
  return result;
}

export function adding(name: Fixture, element: string): string {
  return changed(name, /<\/(?:handoff|workflow-complete)>\s*$/, `${element}\n$&`).replace('$&', closing(name));
}

function closing(name: Fixture): string {
  return name === 'workflow-complete' ? '</workflow-complete>' : '</handoff>';
}

export function without(name: Fixture, element: string): string {
  return changed(name, new RegExp(`\\n *<${element}[ >][^]*</${element}>`), '');
}

export function valueOf(text: string): HandoffMessage {
  const parsed = parseHandoff(text);
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join('; '));
  return parsed.value;
}

export function problemsOf(input: unknown): readonly Problem[] {
  const parsed = parseHandoff(input);
  if (parsed.ok) throw new Error('was accepted');
  return parsed.problems;
}

export function messagesOf(input: unknown): string[] {
  return problemsOf(input).map(({ message }) => message);
}
