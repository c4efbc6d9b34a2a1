import { isHandoffOn, parseHandoff } from '../../protocol/handoff/index.ts';

/** What a handoff to the fixer found wrong: place and text, so that the same finding is known when it comes back. */
export function findingsIn(xml: string): readonly string[] {
  const parsed = parseHandoff(xml);
  if (!parsed.ok || parsed.value.kind !== 'handoff') return [];
  const message = parsed.value;
  if (isHandoffOn(message, 'reviewer-agent', 'fixer-agent'))
    return message.blocking_issues.map((issue) => `${issue.location} ${issue.text}`.slice(0, KEPT_CHARACTERS));
  if (isHandoffOn(message, 'validator-agent', 'fixer-agent') || isHandoffOn(message, 'ci-gate', 'fixer-agent'))
    return message.failures.map((failure) => `${failure.type} ${failure.text}`.slice(0, KEPT_CHARACTERS));
  return [];
}

const KEPT_CHARACTERS = 500;
