import { quote } from '../../protocol/shape/quote.ts';
import { didYouMean } from '../../protocol/shape/suggest.ts';
import { parseDeclaredWorkflow } from '../build/build-runbook.ts';
import type { Path, RunbookSubject } from './subject.ts';

/** What `roles` declares fits the built-in workflow, and every role that is named is in it. */
export function checkRoles(subject: RunbookSubject): void {
  const workflow = parseDeclaredWorkflow(subject.value);
  if (!workflow.ok) {
    for (const { code, path, message, hint } of workflow.problems) {
      subject.report(code, declaredPath(path), message.replace(`${path}: `, ''), hint);
    }
    return;
  }
  const { roles } = workflow.value;
  const known = roles.map(({ name }) => name);
  const check = (given: string, path: Path): void => {
    if (known.includes(given)) return;
    const meant = roles.find(({ agent }) => agent === given)?.name;
    const hint = meant === undefined ? didYouMean(given, known) : `The role is called \`${meant}\`.`;
    const others = `There are: ${known.join(', ')}; more can be declared in \`roles\`.`;
    subject.report('runbook/unknown-role', path, `there is no role ${quote(given)}`, hint ?? others);
  };
  for (const [name, { role }] of Object.entries(subject.value.agents ?? {})) {
    if (role !== undefined) check(role, ['agents', name, 'role']);
  }
  for (const [name, { roles: wanted = [] }] of Object.entries(subject.value.workers ?? {})) {
    for (const [index, role] of wanted.entries()) check(role, ['workers', name, 'roles', index]);
  }
}

/** A declaration calls the new roles `roles`, a runbook `roles.add`. */
function declaredPath(path: string): Path {
  const parts = [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([word, index]) =>
    index === undefined ? word : Number(index),
  );
  return ['roles', ...(parts[0] === 'roles' ? ['add', ...parts.slice(1)] : parts)];
}
