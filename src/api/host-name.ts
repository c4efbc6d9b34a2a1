import { hostname } from 'node:os';
import { HOST_NAME } from '../protocol/fleet.ts';
import { fieldsInJson } from '../protocol/shape/read-unknown.ts';
import { readFileIfPresent, writeFileAtomically } from './files.ts';
import { stateFiles } from './state-folder.ts';

/** The name of this state folder in a fleet: chosen at the join, else from the environment, else the machine's. */
export function findHostName(stateDir: string, env: Readonly<Record<string, string | undefined>>): string {
  const { name } = fieldsInJson(readFileIfPresent(stateFiles(stateDir).host));
  if (typeof name === 'string' && HOST_NAME.test(name)) return name;
  const { BATON_HOST: named } = env;
  if (named !== undefined && HOST_NAME.test(named)) return named;
  return nameOfMachine(hostname());
}

/** Stores the name at its first use, so that a renamed machine stays the same host. */
export function rememberHostName(stateDir: string, name: string): void {
  writeFileAtomically(stateFiles(stateDir).host, `${JSON.stringify({ name })}\n`);
}

function nameOfMachine(machine: string): string {
  const name = machine
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^[.-]+|[.-]+$/g, '');
  return name === '' ? 'host' : name;
}
