import { findClientOfSecret, INJECTABLE_SECRETS, secretClientOf } from '../../protocol/sandbox.ts';
import { didYouMean } from '../../protocol/shape/problem.ts';
import { inheritedFields } from '../build/build-agent.ts';
import { modeOf } from './access.ts';
import type { Path, RunbookSubject } from './subject.ts';

/** Requires that Baton can inject the secret, that no agent gets it in another way, and that there is a sandbox. */
export function checkSecrets(subject: RunbookSubject): void {
  const { secrets = {}, env_pass, agents = {}, ci } = subject.value;
  for (const name of Object.keys(secrets)) {
    const known = Object.keys(INJECTABLE_SECRETS);
    if (known.includes(name)) continue;
    const hint = didYouMean(name, known) ?? `There are: ${known.join(', ')}.`;
    subject.reportName('runbook/unknown-secret', ['secrets', name], `${name} cannot be injected`, hint);
  }
  const [secret] = Object.keys(secrets);
  if (secret !== undefined && modeOf(subject) === 'none') reportUnboxed(subject, ['sandbox'], 'the project', secret);
  checkPassed(subject, ['env_pass'], env_pass);
  for (const [name, agent] of Object.entries(agents)) {
    checkPassed(subject, ['agents', name, 'env_pass'], agent.env_pass);
    for (const variable of Object.keys(agent.env ?? {})) {
      if (!secretNamesOf(subject).includes(variable)) continue;
      reportPassed(subject, ['agents', name, 'env', variable], variable, 'Remove it: the secret is injected.');
    }
    checkUnboxed(subject, name);
  }
  for (const [index, check] of (ci?.required ?? []).entries())
    checkPassed(subject, ['ci', 'required', index, 'env_pass'], check.env_pass);
}

/** The names of the secrets, and of the variables that contain them. */
export function secretNamesOf({ value: { secrets = {} } }: RunbookSubject): readonly string[] {
  return Object.entries(secrets).flatMap(([name, { env }]) => [name, env]);
}

function checkPassed(subject: RunbookSubject, path: Path, patterns: readonly string[] = []): void {
  for (const [index, pattern] of patterns.entries()) {
    const found = secretNamesOf(subject).find((name) =>
      pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
    );
    if (found !== undefined) reportPassed(subject, [...path, index], found, 'Remove it: the secret is injected.');
  }
}

function reportPassed(subject: RunbookSubject, path: Path, name: string, hint: string): void {
  subject.report('runbook/secret-passed', path, `${name} is an injected secret, and this would reveal it`, hint);
}

function checkUnboxed(subject: RunbookSubject, name: string): void {
  const { secrets = {}, agents = {} } = subject.value;
  const run = agents[name]?.run ?? inheritedFields(name, {}).run;
  const secret = Object.keys(secrets).find((each) => findClientOfSecret(each) === secretClientOf(run ?? ''));
  // If the project has no sandbox either, the problem is reported once.
  if (secret === undefined || modeOf(subject, name) !== 'none' || modeOf(subject) === 'none') return;
  reportUnboxed(subject, ['agents', name, 'sandbox'], `agent ${name}`, secret);
}

/** Reports an agent without a sandbox, because it can read the memory of the process that adds the secret. */
function reportUnboxed(subject: RunbookSubject, path: Path, owner: string, secret: string): void {
  const message = `${owner} has no sandbox, so that a session could read the secret ${secret}`;
  subject.report('runbook/secret-passed', path, message, 'Use another sandbox, or take the secret out of `secrets`.');
}
